#include "keeper/thorchain/managers/outbound_delay.h"

#include <algorithm>
#include <utility>

#include "keeper/thorchain/memo/memo.h"
#include "keeper/thorchain/state/clouts.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/scheduled_outbounds.h"

namespace blockreplay::keeper::thorchain {
namespace {

struct CloutSplit {
  Uint in;
  Uint out;
};

// How much of the value the clout of sender and recipient covers, at most `limit` together.
CloutSplit SplitClout(const Uint& limit, Uint in, Uint out, const Uint& value) {
  if (in + out > limit) {
    const Uint half = limit / Uint(2);
    if (in > half && out > half) {
      in = half;
      out = half;
    } else if (in > out) {
      in = SafeSub(limit, out);
    } else if (out > in) {
      out = SafeSub(limit, in);
    }
  }
  if (in + out > limit) return {};
  const Uint total = in + out;
  if (total.IsZero()) return {};
  const Uint applied = std::min(total, value);
  CloutSplit split;
  split.in = applied * in / total;
  split.out = applied - split.in;
  return split;
}

// Of an address whose record can't be read: none.
SwapperClout ReadClout(const Keeper& k, const Context& ctx, const Address& address) {
  Result<SwapperClout> clout = GetSwapperClout(k, ctx, address);
  if (clout.ok()) return *std::move(clout);
  SwapperClout none;
  none.address = address;
  return none;
}

// Spends clout on the value; returns what was spent.
Uint SpendClout(const Keeper& k, const Context& ctx, const Uint& value, const TxOutItem& item) {
  if (!item.aggregator.empty() || !item.aggregator_target_asset.empty() ||
      item.aggregator_target_limit) {
    return Uint();
  }
  SwapperClout out = ReadClout(k, ctx, item.to_address);
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(k, ctx, item.in_hash);
  SwapperClout in = ReadClout(k, ctx, voter.ok() ? voter->tx.tx.from_address : Address());
  const int64_t reset = GetConfigInt64(k, ctx, ConstantName::kCloutReset);
  const int64_t limit = GetConfigInt64(k, ctx, ConstantName::kCloutLimit);
  RestoreClout(&out, ctx.height(), reset);
  RestoreClout(&in, ctx.height(), reset);

  const CloutSplit split =
      SplitClout(SafeUintFromInt64(limit), AvailableClout(in), AvailableClout(out), value);
  if (!split.in.IsZero()) {
    in.spent += split.in;
    in.last_spent_height = ctx.height();
    SetSwapperClout(k, ctx, in);
  }
  if (!split.out.IsZero()) {
    // Writes over what has just been written of the same address.
    if (in.address == out.address) out.spent += split.in;
    out.spent += split.out;
    out.last_spent_height = ctx.height();
    SetSwapperClout(k, ctx, out);
  }
  return split.in + split.out;
}

}  // namespace

OutboundDelay CalcTxOutHeight(const Keeper& k, const Context& ctx, const TxOutItem& item) {
  OutboundDelay delay;
  delay.height = ctx.height();
  const TxType type = ParseMemoWithoutState(GetMemo(item), k.network()).memo.type;
  if (type != TxType::kRefund && type != TxType::kOutbound) return delay;

  const int64_t threshold = GetConfigInt64(k, ctx, ConstantName::kMinTxOutVolumeThreshold);
  const int64_t rate = GetConfigInt64(k, ctx, ConstantName::kTxOutDelayRate);
  const int64_t delay_limit = GetConfigInt64(k, ctx, ConstantName::kTxOutDelayMax);
  const int64_t offset = GetConfigInt64(k, ctx, ConstantName::kMaxTxOutOffset);
  if (threshold <= 0 || rate <= 0 || offset <= 0) return delay;
  const Uint min_volume(static_cast<uint64_t>(threshold));

  Uint value = GetItemsValue(k, ctx, {item}).value;
  delay.clout = SpendClout(k, ctx, value, item);
  value -= delay.clout;
  if (value.IsZero()) return delay;

  ScheduledOutbounds outbounds(k, ctx, ctx.height(), ctx.height() + std::min(delay_limit, offset));
  TxOutValue scheduled{value, Uint()};
  for (int64_t height = ctx.height() + 1; height <= ctx.height() + delay_limit; ++height) {
    const Result<TxOutValue> at = outbounds.ValueAt(height);
    if (!at.ok()) continue;
    // Nothing is scheduled beyond the first empty height after the offset.
    if (height > ctx.height() + offset && at->value.IsZero()) break;
    scheduled.value += at->value;
    scheduled.clout += at->clout;
  }

  const Uint reduction = Uint(kOne) * SafeSub(scheduled.value, scheduled.clout) / min_volume;
  const Uint full_rate(static_cast<uint64_t>(rate));
  const Uint reduced_rate = reduction >= full_rate ? Uint(1) : full_rate - reduction;
  const Uint blocks = std::min(value / reduced_rate, Uint(static_cast<uint64_t>(offset)));
  delay.height += static_cast<int64_t>(blocks.ToUint64());

  for (int64_t tries = 0; tries < delay_limit; ++tries, ++delay.height) {
    const Result<TxOutValue> at = outbounds.ValueAt(delay.height);
    if (!at.ok() || at->value.IsZero() || at->value + value <= min_volume) break;
  }
  return delay;
}

}  // namespace blockreplay::keeper::thorchain
