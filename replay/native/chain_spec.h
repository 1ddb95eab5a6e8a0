#pragma once

#include "keeper/chain.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {

// What a recording's manifest says about the rules that it was made under. Optional fields that are
// absent, or no text, are empty.
keeper::ChainSpec ChainSpecOf(const Manifest& manifest);

}  // namespace blockreplay::replay
