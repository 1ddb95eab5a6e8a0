#pragma once

// Who may send a node's messages, and what those cost: nodes pay out of their bond.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// An error without a code unless the signer is an active validator.
Error CheckActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer);
// True for the asgard module too, which signs what the node does itself.
bool IsActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer);
// Unauthorized unless IsActiveValidator.
Error RequireActiveValidator(const Keeper& k, const Context& ctx, const AccAddress& signer);
// Unauthorized unless the account is a validator, active or not.
Error RequireValidator(const Keeper& k, const Context& ctx, const AccAddress& signer);

Error DeductNativeTxFeeFromBond(const Keeper& k, const Context& ctx, const AccAddress& node);

void EmitBondEvent(const Keeper& k, const Context& ctx, const Uint& amount, BondType type,
                   const Tx& tx, const AccAddress& node, const AccAddress& bond_address);

}  // namespace blockreplay::keeper::thorchain
