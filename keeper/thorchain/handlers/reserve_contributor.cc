#include "keeper/thorchain/handlers/reserve_contributor.h"

#include <string>

#include "keeper/thorchain/managers/events.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper&, const MsgReserveContributor& m) {
  if (const absl::Status status = m.tx.Valid(); !status.ok()) {
    return Error(sdk::kErrUnknownRequest, std::string(status.message()));
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.contributor.amount.IsZero()) {
    return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  }
  if (m.contributor.address.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "address cannot be empty");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReserveContributor& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(*mgr.keeper, message));
  EmitReserveEvent(ctx, message.contributor.address, message.contributor.amount, message.tx);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
