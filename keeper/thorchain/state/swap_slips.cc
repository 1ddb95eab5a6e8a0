#include "keeper/thorchain/state/swap_slips.h"

#include <algorithm>
#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kPrefix = "pool_swap_slip/";
constexpr std::string_view kLongPrefix = "pool_swap_slip_long/";
constexpr std::string_view kSnapshotPrefix = "pool_swap_slip_ss/";

std::string BlockKey(int64_t height, std::string_view asset) {
  return StoreKey(kPrefix, std::to_string(height), "-", asset);
}
std::string RollupKey(std::string_view asset) { return StoreKey(kPrefix, "rollup/", asset); }

// Zero if there is none.
int64_t Read(const Keeper& k, const Context& ctx, std::string_view key) {
  int64_t value = 0;
  GetInt64(k, ctx, key, &value);
  return value;
}

}  // namespace

void AddToSwapSlip(const Keeper& k, const Context& ctx, const Asset& asset, int64_t slip) {
  const std::string key = BlockKey(ctx.height(), asset.ToString());
  SetInt64(k, ctx, key, Read(k, ctx, key) + slip);
}

int64_t GetCurrentRollup(const Keeper& k, const Context& ctx, const Asset& asset) {
  return Read(k, ctx, RollupKey(asset.ToString()));
}

void RollUpSwapSlip(const Keeper& k, const Context& ctx, const Asset& asset, int64_t blocks) {
  const std::string text = asset.ToString();
  const std::string count_key = StoreKey(kPrefix, "rollup-count/", text);
  const std::string rollup_key = RollupKey(text);
  int64_t count = Read(k, ctx, count_key);
  int64_t rollup = Read(k, ctx, rollup_key);
  if (count > blocks) {
    SetInt64(k, ctx, count_key, 0);
    SetInt64(k, ctx, rollup_key, 0);
    return;
  }
  rollup += Read(k, ctx, BlockKey(ctx.height() - 1, text));
  ++count;
  if (count > blocks) {
    const std::string oldest = BlockKey(ctx.height() - blocks, text);
    rollup -= Read(k, ctx, oldest);
    --count;
    DeleteKey(k, ctx, oldest);
    // Before it is cut at zero.
    if (blocks > 0 && ctx.height() % blocks == 0) {
      SetInt64(k, ctx, StoreKey(kSnapshotPrefix, text, "/", std::to_string(ctx.height())), rollup);
    }
  }
  SetInt64(k, ctx, count_key, count);
  SetInt64(k, ctx, rollup_key, std::max<int64_t>(rollup, 0));
}

int64_t GetLongRollup(const Keeper& k, const Context& ctx, const Asset& asset) {
  return Read(k, ctx, StoreKey(kLongPrefix, asset.ToString()));
}

void SetLongRollup(const Keeper& k, const Context& ctx, const Asset& asset, int64_t slip) {
  SetInt64(k, ctx, StoreKey(kLongPrefix, asset.ToString()), slip);
}

std::string SwapSlipSnapshotPrefix(const Asset& asset) {
  return StoreKey(kSnapshotPrefix, asset.ToString());
}

}  // namespace blockreplay::keeper::thorchain
