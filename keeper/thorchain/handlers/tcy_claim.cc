#include "keeper/thorchain/handlers/tcy_claim.h"

#include <vector>

#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/tcy.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Validate(const Keeper& k, const Context& ctx, const MsgTCYClaim& message) {
  if (ValidateBasic(k, message)) return Error(kErrTcyClaimFailValidation);
  if (GetConfigInt64(k, ctx, ConstantName::kTCYClaimingHalt) > 0) {
    return Error::New("tcy claiming is halted");
  }
  if (!message.rune_address.IsChain(chains::kTHOR)) {
    return Error(sdk::kErrUnknownRequest, "invalid rune address");
  }
  if (IsTcyContract(k, message.rune_address)) {
    return Error::New(sdk::StrCat("cannot claim to TCY smart contract address: ",
                                  message.rune_address.ToString()));
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgTCYClaim& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.rune_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "rune addresses cannot be empty");
  }
  if (m.l1_address.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, "l1 addresses cannot be empty");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgTCYClaim& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  if (GetBalanceOfModule(k, ctx, kTcyClaimingModule, assets::kTCY.Native()).IsZero()) {
    return Error::New("claiming module doesn't have tcy funds");
  }
  KEEPER_ASSIGN_OR_RETURN(const std::vector<TCYClaimer> claims,
                          ListTcyClaims(k, ctx, message.l1_address));
  for (const TCYClaimer& claim : claims) {
    if (claim.amount.IsZero()) continue;
    const Uint balance = GetBalanceOfModule(k, ctx, kTcyClaimingModule, assets::kTCY.Native());
    if (balance < claim.amount) {
      return Error::New(sdk::StrCat("insufficient module balance for claim: balance ",
                                    balance.ToString(), ", claim_amount ",
                                    claim.amount.ToString()));
    }
    if (Error error = SendFromModuleToModule(k, ctx, kTcyClaimingModule, kTcyStakeModule,
                                             {Coin(assets::kTCY, claim.amount)});
        error) {
      return Error::Opaque("failed to send from claiming to staking module", error);
    }
    if (Error error = AddTcyStake(k, ctx, message.rune_address, claim.amount); error) {
      return Error::Opaque("failed to update tcy staker", error);
    }
    DeleteTcyClaim(k, ctx, claim);
    ctx.events().Emit(sdk::Event("tcy_claim", {{"rune_address", message.rune_address.ToString()},
                                               {"l1_address", message.l1_address.ToString()},
                                               {"asset", claim.asset.ToString()},
                                               {"tcy_amount", claim.amount.ToString()}}));
  }
  return {};
}

}  // namespace blockreplay::keeper::thorchain
