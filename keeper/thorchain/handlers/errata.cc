#include "keeper/thorchain/handlers/errata.h"

#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/handlers/observed_tx_voter.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/state/liquidity_providers.h"
#include "keeper/thorchain/state/observation_voters.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// As in the node, only the transaction of the consensus changes its status.
void SetReverted(ObservedTxVoter* voter) {
  if (!IsEmpty(voter->tx)) voter->tx.status = Status::reverted;
  voter->reverted = true;
}

// An outbound didn't happen: the vault still has its coins.
Error RevertOutbound(const Keeper& k, const Context& ctx, const ErrataTx& errata) {
  Result<ObservedTxVoter> voter = GetObservedTxOutVoter(k, ctx, errata.id);
  if (!voter.ok()) return Error::Opaque("fail to get observed tx out voter", voter.error());
  if (voter->txs.empty()) {
    return Error::New(sdk::StrCat("cannot find tx: ", errata.id.ToString()));
  }
  if (IsEmpty(voter->tx)) return Error::New("tx out voter is not finalised");
  const Tx& tx = voter->tx.tx;
  if (!(tx.chain == errata.chain) || tx.coins.IsEmpty()) return {};
  const MemoResult memo = ParseMemoWithNames(k, ctx, tx.memo);
  if (!memo.ok()) {
    return Error::New(
        sdk::StrCat("fail to parse memo(", tx.memo, "): ", std::string(memo.status.message())));
  }
  if (!memo.memo.IsOutbound() && !memo.memo.IsInternal()) {
    return Error::New(sdk::StrCat(tx.memo, " is not outbound or internal tx"));
  }
  if (!voter->tx.observed_pub_key.IsEmpty()) {
    KEEPER_ASSIGN_OR_RETURN(Vault vault, GetVault(k, ctx, voter->tx.observed_pub_key));
    AddFunds(&vault, tx.coins);
    KEEPER_RETURN_IF_ERROR(SetVault(k, ctx, vault));
  }
  EmitSecurityEvent(ctx, tx, "outbound errata");
  SetReverted(&*voter);
  SetObservedTxOutVoter(k, ctx, *voter);
  return {};
}

// Takes from the pool what the transaction had brought.
Error RevertPool(const Keeper& k, const Context& ctx, const ErrataTx& errata, const Tx& tx,
                 bool is_add) {
  Coin rune;
  Coin asset;
  for (const Coin& coin : tx.coins) (coin.IsRune() ? rune : asset) = coin;
  KEEPER_ASSIGN_OR_RETURN(Pool pool, GetPool(k, ctx, asset.asset));
  if (rune.amount > pool.balance_rune) rune.amount = pool.balance_rune;
  if (asset.amount > pool.balance_asset) asset.amount = pool.balance_asset;
  pool.balance_rune = SafeSub(pool.balance_rune, rune.amount);
  pool.balance_asset = SafeSub(pool.balance_asset, asset.amount);
  if (is_add) {
    KEEPER_ASSIGN_OR_RETURN(LiquidityProvider provider,
                            GetLiquidityProvider(k, ctx, pool.asset, tx.from_address));
    pool.lp_units = SafeSub(pool.lp_units, provider.units);
    provider.units = Uint();
    provider.last_add_height = ctx.height();
    SetLiquidityProvider(k, ctx, provider);
  }
  KEEPER_RETURN_IF_ERROR(SetPool(k, ctx, pool));
  ctx.events().Emit(sdk::Event("errata", {{"in_tx_id", errata.id.ToString()},
                                          {"asset", pool.asset.ToString()},
                                          {"rune_amt", rune.amount.ToString()},
                                          {"rune_add", "false"},
                                          {"asset_amt", asset.amount.ToString()},
                                          {"asset_add", "false"}}));
  return {};
}

Error Revert(const Keeper& k, const Context& ctx, const ErrataTx& errata) {
  KEEPER_ASSIGN_OR_RETURN(ObservedTxVoter voter, GetObservedTxInVoter(k, ctx, errata.id));
  if (voter.txs.empty()) return RevertOutbound(k, ctx, errata);
  if (IsEmpty(voter.tx)) return {};
  const Tx& tx = voter.tx.tx;
  if (!(tx.chain == errata.chain)) return {};
  SetReverted(&voter);
  SetObservedTxInVoter(k, ctx, voter);
  if (voter.updated_vault && !voter.tx.observed_pub_key.IsEmpty()) {
    KEEPER_ASSIGN_OR_RETURN(Vault vault, GetVault(k, ctx, voter.tx.observed_pub_key));
    SubFunds(&vault, tx.coins);
    KEEPER_RETURN_IF_ERROR(SetVault(k, ctx, vault));
  }
  if (!IsFinal(voter.tx)) return {};
  const Memo memo = ParseMemoWithNames(k, ctx, tx.memo).memo;
  // A migration has an outbound of the same hash.
  if (memo.IsInternal()) return RevertOutbound(k, ctx, errata);
  if (memo.type != TxType::kSwap && memo.type != TxType::kAdd) return {};
  return RevertPool(k, ctx, errata, tx, memo.type == TxType::kAdd);
}

Error ProcessAttestation(const Keeper& k, const Context& ctx, const ErrataTx& errata,
                         const AccAddress& signer, const ActiveNodes& active,
                         bool slash_for_duplicate, ErrataTxVoter* voter) {
  const ObservationRules rules = ReadObservationRules(k, ctx);
  if (CastVote(k, ctx, signer, slash_for_duplicate, voter->block_height, HasSuperMajority, active,
               rules, &voter->signers) != Vote::kDecides) {
    return {};
  }
  voter->block_height = ctx.height();
  SettleVote(k, ctx, signer, active, rules, voter->signers);
  return Revert(k, ctx, errata);
}

Error CheckErrata(const TxID& tx_id, const Chain& chain) {
  if (tx_id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "Tx ID cannot be empty");
  if (chain.IsEmpty()) return Error(sdk::kErrUnknownRequest, "chain cannot be empty");
  return {};
}

class ErrataTxQuorumHandler : public Handler<MsgErrataTxQuorum> {
 public:
  explicit ErrataTxQuorumHandler(Managers* managers)
      : Handler("/types.MsgErrataTxQuorum", managers) {}

 protected:
  Error ValidateBasic(const MsgErrataTxQuorum& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (!message.quo_errata) return Error(sdk::kErrUnknownRequest, "QuoErrata cannot be nil");
    const std::optional<ErrataTx>& errata = message.quo_errata->errata_tx;
    if (!errata) return Error(sdk::kErrUnknownRequest, "ErrataTx cannot be nil");
    return CheckErrata(errata->id, errata->chain);
  }
  std::vector<AccAddress> GetSigners(const MsgErrataTxQuorum& message) const override {
    return SignersOf(k(), message.quo_errata->attestations);
  }
  Error Ante(const Context&, const MsgErrataTxQuorum&) const override { return {}; }
  Error Validate(const Context&, const MsgErrataTxQuorum& message) const override {
    return ValidateBasic(message);
  }
  Error Run(const Context& ctx, const MsgErrataTxQuorum& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const ErrataTx& errata = *message.quo_errata->errata_tx;
    KEEPER_ASSIGN_OR_RETURN(ErrataTxVoter voter,
                            GetErrataTxVoter(k(), ctx, errata.id, errata.chain));
    Error error;
    for (const AccAddress& signer :
         VerifiedSigners(k(), active, message.quo_errata->attestations, Encode(errata))) {
      error = ProcessAttestation(k(), ctx, errata, signer, active, false, &voter);
      if (error) break;
    }
    // Also after an error: the gas stays.
    SetErrataTxVoter(k(), ctx, voter);
    return error ? Error::Opaque("fail to process errata tx attestation", error) : Error();
  }
};

class ErrataTxHandler : public ActiveValidatorHandler<MsgErrataTx> {
 public:
  explicit ErrataTxHandler(Managers* managers)
      : ActiveValidatorHandler("/types.MsgErrataTx", managers) {}

 protected:
  Error ValidateBasic(const MsgErrataTx& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    return CheckErrata(message.tx_id, message.chain);
  }
  Error Run(const Context& ctx, const MsgErrataTx& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    KEEPER_ASSIGN_OR_RETURN(ErrataTxVoter voter,
                            GetErrataTxVoter(k(), ctx, message.tx_id, message.chain));
    ErrataTx errata;
    errata.id = message.tx_id;
    errata.chain = message.chain;
    const Error error = ProcessAttestation(k(), ctx, errata, message.signer, active, true, &voter);
    SetErrataTxVoter(k(), ctx, voter);
    return error;
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewErrataTxHandler(Managers* managers) {
  return std::make_unique<ErrataTxHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewErrataTxQuorumHandler(Managers* managers) {
  return std::make_unique<ErrataTxQuorumHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
