#include "keeper/thorchain/state/observing_addresses.h"

#include <set>
#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key() { return StoreKey("observing_addresses/"); }

}  // namespace

std::vector<AccAddress> GetObservingAddresses(const Keeper& k, const Context& ctx) {
  std::vector<AccAddress> addresses;
  GetAccAddresses(k, ctx, Key(), &addresses);
  return addresses;
}

void AddObservingAddresses(const Keeper& k, const Context& ctx,
                           const std::vector<AccAddress>& addresses) {
  if (addresses.empty()) return;
  std::vector<AccAddress> all = GetObservingAddresses(k, ctx);
  all.insert(all.end(), addresses.begin(), addresses.end());
  std::set<AccAddress> seen;
  std::erase_if(all, [&](const AccAddress& address) { return !seen.insert(address).second; });
  SetAccAddresses(k, ctx, Key(), all);
}

void ClearObservingAddresses(const Keeper& k, const Context& ctx) { DeleteKey(k, ctx, Key()); }

}  // namespace blockreplay::keeper::thorchain
