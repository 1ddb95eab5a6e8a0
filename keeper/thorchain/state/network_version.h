#pragma once

// version/: the version that the network has agreed on, as text.

#include <optional>

#include "keeper/thorchain/common/semver.h"
#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {

std::optional<SemVer> GetNetworkVersion(const Keeper& k, const Context& ctx);
void SetNetworkVersion(const Keeper& k, const Context& ctx, const SemVer& version);

// ---- Without the store ----

// The lowest version that a validator of the list runs; the software's own if the list is empty.
SemVer LowestVersion(const Keeper& k, const NodeAccounts& active);

}  // namespace blockreplay::keeper::thorchain
