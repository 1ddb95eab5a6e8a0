#pragma once

// How well the bonds of a vault's members cover what it holds.

#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {

struct VaultSecurity {
  Vault vault;
  // Of active members.
  Uint total_bond;
  // In RUNE, with what the unsigned outbounds of the last `signing_period` blocks will change.
  Uint total_value;
};

// The least secure first: by bond less value. Reads nodes, pools and scheduled outbounds.
std::vector<VaultSecurity> GetSortedVaultSecurity(const Keeper& k, const Context& ctx,
                                                  Vaults vaults, int64_t signing_period);
// The vaults in that order. Reads nothing for a single one.
Vaults SortBySecurity(const Keeper& k, const Context& ctx, Vaults vaults, int64_t signing_period);

}  // namespace blockreplay::keeper::thorchain
