#pragma once

// Bonds of nodes and of those who provide them.

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// A node that has no providers yet gets its operator as one, who owns all of its bond.
Error AddOperatorIfNoProviders(const Keeper& k, const Context& ctx, const NodeAccount& node,
                               BondProviders* providers);
// Pays a provider back, and stores both records. At most what it has; zero means all. Does nothing
// for a node that is active or about to be.
Error RefundBond(const Keeper& k, const Context& ctx, const Tx& tx, const AccAddress& provider,
                 const Uint& amount, NodeAccount* node);
// One of the retiring vaults still has the node as a member.
Result<bool> IsMemberOfRetiringVault(const Keeper& k, const Context& ctx, const NodeAccount& node);
// An error while the node's bond is locked up.
Error CheckBondLockup(const Keeper& k, const Context& ctx, const NodeAccount& node);

}  // namespace blockreplay::keeper::thorchain
