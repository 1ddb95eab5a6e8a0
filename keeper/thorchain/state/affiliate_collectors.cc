#include "keeper/thorchain/state/affiliate_collectors.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const Keeper& k, const AccAddress& owner) {
  return StoreKey("affcol/", ToText(k, owner));
}

}  // namespace

Result<AffiliateFeeCollector> GetAffiliateCollector(const Keeper& k, const Context& ctx,
                                                    const AccAddress& owner) {
  AffiliateFeeCollector collector;
  collector.owner_address = owner;
  const Result<bool> found = GetRecord(k, ctx, Key(k, owner), &collector);
  if (!found.ok()) return found.error();
  return collector;
}

void SetAffiliateCollector(const Keeper& k, const Context& ctx,
                           const AffiliateFeeCollector& collector) {
  SetRecord(k, ctx, Key(k, collector.owner_address), collector);
}

}  // namespace blockreplay::keeper::thorchain
