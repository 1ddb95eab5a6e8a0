#include "keeper/thorchain/handlers/tcy_stake.h"

#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/tcy.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper&, const MsgTCYStake& m) {
  if (!(m.tx.chain == chains::kTHOR)) {
    return Error(sdk::kErrUnauthorized, "chain must be THORChain");
  }
  if (m.tx.coins.size() != 1) {
    return Error(sdk::kErrInvalidCoins, "coins must be length 1 (TCY)");
  }
  if (!m.tx.coins[0].IsTCY()) return Error(sdk::kErrInvalidCoins, "coin must be TCY");
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "signer must not be empty");
  if (m.tx.coins[0].amount.IsZero()) {
    return Error(sdk::kErrUnknownRequest, "coins amount must not be zero");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYStake& message) {
  const Keeper& k = *mgr.keeper;
  if (ValidateBasic(k, message)) return Error(kErrTcyStakeFailValidation);
  if (GetConfigInt64(k, ctx, ConstantName::kTCYStakingHalt) > 0) {
    return Error::New("tcy staking is halted");
  }
  const Uint& amount = message.tx.coins[0].amount;
  if (Error error = AddTcyStake(k, ctx, message.tx.from_address, amount); error) {
    return Error::Opaque("failed to update tcy staker", error);
  }
  ctx.events().Emit(sdk::Event("tcy_stake", {{"address", message.tx.from_address.ToString()},
                                             {"amount", amount.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
