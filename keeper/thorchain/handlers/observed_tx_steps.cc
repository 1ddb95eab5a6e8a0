#include "keeper/thorchain/handlers/observed_tx_steps.h"

#include <algorithm>
#include <utility>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/state/keysign_metrics.h"
#include "keeper/thorchain/state/last_heights.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_links.h"
#include "keeper/thorchain/state/slash_points.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error CheckVault(const Keeper& k, const Context& ctx, const ObservedTx& tx) {
  if (VaultExists(k, ctx, tx.observed_pub_key)) return {};
  return Error::New(
      sdk::StrCat("vault not found for observed tx in pubkey: ", tx.observed_pub_key.ToString()));
}

// Remembers gas for the reserve to pay back, except where the pool has to bear it.
void ReimburseGas(Managers& mgr, const Context& ctx, const ObservedTx& tx, const Gas& gas,
                  bool count_transaction) {
  // Providers pay the gas of their own exit.
  if (IsRagnarokInProgress(*mgr.keeper, ctx) &&
      !tx.tx.coins.GetCoin(tx.tx.chain.GetGasAsset()).IsEmpty()) {
    return;
  }
  AddGasAsset(mgr, tx.tx.coins.empty() ? assets::kEmpty : tx.tx.coins.front().asset, gas,
              count_transaction);
}

// Counts a vote and charges for it. False if it is a second one.
bool CountVote(const Keeper& k, const Context& ctx, ObservedTx& tx, const AccAddress& signer,
               bool slash_for_duplicate, const ObservationRules& rules, ObservedTxVoter* voter) {
  SetLastObserveHeight(k, ctx, tx.tx.chain, signer, tx.block_height);
  AddSlashPoints(k, ctx, signer, rules.observe_points);
  if (AddVote(k, tx, signer, voter)) return true;
  if (!slash_for_duplicate) SubSlashPoints(k, ctx, signer, rules.observe_points);
  return false;
}

// Records the transaction that has consensus, and settles everybody's points.
void SettleConsensus(const Keeper& k, const Context& ctx, const ActiveNodes& active,
                     const ObservationRules& rules, ObservedTxVoter* voter) {
  ObservedTx consensus = GetConsensusTx(*voter, active);
  voter->tx = std::move(consensus);
  SettleSlashPoints(k, ctx, active, GetConsensusSigners(k, *voter), rules);
}

// Forgives a vote for what has consensus since `height`, if it isn't too late.
void CountLateVote(const Keeper& k, const Context& ctx, ObservedTx& tx, const AccAddress& signer,
                   int64_t height, const ObservationRules& rules, ObservedTxVoter* voter) {
  if (ctx.height() > height + rules.delay_flexibility || IsFinal(voter->tx) != IsFinal(tx) ||
      !voter->tx.tx.EqualsEx(tx.tx) || !AddSigner(k, signer, &voter->tx.signers)) {
    return;
  }
  SubSlashPoints(k, ctx, signer, rules.observe_points + rules.lack_points);
}

// A vote for a transaction that may still be undone. True if it brings the first consensus.
bool ProcessUnfinalised(const Keeper& k, const Context& ctx, const ActiveNodes& active,
                        ObservedTx& tx, const AccAddress& signer, const ObservationRules& rules,
                        ObservedTxVoter* voter) {
  if (!HasConsensus(*voter, active) || IsFinal(tx) || voter->finalised_height != 0) return false;
  if (voter->height != 0) {
    CountLateVote(k, ctx, tx, signer, voter->height, rules, voter);
    return false;
  }
  voter->height = ctx.height();
  if (voter->unfinalized_height == 0) voter->unfinalized_height = ctx.height();
  SettleConsensus(k, ctx, active, rules, voter);
  return true;
}

// The chain was reorganised: two thirds now see the outbound of the consensus with other gas. Puts
// the difference right.
void CorrectGas(Managers& mgr, const Context& ctx, const ActiveNodes& active, ObservedTx& tx,
                ObservedTxVoter* voter) {
  if (GasEqualsAndSort(voter->tx.tx.gas, tx.tx.gas) || !voter->tx.tx.EqualsExIgnoreGas(tx.tx) ||
      !HasSuperMajorityOfObservers(*voter, tx, active)) {
    return;
  }
  const Gas old_gas = std::exchange(voter->tx.tx.gas, tx.tx.gas);
  const Keeper& k = *mgr.keeper;
  Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!vault.ok()) return;
  Gas additional;
  for (const Coin& coin : tx.tx.gas) {
    const Uint old_amount = old_gas.GetCoin(coin.asset).amount;
    if (coin.amount > old_amount) {
      const Coin delta(coin.asset, coin.amount - old_amount);
      SubFunds(&*vault, {delta});
      additional = additional.Add({delta});
    } else if (old_amount > coin.amount) {
      AddFunds(&*vault, {Coin(coin.asset, old_amount - coin.amount)});
    }
  }
  if (SetVault(k, ctx, *vault) || additional.IsEmpty() ||
      vault->status == VaultStatus::InactiveVault) {
    return;
  }
  ReimburseGas(mgr, ctx, tx, additional, false);
}

}  // namespace

void AppendObservers(Managers& mgr, const Chain& chain, const std::vector<AccAddress>& addresses) {
  auto found = std::find_if(
      mgr.observers.begin(), mgr.observers.end(),
      [&](const Managers::ChainObservers& known) { return known.chain.raw() == chain.raw(); });
  if (found == mgr.observers.end()) {
    mgr.observers.push_back({chain, {}});
    found = mgr.observers.end() - 1;
  }
  std::vector<AccAddress>& known = found->addresses;
  for (const AccAddress& address : addresses) {
    if (std::find(known.begin(), known.end(), address) == known.end()) known.push_back(address);
  }
}

Result<ObservedTxVoter> GetTxInVoter(const Keeper& k, const Context& ctx, const ObservedTx& tx) {
  KEEPER_RETURN_IF_ERROR(CheckVault(k, ctx, tx));
  return GetObservedTxInVoter(k, ctx, tx.tx.id);
}

Result<ObservedTxVoter> GetTxOutVoter(const Keeper& k, const Context& ctx, const ObservedTx& tx,
                                      const std::vector<AccAddress>& observers) {
  KEEPER_RETURN_IF_ERROR(CheckVault(k, ctx, tx));
  if (tx.keysign_ms > 0) {
    Result<TssKeysignMetric> metric = GetKeysignMetric(k, ctx, tx.tx.id);
    if (metric.ok()) {
      for (const AccAddress& observer : observers) {
        SetNodeTime(&metric->node_tss_times, observer, tx.keysign_ms);
      }
      SetKeysignMetric(k, ctx, *metric);
    }
  }
  return GetObservedTxOutVoter(k, ctx, tx.tx.id);
}

bool ProcessTxInVote(Managers& mgr, const Context& ctx, const ActiveNodes& active, ObservedTx& tx,
                     const AccAddress& signer, bool slash_for_duplicate, ObservedTxVoter* voter) {
  const Keeper& k = *mgr.keeper;
  const ObservationRules rules = ReadObservationRules(k, ctx);
  if (!CountVote(k, ctx, tx, signer, slash_for_duplicate, rules, voter)) return false;
  bool consensus = false;
  if (HasFinalised(*voter, active)) {
    if (voter->finalised_height == 0) {
      consensus = true;
      // That of the final observation, also if there was consensus before.
      voter->height = ctx.height();
      if (voter->unfinalized_height == 0) voter->unfinalized_height = ctx.height();
      voter->finalised_height = ctx.height();
      SettleConsensus(k, ctx, active, rules, voter);
    } else {
      CountLateVote(k, ctx, tx, signer, voter->finalised_height, rules, voter);
    }
  }
  if (!consensus) consensus = ProcessUnfinalised(k, ctx, active, tx, signer, rules, voter);
  SetObservedTxInVoter(k, ctx, *voter);
  return consensus;
}

bool ProcessTxOutVote(Managers& mgr, const Context& ctx, const ActiveNodes& active, ObservedTx& tx,
                      const AccAddress& signer, bool slash_for_duplicate, ObservedTxVoter* voter) {
  const Keeper& k = *mgr.keeper;
  const ObservationRules rules = ReadObservationRules(k, ctx);
  if (!CountVote(k, ctx, tx, signer, slash_for_duplicate, rules, voter)) return false;
  const MemoResult memo = ParseMemoWithNames(k, ctx, tx.tx.memo);
  if (memo.ok()) {
    if (const TxID in_hash = memo.memo.GetTxID(); !in_hash.IsEmpty()) {
      SetObservedLink(k, ctx, in_hash, tx.tx.id);
    }
  }
  bool consensus = false;
  if (HasFinalised(*voter, active)) {
    if (voter->finalised_height == 0) {
      // Outbounds are acted on once, at the first consensus.
      if (voter->height == 0) {
        consensus = true;
        voter->height = ctx.height();
        if (voter->unfinalized_height == 0) voter->unfinalized_height = ctx.height();
      }
      voter->finalised_height = ctx.height();
      SettleConsensus(k, ctx, active, rules, voter);
    } else {
      CountLateVote(k, ctx, tx, signer, voter->finalised_height, rules, voter);
    }
    if (voter->finalised_height > 0 && IsFinal(voter->tx) == IsFinal(tx)) {
      CorrectGas(mgr, ctx, active, tx, voter);
    }
  }
  if (!consensus && HasConsensus(*voter, active) && !IsFinal(tx) && voter->finalised_height == 0) {
    consensus = ProcessUnfinalised(k, ctx, active, tx, signer, rules, voter);
    if (voter->height > 0) CorrectGas(mgr, ctx, active, tx, voter);
  }
  SetObservedTxOutVoter(k, ctx, *voter);
  return consensus;
}

int64_t LatestTxOutHeight(const Keeper& k, const Context& ctx) {
  const int64_t blocks = GetConfigInt64(k, ctx, ConstantName::kRescheduleCoalesceBlocks);
  const int64_t over = blocks > 1 ? ctx.height() % blocks : 0;
  return over == 0 ? ctx.height() : ctx.height() + blocks - over;
}

Error AddGasFees(Managers& mgr, const Context& ctx, const ObservedTx& tx) {
  const Keeper& k = *mgr.keeper;
  if (tx.tx.gas.IsEmpty()) return {};
  // Transactions that cost nothing are reported with one unit.
  if (tx.tx.chain == chains::kTRON && tx.tx.gas.GetCoin(assets::kTRX).amount == Uint(1)) return {};
  if (!VaultExists(k, ctx, tx.observed_pub_key)) return {};
  KEEPER_ASSIGN_OR_RETURN(Vault vault, GetVault(k, ctx, tx.observed_pub_key));
  SubFunds(&vault, tx.tx.gas);
  KEEPER_RETURN_IF_ERROR(SetVault(k, ctx, vault));
  // What an inactive vault holds is in no pool.
  if (vault.status == VaultStatus::InactiveVault) return {};
  ReimburseGas(mgr, ctx, tx, tx.tx.gas, true);
  return {};
}

bool IsFakeGas(const ObservedTx& tx) {
  if (tx.tx.coins.size() != 1) return false;
  const Coin& coin = tx.tx.coins.front();
  return coin.asset == coin.asset.chain.GetGasAsset() && coin.amount == Uint(1) &&
         tx.tx.memo == "OUT:" + tx.tx.id.ToString();
}

bool IsCancelOrApproval(const ObservedTx& tx) {
  if (tx.tx.coins.size() != 1) return false;
  const Coin& coin = tx.tx.coins.front();
  const Chain& chain = coin.asset.chain;
  return chain.IsEVM() && coin.asset == chain.GetGasAsset() &&
         coin.amount == chain.DustThreshold() && tx.tx.memo.empty();
}

}  // namespace blockreplay::keeper::thorchain
