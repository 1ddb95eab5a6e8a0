#include "keeper/thorchain/state/adv_swap_queue.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/swap_queue.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Prices in keys have as many digits, so that keys sort by them.
constexpr size_t kRatioLength = 18;

std::string ItemKey(const TxID& hash, int64_t index) {
  return StoreKey(kAdvSwapQueuePrefix, SwapItemName(hash, index));
}

std::string IndexKey(const MsgSwap& swap) {
  if (swap.swap_type == SwapType::market) return StoreKey(kAdvSwapQueueMarketPrefix);
  if (swap.swap_type != SwapType::limit) return {};
  const Coin& source = swap.tx.coins.front();
  std::string ratio =
      swap.trade_target.IsZero()
          ? "0"
          : (source.amount * Uint(uint64_t{100'000'000}) / swap.trade_target).ToString();
  // Longer ones are cut at their end, as the node does it.
  if (ratio.size() < kRatioLength) ratio.insert(0, kRatioLength - ratio.size(), '0');
  ratio.resize(kRatioLength);
  return StoreKey(kAdvSwapQueueLimitPrefix, source.asset.GetLayer1Asset().ToString(), ">",
                  swap.target_asset.GetLayer1Asset().ToString(), "/", ratio, "/");
}

std::string NameOf(const MsgSwap& swap) { return SwapItemName(swap.tx.id, swap.index); }

std::vector<std::string>::iterator Find(std::vector<std::string>& names, const std::string& name) {
  return std::find_if(names.begin(), names.end(),
                      [&](const std::string& known) { return EqualFold(known, name); });
}

void AddToIndex(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  const std::string key = IndexKey(swap);
  const std::string name = NameOf(swap);
  std::vector<std::string> names;
  GetStrings(k, ctx, key, &names);
  if (Find(names, name) != names.end()) return;
  // The node reads it again.
  names.clear();
  GetStrings(k, ctx, key, &names);
  names.push_back(name);
  SetStrings(k, ctx, key, names);
}

// Go's strconv.Atoi.
std::optional<int64_t> ParseIndex(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

}  // namespace

bool IsAdvSwapQueueEnabled(const Keeper& k, const Context& ctx) {
  return GetConfigInt64(k, ctx, ConstantName::kEnableAdvSwapQueue) != kAdvSwapQueueDisabled;
}

Error SetAdvSwapQueueItem(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  if (swap.tx.coins.size() != 1) {
    return Error::New(
        sdk::StrCat("incorrect number of coins in transaction (", swap.tx.coins.size(), ")"));
  }
  if (swap.tx.id.IsEmpty()) return Error::New("invalid tx hash");
  AddToIndex(k, ctx, swap);
  SetRecord(k, ctx, ItemKey(swap.tx.id, swap.index), swap);
  return {};
}

Result<MsgSwap> GetAdvSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash,
                                    int64_t index) {
  MsgSwap swap;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, ItemKey(hash, index), &swap));
  if (!found) return Error::New("not found");
  return swap;
}

Error RemoveAdvSwapQueueItem(const Keeper& k, const Context& ctx, const TxID& hash, int64_t index) {
  const Result<MsgSwap> swap = GetAdvSwapQueueItem(k, ctx, hash, index);
  Error error = swap.ok() ? RemoveAdvSwapQueueIndex(k, ctx, *swap) : swap.error();
  DeleteKey(k, ctx, ItemKey(hash, index));
  return error;
}

std::vector<AdvSwapQueueIndexItem> GetAdvSwapQueueIndex(const Keeper& k, const Context& ctx,
                                                        const MsgSwap& swap) {
  std::vector<std::string> names;
  GetStrings(k, ctx, IndexKey(swap), &names);
  std::vector<AdvSwapQueueIndexItem> items;
  for (const std::string& name : names) {
    // Hashes can hold a hyphen themselves.
    const size_t hyphen = name.rfind('-');
    if (hyphen == std::string::npos) continue;
    absl::StatusOr<TxID> hash = TxID::Parse(std::string_view(name).substr(0, hyphen));
    const std::optional<int64_t> index = ParseIndex(std::string_view(name).substr(hyphen + 1));
    if (hash.ok() && index) items.push_back({*std::move(hash), *index});
  }
  return items;
}

Error RemoveAdvSwapQueueIndex(const Keeper& k, const Context& ctx, const MsgSwap& swap) {
  if (swap.tx.coins.empty()) {
    return Error::New("cannot remove swap queue index: msg has no coins");
  }
  const std::string key = IndexKey(swap);
  std::vector<std::string> names;
  GetStrings(k, ctx, key, &names);
  const auto found = Find(names, NameOf(swap));
  const bool was_there = found != names.end();
  if (was_there) {
    // The last one takes its place.
    std::swap(*found, names.back());
    names.pop_back();
  }
  if (names.empty()) {
    DeleteKey(k, ctx, key);
  } else if (was_there) {
    SetStrings(k, ctx, key, names);
  }
  return {};
}

Error AddToLimitSwapTtl(const Keeper& k, const Context& ctx, int64_t height, const TxID& hash) {
  if (height <= 0) return Error::New(sdk::StrCat("invalid block height: ", height));
  const std::string key = StoreKey(kAdvSwapQueueTtlPrefix, std::to_string(height));
  std::vector<std::string> stored;
  GetStrings(k, ctx, key, &stored);
  std::vector<std::string> hashes;
  for (const std::string& text : stored) {
    const absl::StatusOr<TxID> known = TxID::Parse(text);
    if (!known.ok()) continue;
    if (*known == hash) return {};
    hashes.push_back(known->ToString());
  }
  hashes.push_back(hash.ToString());
  SetStrings(k, ctx, key, hashes);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
