#include "keeper/thorchain/state/last_heights.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string ChainKey(const Chain& chain) {
  return StoreKey("last_chain_height/", chain.ToString());
}
std::string ObserveKey(const Keeper& k, const Chain& chain, const AccAddress& node) {
  return StoreKey("last_observe_height/", ToText(k, node), "/", chain.ToString());
}
std::string SignedKey() { return StoreKey("last_signed_height/"); }

}  // namespace

int64_t GetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain) {
  int64_t height = 0;
  GetInt64(k, ctx, ChainKey(chain), &height);
  return height;
}

void SetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain, int64_t height) {
  if (GetLastChainHeight(k, ctx, chain) > height) return;
  ForceSetLastChainHeight(k, ctx, chain, height);
}

void ForceSetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                             int64_t height) {
  SetInt64(k, ctx, ChainKey(chain), height);
}

void SetLastObserveHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                          const AccAddress& node, int64_t height) {
  const std::string key = ObserveKey(k, chain, node);
  int64_t last = 0;
  if (GetInt64(k, ctx, key, &last) && last > height) return;
  SetInt64(k, ctx, key, height);
}

void ForceSetLastObserveHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                               const AccAddress& node, int64_t height) {
  SetInt64(k, ctx, ObserveKey(k, chain, node), height);
}

int64_t GetLastSignedHeight(const Keeper& k, const Context& ctx) {
  int64_t height = 0;
  GetInt64(k, ctx, SignedKey(), &height);
  return height;
}

void SetLastSignedHeight(const Keeper& k, const Context& ctx, int64_t height) {
  if (GetLastSignedHeight(k, ctx) > height) return;
  SetInt64(k, ctx, SignedKey(), height);
}

}  // namespace blockreplay::keeper::thorchain
