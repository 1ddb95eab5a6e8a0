#pragma once

// Who may send a node's messages, and what those cost: nodes pay out of their bond.

#include <vector>

#include "keeper/thorchain/handlers/handler.h"

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

// Base of the handlers of messages that one active validator signs, in the field `signer`.
template <typename M>
class ActiveValidatorHandler : public Handler<M> {
 public:
  using Handler<M>::Handler;

 protected:
  using Handler<M>::k;

  std::vector<AccAddress> GetSigners(const M& message) const override { return {message.signer}; }
  Error Ante(const Context& ctx, const M& message) const override {
    return RequireActiveValidator(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const M& message) const override {
    KEEPER_RETURN_IF_ERROR(this->ValidateBasic(message));
    return RequireActiveValidator(k(), ctx, message.signer);
  }
};

}  // namespace blockreplay::keeper::thorchain
