#include "keeper/thorchain/managers/swap_queue.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/handlers/swap.h"
#include "keeper/thorchain/managers/events.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/refund.h"
#include "keeper/thorchain/managers/swap_math.h"
#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/state/adv_swap_queue.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/swap_queue.h"
#include "keeper/thorchain/state/swap_slips.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Reasons of refunds, as their events give them.
constexpr uint32_t kSwapFail = 108;
constexpr uint32_t kFailAddOutboundTx = 131;

// RUNE in those pools that make the price of a derived asset. Reads slips and prices, too, as the
// node does.
Uint AnchorDepth(const Keeper& k, const Context& ctx, const Asset& asset) {
  const std::vector<Asset> anchors =
      asset == assets::kTOR ? DollarAnchors(k, ctx) : std::vector<Asset>{asset.GetLayer1Asset()};
  std::vector<Asset> available;
  Uint depth;
  for (const Asset& anchor : anchors) {
    if (IsGlobalTradingHalted(k, ctx) || IsChainTradingHalted(k, ctx, anchor.chain)) continue;
    if (!PoolExists(k, ctx, anchor)) continue;
    const Result<Pool> pool = GetPool(k, ctx, anchor);
    if (!pool.ok() || !IsAvailable(*pool)) continue;
    if (pool->balance_rune.IsZero() || pool->balance_asset.IsZero()) continue;
    available.push_back(anchor);
    depth += pool->balance_rune;
  }
  for (const Asset& anchor : available) GetCurrentRollup(k, ctx, anchor);
  AnchorMedian(k, ctx, available);
  return depth;
}

// The shallower the pool of a derived asset is against its anchors, the fewer; zero: no limit.
Uint MaxDerivedQuantity(const Keeper& k, const Context& ctx, const Asset& source,
                        const Asset& target) {
  Uint least_share;
  for (const Asset* asset : {&source, &target}) {
    if (!asset->IsDerived()) continue;
    const Uint depth = AnchorDepth(k, ctx, *asset);
    const Result<Pool> pool = GetPool(k, ctx, *asset);
    const Uint share =
        GetUncappedShare(pool.ok() ? pool->balance_rune : Uint(), depth, Uint(kMaxBasisPoints));
    if (least_share.IsZero() || share < least_share) least_share = share;
  }
  const Uint missing = SafeSub(Uint(kMaxBasisPoints), least_share);
  if (least_share.IsZero() || missing.IsZero()) return Uint();
  return Uint(kMaxBasisPoints) / missing;
}

// The most parts a swap may have: as many as its size allows by the least slip, and as fit into the
// time that a streaming swap may take.
Result<uint64_t> MaxQuantity(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  const Asset& source = swap.tx.coins.front().asset;
  const Asset& target = swap.target_asset;
  const bool stable = IsStableToStable(k, ctx, source, target);
  Uint least;
  Pool source_pool;
  for (const Asset* asset : {&source, &target}) {
    if (asset->IsRune()) continue;
    KEEPER_ASSIGN_OR_RETURN(const Pool pool, GetPool(k, ctx, asset->GetLayer1Asset()));
    if (asset == &source) source_pool = pool;
    const Uint min_slip = GetMinSlip(k, ctx, *asset, stable);
    if (min_slip.IsZero()) continue;
    const Uint least_here = GetSafeShare(min_slip, Uint(kMaxBasisPoints), pool.balance_rune);
    if (least.IsZero() || least_here < least) least = least_here;
  }
  if (!source.IsRune()) least = RuneValueInAsset(source_pool, least);
  const Uint quantity = least.IsZero() ? Uint(swap.state->quantity) : swap.state->deposit / least;

  const int64_t max_length = GetConfigInt64(k, ctx,
                                            source.IsNative() && target.IsNative()
                                                ? ConstantName::kStreamingSwapMaxLengthNative
                                                : ConstantName::kStreamingSwapMaxLength);
  // The interval of a swap with a limit is the time it has; it is tried in every block.
  const uint64_t interval =
      swap.state->interval == 0 || swap.swap_type == SwapType::limit ? 1 : swap.state->interval;
  const uint64_t fitting = static_cast<uint64_t>(max_length) / interval;
  if (quantity > Uint(fitting)) return fitting;
  if (quantity.IsZero()) return uint64_t{1};
  const Uint limit = MaxDerivedQuantity(k, ctx, source, target);
  return (limit.IsZero() ? quantity : std::min(limit, quantity)).ToUint64();
}

// How long a swap with a limit may wait: as long as it asks for, within bounds.
int64_t LimitSwapTtl(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  const int64_t most = GetConfigInt64(k, ctx, ConstantName::kStreamingLimitSwapMaxAge);
  if (most <= 0) return 0;
  const uint64_t asked = swap.state->interval;
  return asked > 0 && asked <= static_cast<uint64_t>(most) ? static_cast<int64_t>(asked) : most;
}

// Pays out what the parts of the swap gave. Where that fails, the books are put right.
void SendOutput(Managers& mgr, const Context& ctx, const MsgSwap& swap) {
  const Keeper& k = *mgr.keeper;
  const MemoResult memo = ParseMemoWithNames(k, ctx, swap.tx.memo);
  if (memo.ok() && memo.memo.type == TxType::kAdd) return;
  TxOutItem item;
  item.chain = swap.target_asset.GetChain();
  item.in_hash = swap.tx.id;
  item.to_address = swap.destination;
  item.coin = Coin(swap.target_asset, swap.state->out);
  if (!swap.aggregator.empty()) {
    const absl::StatusOr<DexAggregator> aggregator =
        FindDexAggregator(*k.build, swap.target_asset.GetChain().ToString(), swap.aggregator);
    if (aggregator.ok()) item.aggregator = aggregator->address;
  }
  item.aggregator_target_asset = swap.aggregator_target_address;
  item.aggregator_target_limit = swap.aggregator_target_limit;
  item.clout_spent.emplace();
  const Result<bool> sent = TryAddTxOutItem(mgr, ctx, item, Uint());
  if (sent.ok()) return;

  CleanUpUnrefundableCoin(mgr, ctx, item);
  const Tx tx = Tx::Make(swap.tx.id, swap.tx.from_address, swap.tx.to_address, Coins{item.coin},
                         swap.tx.gas, swap.tx.memo);
  EmitRefundEvent(ctx, kFailAddOutboundTx,
                  sdk::StrCat(sent.error().message(), "; fail to refund (", item.coin.ToString(),
                              "): swap output"),
                  tx);
}

Error RefundRemainder(Managers& mgr, const Context& ctx, const MsgSwap& swap,
                      std::string_view reason) {
  ObservedTx refund;
  refund.tx = swap.tx;
  refund.tx.coins = {
      Coin(swap.tx.coins.front().asset, SafeSub(swap.state->deposit, swap.state->in))};
  // The vault that the coins came to is the first choice for sending them back.
  const Result<ObservedTxVoter> voter = GetObservedTxInVoter(*mgr.keeper, ctx, swap.tx.id);
  if (voter.ok() && !voter->tx.tx.IsEmpty()) {
    refund.observed_pub_key = voter->tx.observed_pub_key;
  }
  if (Error error = RefundTx(mgr, ctx, refund, kSwapFail, std::string(reason), ""); error) {
    return Error::Opaque("fail to refund swap remainder", error);
  }
  return {};
}

std::string Joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) joined += separator;
    joined += text;
  }
  return joined;
}

sdk::Event StreamingSwapEvent(const MsgSwap& swap) {
  const SwapState& state = *swap.state;
  const Asset& source = swap.tx.coins.front().asset;
  std::vector<std::string> failed;
  for (const uint64_t number : state.failed_swaps) failed.push_back(std::to_string(number));
  return sdk::Event("streaming_swap",
                    {{"tx_id", swap.tx.id.ToString()},
                     {"interval", std::to_string(state.interval)},
                     {"quantity", std::to_string(state.quantity)},
                     {"count", std::to_string(state.count)},
                     {"last_height", std::to_string(state.last_height)},
                     {"deposit", Coin(source, state.deposit).ToString()},
                     {"in", Coin(source, state.in).ToString()},
                     {"out", Coin(swap.target_asset, state.out).ToString()},
                     {"failed_swaps", Joined(failed, ", ")},
                     {"failed_swap_reasons", Joined(state.failed_swap_reasons, "\n ")}});
}

}  // namespace

MsgSwap MakeMarketSwap(const Keeper& k, const Context& ctx, const Tx& tx, const Asset& target,
                       const Address& destination, SwapParts parts, const AccAddress& signer) {
  MsgSwap swap;
  swap.tx = tx;
  swap.target_asset = target;
  swap.destination = destination;
  swap.signer = signer;
  swap.swap_type = SwapType::market;
  swap.stream_quantity = parts.quantity;
  swap.stream_interval = parts.interval;
  swap.version = IsAdvSwapQueueEnabled(k, ctx) ? SwapVersion::v2 : SwapVersion::v1;
  SwapState& state = swap.state.emplace();
  state.quantity = parts.quantity;
  state.interval = parts.interval;
  state.deposit = tx.coins.front().amount;
  return swap;
}

Error AddSwap(Managers& mgr, const Context& ctx, MsgSwap swap) {
  if (swap.version != SwapVersion::v2) {
    if (!swap.tx.coins.IsEmpty()) SetSwapQueueItem(*mgr.keeper, ctx, swap, 0);
    return {};
  }
  KEEPER_RETURN_IF_ERROR(AddAdvSwapQueueItem(mgr, ctx, &swap));
  if (swap.swap_type == SwapType::limit) {
    ctx.events().Emit(
        sdk::Event("limit_swap", {{"source", swap.tx.coins.front().ToString()},
                                  {"target", Coin(swap.target_asset, swap.trade_target).ToString()},
                                  {"txid", swap.tx.id.ToString()}}));
  }
  return {};
}

Error AddAdvSwapQueueItem(Managers& mgr, const Context& ctx, MsgSwap* swap) {
  const Keeper& k = *mgr.keeper;
  const bool is_limit = swap->swap_type == SwapType::limit;
  if (GetConfigInt64(k, ctx, ConstantName::kEnableAdvSwapQueue) == kAdvSwapQueueMarketOnly &&
      is_limit) {
    return Error::New("limit swaps are not allowed in market-only mode");
  }
  if (swap->initial_block_height == 0) swap->initial_block_height = ctx.height();
  SwapState& state = *swap->state;
  if (state.deposit.IsZero()) state.deposit = swap->tx.coins.front().amount;
  if (is_limit && state.interval > 0) {
    const int64_t most = GetConfigInt64(k, ctx, ConstantName::kStreamingLimitSwapMaxAge);
    if (most < 0) return Error::New("StreamingLimitSwapMaxAge returned maxAge < 0");
    state.interval = std::min(state.interval, static_cast<uint64_t>(most));
  }
  KEEPER_ASSIGN_OR_RETURN(const uint64_t most_parts, MaxQuantity(k, ctx, *swap));
  if (state.quantity == 0 || state.quantity > most_parts) state.quantity = most_parts;
  KEEPER_RETURN_IF_ERROR(ValidateSwap(mgr, ctx, *swap));
  if (is_limit && swap->initial_block_height > 0) {
    KEEPER_RETURN_IF_ERROR(AddToLimitSwapTtl(
        k, ctx, swap->initial_block_height + LimitSwapTtl(k, ctx, *swap), swap->tx.id));
  }
  return SetAdvSwapQueueItem(k, ctx, *swap);
}

Error SettleSwap(Managers& mgr, const Context& ctx, const MsgSwap& swap, std::string_view reason) {
  const Keeper& k = *mgr.keeper;
  sdk::CacheContext branch(ctx);
  const Context& inner = branch.context();
  if (!swap.state) throw sdk::Panic("invalid memory address or nil pointer dereference");
  if (!swap.state->out.IsZero()) SendOutput(mgr, inner, swap);
  if (swap.state->deposit > swap.state->in) {
    KEEPER_RETURN_IF_ERROR(RefundRemainder(mgr, inner, swap, reason));
  }
  // It may be missing in either; the node ignores that.
  static_cast<void>(RemoveAdvSwapQueueIndex(k, inner, swap));
  static_cast<void>(RemoveAdvSwapQueueItem(k, inner, swap.tx.id, swap.index));
  if (swap.state->quantity > 1) inner.events().Emit(StreamingSwapEvent(swap));
  if (swap.swap_type == SwapType::limit) {
    inner.events().Emit(
        sdk::Event("limit_swap_close", {{"txid", swap.tx.id.ToString()},
                                        {"reason", std::string(reason)},
                                        {"block_height", std::to_string(ctx.height())}}));
  }
  branch.Commit();
  return {};
}

bool WillSwapExceedLimitAndFees(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  const Coin& source = swap.tx.coins.front();
  const Asset& target = swap.target_asset;
  Uint emitted = source.amount;
  if (!source.IsRune()) {
    const Result<Pool> pool = GetPool(k, ctx, source.asset.GetLayer1Asset());
    if (!pool.ok()) return false;
    if (target.IsRune()) {
      emitted = CalcAssetEmission(pool->balance_asset, emitted, pool->balance_rune);
    } else {
      const Result<Pool> target_pool = GetPool(k, ctx, target.GetLayer1Asset());
      if (!target_pool.ok()) return false;
      emitted = CalcAssetEmission(pool->balance_asset, emitted, pool->balance_rune);
      emitted = CalcAssetEmission(target_pool->balance_rune, emitted, target_pool->balance_asset);
    }
  } else {
    const Result<Pool> pool = GetPool(k, ctx, target.GetLayer1Asset());
    if (!pool.ok()) return false;
    emitted = CalcAssetEmission(pool->balance_rune, emitted, pool->balance_asset);
  }
  const Result<Uint> fee = GetAssetOutboundFee(k, ctx, target, false);
  return fee.ok() && emitted > swap.trade_target + *fee;
}

}  // namespace blockreplay::keeper::thorchain
