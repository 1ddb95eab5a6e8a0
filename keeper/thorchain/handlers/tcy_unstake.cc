#include "keeper/thorchain/handlers/tcy_unstake.h"

#include <string>

#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/tcy.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper&, const MsgTCYUnstake& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "signer must not be empty");
  if (m.basis_points.IsZero() || m.basis_points > Uint(kMaxBasisPoints)) {
    return Error(sdk::kErrUnknownRequest, "invalid basis points");
  }
  if (!m.tx.from_address.IsChain(chains::kTHOR)) {
    return Error(sdk::kErrInvalidAddress, "address should be rune address");
  }
  if (!m.tx.coins.IsEmpty()) {
    return Error(sdk::kErrInvalidCoins, "coins must be empty (zero amount)");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYUnstake& message) {
  const Keeper& k = *mgr.keeper;
  if (ValidateBasic(k, message)) return Error(kErrTcyUnstakeFailValidation);
  if (GetConfigInt64(k, ctx, ConstantName::kTCYUnstakingHalt) > 0) {
    return Error::New("tcy unstaking is halt");
  }
  const Address& from = message.tx.from_address;
  KEEPER_ASSIGN_OR_RETURN(TCYStaker staker, GetTcyStaker(k, ctx, from));
  const Uint amount = GetSafeShare(message.basis_points, kMaxBasisPoints, staker.amount);
  if (amount.IsZero()) {
    return Error::New(
        sdk::StrCat("staker: ", staker.address.ToString(), " doesn't have enough tcy"));
  }
  const auto account = staker.address.ToAccAddress(k.network());
  if (!account.ok()) return Error::New(std::string(account.status().message()));
  if (Error error =
          SendFromModuleToAccount(k, ctx, kTcyStakeModule, *account, {Coin(assets::kTCY, amount)});
      error) {
    return Error::Opaque(
        sdk::StrCat("failed to send from staking module, address: ", from.ToString(), ", err"),
        error);
  }
  staker.address = from;
  staker.amount = SafeSub(staker.amount, amount);
  if (staker.amount.IsZero()) {
    DeleteTcyStaker(k, ctx, from);
  } else {
    SetTcyStaker(k, ctx, staker);
  }
  ctx.events().Emit(
      sdk::Event("tcy_unstake", {{"address", from.ToString()}, {"amount", amount.ToString()}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
