// Outbound transactions: they can't be taken back, so the vault pays for them whatever else fails.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/handlers/observed_tx_steps.h"
#include "keeper/thorchain/managers/slasher.h"
#include "keeper/thorchain/state/keysign_metrics.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Distinguishes scheduled items, and orders those of a height as signers do.
std::string ItemHash(const TxOutItem& item) {
  return UpperHex(Sha256(sdk::StrCat(item.chain.ToString(), "|", item.to_address.ToString(), "|",
                                     item.vault_pub_key.ToString(), "|", item.coin.ToString(), "|",
                                     item.memo, "|", item.in_hash.ToString())));
}

bool IsScheduledAs(const TxOutItem& item, const ObservedTx& tx) {
  if (!item.out_hash.IsEmpty() || !(item.chain == tx.tx.chain) ||
      !(item.to_address == tx.tx.to_address) ||
      (item.vault_pub_key != tx.observed_pub_key &&
       item.vault_pub_key_eddsa != tx.observed_pub_key) ||
      !(item.coin.asset == tx.tx.coins.front().asset)) {
    return false;
  }
  if (tx.tx.coins.EqualsEx({item.coin})) return true;
  const Asset& gas_asset = item.chain.GetGasAsset();
  return item.coin.asset == gas_asset &&
         item.coin.amount + item.max_gas.GetCoin(gas_asset).amount ==
             tx.tx.coins.GetCoin(gas_asset).amount + tx.tx.gas.GetCoin(gas_asset).amount;
}

// The memo of the scheduled item that an outbound without a memo stands for: the first one that
// signers take. Empty if there is none.
std::string FindOriginalMemo(const Keeper& k, const Context& ctx, const ObservedTx& tx) {
  if (tx.tx.coins.empty()) return "";
  const int64_t earliest = std::max<int64_t>(
      ctx.height() - GetConfigInt64(k, ctx, ConstantName::kSigningTransactionPeriod), 1);
  const int64_t latest = LatestTxOutHeight(k, ctx);
  // Heights are all read; the first that has any decides.
  std::optional<TxOutItem> first;
  std::string first_hash;
  int64_t first_height = 0;
  for (int64_t height = earliest; height <= latest; ++height) {
    Result<TxOut> tx_out = GetTxOut(k, ctx, height);
    if (!tx_out.ok()) continue;
    for (TxOutItem& item : tx_out->tx_array) {
      if (!IsScheduledAs(item, tx)) continue;
      std::string hash = ItemHash(item);
      if (first && (first_height < height || first_hash <= hash)) continue;
      first = std::move(item);
      first_hash = std::move(hash);
      first_height = height;
    }
  }
  return first ? GetMemo(*first) : "";
}

// The sum of what left the vault.
Coins SpentCoins(const ObservedTx& tx) { return tx.tx.coins.Add(tx.tx.gas); }

// Does what the memo of an outbound asks for. True if the vault was slashed.
bool Execute(Managers& mgr, const Context& ctx, const AccAddress& signer, const ObservedTx& tx,
             const ObservedTx& consensus_tx) {
  const Keeper& k = *mgr.keeper;
  if (tx.tx.chain.IsEmpty()) return false;
  const Result<InternalMessage> message = ProcessOneTxIn(k, ctx, consensus_tx, signer);
  if (!message.ok()) return false;
  AppendObservers(mgr, tx.tx.chain, ToAddresses(k, consensus_tx.signers));
  if (tx.keysign_ms > 0) {
    const Result<TssKeysignMetric> metric = GetKeysignMetric(k, ctx, tx.tx.id);
    if (metric.ok()) {
      ctx.events().Emit(
          sdk::Event("tss_keysign",
                     {{"txid", metric->tx_id.ToString()},
                      {"median_duration_ms", std::to_string(MedianTime(metric->node_tss_times))}}));
    }
  }
  const Result<InternalResult> result = HandleInternalMessage(mgr, ctx, *message);
  return result.ok() && result->vault_slashed;
}

// Takes what left the vault from its books.
void DeductFromVault(const Keeper& k, const Context& ctx, const ObservedTx& tx, const Memo& memo,
                     bool slashed) {
  Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!vault.ok()) return;
  // Otherwise the gas went another way.
  if (slashed) SubFunds(&*vault, tx.tx.gas);
  if (!(tx.tx.from_address == tx.tx.to_address)) {
    if (!IsFakeGas(tx)) SubFunds(&*vault, tx.tx.coins);
    ++vault->outbound_tx_count;
  }
  if (IsAsgard(*vault) && memo.type == TxType::kMigrate) {
    RemovePendingTxHeight(&*vault, memo.GetBlockHeight());
  }
  if (!HasFunds(*vault) && vault->status == VaultStatus::RetiringVault) {
    UpdateStatus(&*vault, VaultStatus::InactiveVault, ctx.height());
  }
  // It can sign on the chain again.
  for (const Coin& coin : tx.tx.coins) {
    const std::string chain = coin.asset.GetChain().ToString();
    const auto frozen =
        std::find_if(vault->frozen.begin(), vault->frozen.end(),
                     [&](const std::string& name) { return EqualFold(chain, name); });
    if (frozen != vault->frozen.end()) vault->frozen.erase(frozen);
  }
  (void)SetVault(k, ctx, *vault);
}

}  // namespace

Error HandleTxOut(Managers& mgr, const Context& ctx, const ActiveNodes& active,
                  const AccAddress& signer, const ObservedTx& tx, ObservedTxVoter voter,
                  const std::vector<AccAddress>& observers, bool consensus) {
  const Keeper& k = *mgr.keeper;
  if (!consensus) {
    if (voter.height == ctx.height() || voter.finalised_height == ctx.height()) {
      AppendObservers(mgr, tx.tx.chain, observers);
    }
    return {};
  }
  if (IsCancelOrApproval(tx)) {
    (void)AddGasFees(mgr, ctx, tx);
    return {};
  }
  const Memo memo = ParseMemoWithNames(k, ctx, tx.tx.memo).memo;
  if (memo.IsInbound()) {
    // Nobody asked the vault for this one.
    Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
    if (!vault.ok()) return {};
    const Coins spent = SpentCoins(tx);
    (void)SlashVault(mgr, ctx, tx.observed_pub_key, spent);
    SubFunds(&*vault, spent);
    (void)SetVault(k, ctx, *vault);
    return {};
  }

  bool slashed = false;
  ObservedTx& agreed = GetConsensusTx(voter, active);
  if (!IsEmpty(agreed)) {
    // The recorded transaction takes the memo; one among the votes doesn't.
    ObservedTx copy;
    ObservedTx* consensus_tx = &agreed;
    if (&agreed != &voter.tx) {
      copy = agreed;
      consensus_tx = &copy;
    }
    consensus_tx->tx.memo = tx.tx.memo;
    if (consensus_tx->tx.memo.empty()) {
      if (std::string original = FindOriginalMemo(k, ctx, tx); !original.empty()) {
        consensus_tx->tx.memo = std::move(original);
      }
    }
    slashed = Execute(mgr, ctx, signer, tx, *consensus_tx);
  }
  if (!slashed) (void)AddGasFees(mgr, ctx, tx);
  DeductFromVault(k, ctx, tx, memo, slashed);
  SetDone(&voter);
  SetObservedTxOutVoter(k, ctx, voter);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
