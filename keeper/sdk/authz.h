#pragma once

#include "keeper/sdk/context.h"

namespace blockreplay::keeper::sdk {

// x/authz's begin block (cosmos-sdk v0.53): deletes the grants that expire at or before the block's
// time, and their entries in the queue.
void DeleteExpiredGrants(const Context& context, StoreId store);

}  // namespace blockreplay::keeper::sdk
