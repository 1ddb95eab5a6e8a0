#include "keeper/thorchain/state/observed_links.h"

#include <algorithm>
#include <string>
#include <utility>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const TxID& in_hash) { return StoreKey("ob_link/", in_hash.ToString()); }

}  // namespace

void SetObservedLink(const Keeper& k, const Context& ctx, const TxID& in_hash,
                     const TxID& out_hash) {
  const std::string key = Key(in_hash);
  std::vector<std::string> hashes;
  GetStrings(k, ctx, key, &hashes);
  if (std::find(hashes.begin(), hashes.end(), out_hash.ToString()) != hashes.end()) return;
  hashes.push_back(out_hash.ToString());
  SetStrings(k, ctx, key, hashes);
}

std::vector<TxID> GetObservedLink(const Keeper& k, const Context& ctx, const TxID& in_hash) {
  std::vector<std::string> texts;
  GetStrings(k, ctx, Key(in_hash), &texts);
  std::vector<TxID> hashes;
  for (const std::string& text : texts) {
    if (absl::StatusOr<TxID> hash = TxID::Parse(text); hash.ok()) {
      hashes.push_back(*std::move(hash));
    }
  }
  return hashes;
}

}  // namespace blockreplay::keeper::thorchain
