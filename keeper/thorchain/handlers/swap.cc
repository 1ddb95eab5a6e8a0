#include "keeper/thorchain/handlers/swap.h"

#include <string>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/managers/liquidity_caps.h"
#include "keeper/thorchain/managers/swap_math.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/streaming_swaps.h"
#include "keeper/thorchain/state/trading_halts.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr uint64_t kMaxAffiliateFee = 1'000;

Error UnknownRequest(std::string_view message) { return Error(sdk::kErrUnknownRequest, message); }

// Parts of a swap are made by the classic queue, which keeps them beside the message.
bool IsClassicStreaming(const MsgSwap& message) {
  return message.stream_interval > 0 && message.version == SwapVersion::v1;
}

// Modules must not be paid by swaps of users; a memo that can't be understood is the node's own.
Error CheckMemo(const Keeper& k, const Context& ctx, const MsgSwap& message) {
  const MemoResult parsed = ParseMemoWithNames(k, ctx, message.tx.memo);
  const SwapMemo* memo = parsed.memo.As<SwapMemo>();
  if (memo == nullptr) return {};
  const Asset& target = message.target_asset;
  const absl::StatusOr<AccAddress> account = memo->destination.ToAccAddress(k.network());
  if (account.ok() && IsModuleAccAddress(k, *account) &&
      !(target.IsRune() && *account == ModuleAccAddress(k, kReserveModule))) {
    return Error::New("a network module cannot be the final destination of a swap memo");
  }
  if (target.IsSynthetic() &&
      GetConfigInt64(k, ctx, ConstantName::kManualSwapsToSynthDisabled) > 0) {
    return Error::New("manual swaps to synths not supported, use trade assets instead");
  }
  return {};
}

Error CheckDerived(const Keeper& k, const Context& ctx, const MsgSwap& message) {
  if (!message.target_asset.IsDerived() && !message.tx.coins.front().asset.IsDerived()) return {};
  if (GetConfigInt64(k, ctx, ConstantName::kEnableDerivedAssets) != 0) return {};
  const Address noop{kNoopAddress};
  if (message.tx.from_address == noop || message.tx.to_address == noop ||
      message.destination == noop) {
    return {};
  }
  return Error::New(
      sdk::StrCat("swapping to/from a derived asset is not allowed, except for lending (",
                  message.tx.from_address.ToString(), " or ", message.destination.ToString(), ")"));
}

Error CheckAggregator(const Keeper& k, const Context& ctx, const MsgSwap& message) {
  if (message.aggregator.empty()) return {};
  if (GetConfigInt64(k, ctx, ConstantName::kSwapOutDexAggregationDisabled) > 0) {
    return Error::New("swap out dex integration disabled");
  }
  const Asset& target = message.target_asset;
  if (!(target == target.chain.GetGasAsset())) {
    return Error::New(sdk::StrCat("target asset (", target.ToString(),
                                  ") is not gas asset , can't use dex feature"));
  }
  const absl::StatusOr<DexAggregator> aggregator =
      FindDexAggregator(*k.build, target.chain.ToString(), message.aggregator);
  if (!aggregator.ok()) return Error::New(std::string(aggregator.status().message()));
  if (aggregator->address.empty()) return Error::New("aggregator address is empty");
  if (message.aggregator_target_address.empty()) {
    return Error::New("aggregator target address is empty");
  }
  return {};
}

Error CheckTargetKind(const Asset& target) {
  if (!target.IsSynthetic() && !target.IsTrade() && !target.IsSecured()) return {};
  if (!target.GetLayer1Asset().IsNative()) return {};
  if (target.IsSynthetic()) {
    return Error::New("minting a synthetic of a native coin is not allowed");
  }
  if (target.IsTrade()) {
    return Error::New("swapping to a trade asset of a native coin is not allowed");
  }
  return Error::New("swapping to a secured asset of a native coin is not allowed");
}

struct StreamingCheck {
  // Some part has been made already: what follows was checked then.
  bool started = false;
  Uint deposit;
};

Result<StreamingCheck> CheckStreaming(const Keeper& k, const Context& ctx, const MsgSwap& message) {
  if (GetConfigInt64(k, ctx, ConstantName::kStreamingSwapPause) > 0) {
    return Error::New("streaming swaps are paused");
  }
  const Coin& source = message.tx.coins.front();
  for (const Asset* asset : {&source.asset, &message.target_asset}) {
    if (GetMimir(k, ctx, "RAGNAROK-" + asset->MimirString()) > 0) {
      return Error::New(
          sdk::StrCat("streaming swaps disabled on ragnarok asset ", asset->ToString()));
    }
  }
  StreamingSwap swap;
  swap.quantity = message.stream_quantity;
  swap.deposit = source.amount;
  if (StreamingSwapExists(k, ctx, message.tx.id)) {
    KEEPER_ASSIGN_OR_RETURN(swap, GetStreamingSwap(k, ctx, message.tx.id));
  }
  if ((swap.quantity > 0 && swap.count >= swap.quantity) || swap.in >= swap.deposit) {
    return Error::New("streaming swap is completed, cannot continue to swap again");
  }
  return StreamingCheck{swap.count > 0, swap.deposit};
}

// How much of the synthetic asset the swap would mint.
Uint SimulatedOutput(const Keeper& k, const Context& ctx, const Coin& source, const Asset& target) {
  Uint rune;
  if (source.IsRune()) {
    rune = source.amount;
  } else {
    const Result<Pool> pool =
        GetPool(k, ctx, source.asset.IsSynthetic() ? source.asset.GetLayer1Asset() : source.asset);
    if (pool.ok()) rune = CalcAssetEmission(pool->balance_asset, source.amount, pool->balance_rune);
  }
  const Result<Pool> pool = GetPool(k, ctx, target.GetLayer1Asset());
  if (!pool.ok()) return Uint();
  return CalcAssetEmission(pool->balance_rune, rune, pool->balance_asset);
}

Error CheckSynthTarget(const Keeper& k, const Context& ctx, const Coin& source,
                       const Asset& target) {
  Result<Uint> total = TotalLiquidityRune(k, ctx);
  if (!total.ok()) return InternalError(total.error(), "fail to get total liquidity RUNE");
  Uint value = source.amount;
  if (!source.IsRune()) {
    const Result<Pool> pool = GetPool(k, ctx, source.asset.GetLayer1Asset());
    if (!pool.ok()) return InternalError(pool.error(), "fail to get pool");
    value = AssetValueInRune(*pool, source.amount);
  }
  *total += value;
  const int64_t most = GetConfigInt64(k, ctx, ConstantName::kMaximumLiquidityRune);
  if (most > 0 && *total > Uint(static_cast<uint64_t>(most))) {
    return Error(kErrAddLiquidityRuneOverLimit);
  }
  KEEPER_RETURN_IF_ERROR(CheckSynthMint(k, ctx, target, SimulatedOutput(k, ctx, source, target)));
  if (k.constants().GetBool(ConstantName::kStrictBondLiquidityRatio) &&
      !source.asset.IsSynthetic() && IsAtTvlCap(k, ctx, {source})) {
    return Error(kErrAddLiquidityRuneMoreThanBond);
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgSwap& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (absl::Status status = m.tx.Valid(); !status.ok())
    return UnknownRequest(std::string(status.message()));
  if (m.target_asset.IsEmpty()) return UnknownRequest("swap Target cannot be empty");
  if (m.tx.coins.size() > 1) return UnknownRequest("not expecting multiple coins in a swap");
  if (m.tx.coins.IsEmpty()) return UnknownRequest("swap coin cannot be empty");
  for (const Coin& coin : m.tx.coins) {
    if (coin.asset == m.target_asset) {
      return UnknownRequest("swap Source and Target cannot be the same.");
    }
  }
  if (m.destination.IsEmpty()) return UnknownRequest("swap Destination cannot be empty");
  if (m.affiliate_address.IsEmpty() && !m.affiliate_basis_points.IsZero()) {
    return UnknownRequest(
        "swap affiliate address is empty while affiliate basis points is non-zero");
  }
  if (m.affiliate_basis_points > Uint(kMaxAffiliateFee)) {
    return UnknownRequest("affiliate fee basis points can't be more than 1000");
  }
  if (!m.destination.IsNoop() && !m.destination.IsChain(m.target_asset.GetChain())) {
    return UnknownRequest("swap destination address is not the same chain as the target asset");
  }
  if (!m.affiliate_address.IsEmpty() && !m.affiliate_address.IsChain(chains::kTHOR)) {
    return UnknownRequest("swap affiliate address must be a THOR address");
  }
  if (!m.aggregator.empty() && m.aggregator_target_address.empty()) {
    return UnknownRequest("aggregator target asset address is empty");
  }
  if (!m.aggregator_target_address.empty() && m.aggregator.empty()) {
    return UnknownRequest("aggregator is empty");
  }
  return {};
}

Error ValidateSwap(Managers& mgr, const Context& ctx, const MsgSwap& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  KEEPER_RETURN_IF_ERROR(CheckMemo(k, ctx, message));
  if (IsTradingHalted(k, ctx, message)) {
    return Error::New("trading is halted, can't process swap");
  }
  KEEPER_RETURN_IF_ERROR(CheckDerived(k, ctx, message));
  KEEPER_RETURN_IF_ERROR(CheckAggregator(k, ctx, message));
  KEEPER_RETURN_IF_ERROR(CheckTargetKind(message.target_asset));
  Coin source = message.tx.coins.front();
  if (IsClassicStreaming(message)) {
    KEEPER_ASSIGN_OR_RETURN(const StreamingCheck streaming, CheckStreaming(k, ctx, message));
    if (streaming.started) return {};
    source.amount = streaming.deposit;
  }
  if (!message.target_asset.IsSynthetic()) return {};
  return CheckSynthTarget(k, ctx, source, message.target_asset);
}

}  // namespace blockreplay::keeper::thorchain
