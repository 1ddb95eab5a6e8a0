#include "keeper/thorchain/state/scheduled_outbounds.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "keeper/optimisations.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The last height up to `last` whose text has as many digits as that of `first`: among those the
// order of keys is the order of heights.
int64_t LastOfSameLength(int64_t first, int64_t last) {
  int64_t end = 10;
  while (end <= first) end *= 10;
  return std::min(last, end - 1);
}

// Assets as the node's maps tell them apart: by their exact text.
bool IsSame(const Asset& a, const Asset& b) {
  return a.chain.raw() == b.chain.raw() && a.symbol == b.symbol && a.ticker == b.ticker &&
         a.synth == b.synth && a.trade == b.trade && a.secured == b.secured;
}

}  // namespace

TxOutValue GetItemsValue(const Keeper& k, const Context& ctx, const TxOutItems& items) {
  return ScheduledOutbounds(k, ctx, 1, 0).ValueOf(items);
}

ScheduledOutbounds::ScheduledOutbounds(const Keeper& k, const Context& ctx, int64_t first,
                                       int64_t last)
    : k_(k),
      ctx_(ctx),
      // A meter with a limit has to run out at the same access.
      in_one_walk_(IsOn(Optimisation::kTxOutWalks) && ctx.gas_meter().infinite() && first > 0),
      first_(first) {
  if (!in_one_walk_ || last < first) return;
  heights_.resize(static_cast<size_t>(last - first + 1));
  while (first <= last) {
    const int64_t end = LastOfSameLength(first, last);
    Walk(first, end);
    first = end + 1;
  }
}

void ScheduledOutbounds::Walk(int64_t first, int64_t last) {
  const std::string first_key = TxOutKey(first);
  for (sdk::StoreIterator it = k_.kv(ctx_).IterateFree({first_key, TxOutKey(last) + '\0'});
       it.Valid(); it.Next()) {
    // Those of shorter heights sort between them.
    if (it.key().size() != first_key.size()) continue;
    const std::string_view text = it.key().substr(TxOutKey(0).size() - 1);
    int64_t height = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), height).ptr !=
        text.data() + text.size()) {
      continue;
    }
    heights_[static_cast<size_t>(height - first_)] = {DecodeTxOut(it.value()), it.key().size(),
                                                      it.value().size()};
  }
}

Result<SharedTxOut> ScheduledOutbounds::At(int64_t height) const {
  if (height < first_ || height - first_ >= static_cast<int64_t>(heights_.size())) {
    return ReadTxOut(k_, ctx_, height);
  }
  const std::optional<Stored>& stored = heights_[static_cast<size_t>(height - first_)];
  if (stored && stored->record == nullptr) return ReadTxOut(k_, ctx_, height);
  if (stored) {
    k_.kv(ctx_).PayForGetIfHas(stored->key_size, stored->value_size);
    return stored->record;
  }
  k_.kv(ctx_).PayForGetIfHas(0, std::nullopt);
  return NoTxOut();
}

Result<TxOutValue> ScheduledOutbounds::ValueAt(int64_t height) {
  KEEPER_ASSIGN_OR_RETURN(const SharedTxOut tx_out, At(height));
  return ValueOf(tx_out->tx_array);
}

TxOutValue ScheduledOutbounds::ValueOf(const TxOutItems& items) {
  if (!in_one_walk_) pools_.clear();
  for (KnownPool& known : pools_) known.is_paid = false;
  TxOutValue total;
  const auto add = [&](const Coin& coin) {
    if (coin.IsRune()) {
      total.value += coin.amount;
    } else if (const SharedPool pool = PoolOf(coin.asset)) {
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

// Null if it can't be read.
SharedPool ScheduledOutbounds::PoolOf(const Asset& asset) {
  for (KnownPool& known : pools_) {
    if (!IsSame(known.asset, asset)) continue;
    if (!known.is_paid) ctx_.gas_meter().Consume(known.gas, "ReadPerByte");
    known.is_paid = true;
    return known.pool;
  }
  const sdk::Gas before = ctx_.gas_meter().consumed();
  Result<SharedPool> pool = ReadPool(k_, ctx_, asset.GetLayer1Asset());
  if (!pool.ok()) return nullptr;
  return pools_.emplace_back(asset, *std::move(pool), ctx_.gas_meter().consumed() - before, true)
      .pool;
}

TxOutItems GetPendingOutbounds(const Keeper& k, const Context& ctx, const Asset& asset) {
  const int64_t period = k.constants().GetInt64(ConstantName::kSigningTransactionPeriod);
  const int64_t delay = GetConfigInt64(k, ctx, ConstantName::kTxOutDelayMax);
  const int64_t offset = GetConfigInt64(k, ctx, ConstantName::kMaxTxOutOffset);
  const int64_t first = std::max<int64_t>(ctx.height() - period, 1);
  const ScheduledOutbounds outbounds(k, ctx, first, ctx.height() + std::min(delay, offset));
  TxOutItems pending;
  for (int64_t height = first; height <= ctx.height() + delay; ++height) {
    const Result<SharedTxOut> tx_out = outbounds.At(height);
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

}  // namespace blockreplay::keeper::thorchain
