#include "keeper/thorchain/managers/refund.h"

#include <utility>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The sender, or for external coins of a swap the address that its memo names.
Address RefundAddress(const Keeper& k, const Context& ctx, const Tx& tx, const Coin& coin) {
  const MemoResult parsed = ParseMemoWithNames(k, ctx, tx.memo);
  const Chain& chain = coin.asset.GetChain();
  if (parsed.ok() && parsed.memo.type == TxType::kSwap && !chain.IsTHORChain()) {
    Address address = parsed.memo.GetRefundAddress();
    if (!address.IsEmpty() && address.IsChain(chain)) return address;
  }
  return tx.from_address;
}

// The vault that got the coins; empty if there is none, or if it is gone and can't pay.
Result<Vault> RefundingVault(const Keeper& k, const Context& ctx, const PubKey& key,
                             const Coin& coin) {
  if (key.IsEmpty()) return Vault();
  Result<Vault> vault = GetVault(k, ctx, key);
  if (!vault.ok()) return Error::Opaque("fail to get vault", vault.error());
  if (!IsActive(*vault) && !IsRetiring(*vault) &&
      GetVaultCoin(*vault, coin.asset).amount < coin.amount) {
    return Vault();
  }
  return vault;
}

}  // namespace

Error RefundTx(Managers& mgr, const Context& ctx, const ObservedTx& tx, uint32_t code,
               std::string reason, std::string_view source_module) {
  const Keeper& k = *mgr.keeper;
  bool refunded = false;
  for (const Coin& coin : tx.tx.coins) {
    // Those are taken by the handlers, which undid it when they failed.
    if (coin.asset.IsTrade() || coin.asset.IsSecured()) continue;
    if (coin.IsRune() && coin.asset.GetChain() == chains::kETH) continue;
    const Result<Pool> pool = GetPool(k, ctx, coin.asset.GetLayer1Asset());
    if (!pool.ok()) return Error::Opaque("fail to get pool", pool.error());
    // Without a pool there is no fee to take: the coins stay where they are.
    if (!coin.IsRune() && pool->balance_rune.IsZero()) continue;

    TxOutItem item;
    item.chain = coin.asset.GetChain();
    item.to_address = RefundAddress(k, ctx, tx.tx, coin);
    KEEPER_ASSIGN_OR_RETURN(const Vault vault, RefundingVault(k, ctx, tx.observed_pub_key, coin));
    item.vault_pub_key = vault.pub_key;
    item.vault_pub_key_eddsa = vault.pub_key_eddsa;
    item.coin = coin;
    item.memo = RefundMemoText(tx.tx.id);
    item.in_hash = tx.tx.id;
    item.module_name = source_module;
    item.aggregator_target_limit = Uint();
    const Result<bool> added = TryAddTxOutItem(mgr, ctx, item, Uint());
    if (added.ok()) {
      refunded = refunded || *added;
      continue;
    }
    reason =
        sdk::StrCat(reason, "; fail to refund (", coin.ToString(), "): ", added.error().message());
    CleanUpUnrefundableCoin(mgr, ctx, item);
  }

  Tx shown = tx.tx;
  // The chain is derived from the coins then.
  if (refunded) {
    shown = Tx::Make(tx.tx.id, tx.tx.from_address, tx.tx.to_address, tx.tx.coins, tx.tx.gas,
                     tx.tx.memo);
  }
  EmitRefundEvent(ctx, code, reason, shown);
  return {};
}

void CleanUpUnrefundableCoin(Managers& mgr, const Context& ctx, const TxOutItem& item) {
  const Keeper& k = *mgr.keeper;
  if (item.coin.asset.IsTrade()) return;
  const std::string_view source = GetModuleName(item);
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item.in_hash);
  if (!voter.ok() || !item.coin.asset.IsNative() || source == kReserveModule) return;
  if (SendFromModuleToModule(k, ctx, source, kReserveModule, {item.coin})) return;
  Tx tx = voter->tx.tx;
  tx.coins = {item.coin};
  EmitReserveEvent(ctx, tx.from_address, item.coin.amount, tx);
}

}  // namespace blockreplay::keeper::thorchain
