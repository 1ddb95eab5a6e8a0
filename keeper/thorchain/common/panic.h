#pragma once

#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::thorchain {

using sdk::Panic;

}  // namespace blockreplay::keeper::thorchain
