#include "keeper/thorchain/state/tx_outs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "keeper/thorchain/decode_memo.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kTxOutPrefix = "txout/";

std::string TxOutKey(int64_t height) { return StoreKey(kTxOutPrefix, std::to_string(height)); }

// Pools of one valuation, each read once. Told apart by their exact text, as the node's map does.
class PoolCache {
 public:
  PoolCache(const Keeper& k, const Context& ctx) : k_(k), ctx_(ctx) {}

  // Null if it can't be read.
  SharedPool Get(const Asset& asset) {
    for (const auto& [known, pool] : pools_) {
      if (IsSame(known, asset)) return pool;
    }
    Result<SharedPool> pool = ReadPool(k_, ctx_, asset.GetLayer1Asset());
    if (!pool.ok()) return nullptr;
    return pools_.emplace_back(asset, *std::move(pool)).second;
  }

 private:
  static bool IsSame(const Asset& a, const Asset& b) {
    return a.chain.raw() == b.chain.raw() && a.symbol == b.symbol && a.ticker == b.ticker &&
           a.synth == b.synth && a.trade == b.trade && a.secured == b.secured;
  }

  const Keeper& k_;
  const Context& ctx_;
  std::vector<std::pair<Asset, SharedPool>> pools_;
};

}  // namespace

Result<SharedTxOut> ReadTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  static const auto none = std::make_shared<const TxOut>();
  constexpr size_t kMostRemembered = 1 << 12;
  Result<SharedTxOut> tx_out =
      ReadShared<Optimisation::kTxOutDecodes, kMostRemembered, TxOut>(k, ctx, TxOutKey(height));
  if (tx_out.ok() && *tx_out == nullptr) return none;
  return tx_out;
}

Result<TxOut> GetTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  TxOut tx_out;
  const Result<bool> found = GetRecord(k, ctx, TxOutKey(height), &tx_out);
  if (!found.ok()) return found.error();
  if (!*found) tx_out.height = height;
  return tx_out;
}

void SetTxOut(const Keeper& k, const Context& ctx, const TxOut& tx_out) {
  if (tx_out.tx_array.empty()) return;
  SetRecord(k, ctx, TxOutKey(tx_out.height), tx_out);
}

Error AppendTxOut(const Keeper& k, const Context& ctx, int64_t height, const TxOutItem& item) {
  KEEPER_ASSIGN_OR_RETURN(TxOut tx_out, GetTxOut(k, ctx, height));
  tx_out.tx_array.push_back(item);
  SetTxOut(k, ctx, tx_out);
  return {};
}

void ClearTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  DeleteKey(k, ctx, TxOutKey(height));
}

TxOutValue GetItemsValue(const Keeper& k, const Context& ctx, const TxOutItems& items) {
  PoolCache pools(k, ctx);
  TxOutValue total;
  const auto add = [&](const Coin& coin) {
    if (coin.IsRune()) {
      total.value += coin.amount;
    } else if (const SharedPool pool = pools.Get(coin.asset)) {
      total.value += AssetValueInRune(*pool, coin.amount);
    }
  };
  for (const TxOutItem& item : items) {
    add(item.coin);
    for (const Coin& gas : item.max_gas) add(gas);
    if (item.clout_spent) total.clout += *item.clout_spent;
  }
  return total;
}

Result<TxOutValue> GetTxOutValue(const Keeper& k, const Context& ctx, int64_t height) {
  KEEPER_ASSIGN_OR_RETURN(const SharedTxOut tx_out, ReadTxOut(k, ctx, height));
  return GetItemsValue(k, ctx, tx_out->tx_array);
}

TxOutItems GetPendingOutbounds(const Keeper& k, const Context& ctx, const Asset& asset) {
  const int64_t period = k.constants().GetInt64(ConstantName::kSigningTransactionPeriod);
  const int64_t delay = GetConfigInt64(k, ctx, ConstantName::kTxOutDelayMax);
  const int64_t offset = GetConfigInt64(k, ctx, ConstantName::kMaxTxOutOffset);
  TxOutItems pending;
  for (int64_t height = std::max<int64_t>(ctx.height() - period, 1); height <= ctx.height() + delay;
       ++height) {
    const Result<SharedTxOut> tx_out = ReadTxOut(k, ctx, height);
    const bool empty = !tx_out.ok() || (*tx_out)->tx_array.empty();
    // Nothing is scheduled beyond the first empty height after the offset.
    if (empty && height > ctx.height() + offset) break;
    if (empty) continue;
    for (const TxOutItem& item : (*tx_out)->tx_array) {
      if (item.coin.asset == asset && item.out_hash.IsEmpty()) pending.push_back(item);
    }
  }
  return pending;
}

std::string_view GetModuleName(const TxOutItem& item) {
  return item.module_name.empty() ? kAsgardModule : std::string_view(item.module_name);
}

}  // namespace blockreplay::keeper::thorchain
