#include "keeper/thorchain/state/rune_pool.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kPoolPrefix = "rune_pool/";

std::string ProviderKey(const Keeper& k, const AccAddress& address) {
  return StoreKey("rune_provider/", ToText(k, address));
}

}  // namespace

Result<RUNEPool> GetRunePool(const Keeper& k, const Context& ctx) {
  RUNEPool pool;
  const Result<bool> found = GetRecord(k, ctx, StoreKey(kPoolPrefix), &pool);
  if (!found.ok()) return found.error();
  return pool;
}

void SetRunePool(const Keeper& k, const Context& ctx, const RUNEPool& pool) {
  SetRecord(k, ctx, StoreKey(kPoolPrefix), pool);
}

Result<RUNEProvider> GetRuneProvider(const Keeper& k, const Context& ctx,
                                     const AccAddress& address) {
  RUNEProvider provider;
  provider.rune_address = address;
  const Result<bool> found = GetRecord(k, ctx, ProviderKey(k, address), &provider);
  if (!found.ok()) return found.error();
  return provider;
}

void SetRuneProvider(const Keeper& k, const Context& ctx, const RUNEProvider& provider) {
  SetRecord(k, ctx, ProviderKey(k, provider.rune_address), provider);
}

}  // namespace blockreplay::keeper::thorchain
