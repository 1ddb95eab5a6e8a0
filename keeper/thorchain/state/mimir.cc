#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

// A mimir that holds the height from which something is halted.
bool IsHaltedFrom(const Keeper& k, const Context& ctx, std::string_view key) {
  const int64_t height = GetMimir(k, ctx, key);
  return height > 0 && height <= ctx.height();
}

}  // namespace

int64_t GetMimir(const Keeper& k, const Context& ctx, std::string_view key) {
  int64_t value = -1;
  GetInt64(k, ctx, StoreKey(kMimirPrefix, key), &value);
  if (value == -1 && k.network().IsMockNet()) {
    const std::optional<ConstantSet::MimirFallback> fallback = k.constants().GetMimirFallback(key);
    if (fallback && fallback->is_number) return fallback->value;
  }
  return value;
}

void SetMimir(const Keeper& k, const Context& ctx, std::string_view key, int64_t value) {
  SetInt64(k, ctx, StoreKey(kMimirPrefix, key), value);
}

void DeleteMimir(const Keeper& k, const Context& ctx, std::string_view key) {
  DeleteKey(k, ctx, StoreKey(kMimirPrefix, key));
}

int64_t GetConfigInt64(const Keeper& k, const Context& ctx, ConstantName name) {
  const int64_t value = GetMimir(k, ctx, ToString(name));
  return value < 0 ? k.constants().GetInt64(name) : value;
}

bool IsRagnarokInProgress(const Keeper& k, const Context& ctx) {
  int64_t height = 0;
  GetInt64(k, ctx, StoreKey(kRagnarokHeightPrefix), &height);
  return height > 0;
}

bool IsGlobalTradingHalted(const Keeper& k, const Context& ctx) {
  return IsRagnarokInProgress(k, ctx) || IsHaltedFrom(k, ctx, "HaltTrading");
}

bool IsChainTradingHalted(const Keeper& k, const Context& ctx, const Chain& chain) {
  return IsHaltedFrom(k, ctx, sdk::StrCat("Halt", chain.ToString(), "Trading")) ||
         IsChainHalted(k, ctx, chain);
}

bool IsChainHalted(const Keeper& k, const Context& ctx, const Chain& chain) {
  if (IsHaltedFrom(k, ctx, "HaltChainGlobal")) return true;
  // Paused until this height. Not set is -1, which no height reaches.
  if (GetMimir(k, ctx, "NodePauseChainGlobal") >= ctx.height()) return true;
  return IsHaltedFrom(k, ctx, sdk::StrCat("Halt", chain.ToString(), "Chain")) ||
         IsHaltedFrom(k, ctx, sdk::StrCat("SolvencyHalt", chain.ToString(), "Chain"));
}

}  // namespace blockreplay::keeper::thorchain
