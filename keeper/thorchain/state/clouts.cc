#include "keeper/thorchain/state/clouts.h"

#include <algorithm>

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kCloutPrefix = "sclout/";

}  // namespace

Result<SwapperClout> GetSwapperClout(const Keeper& k, const Context& ctx, const Address& address) {
  SwapperClout clout;
  if (!address.IsEmpty()) {
    const Result<bool> found =
        GetRecord(k, ctx, StoreKey(kCloutPrefix, address.ToString()), &clout);
    if (!found.ok()) return found.error();
    if (*found) return clout;
  }
  clout.address = address;
  return clout;
}

void SetSwapperClout(const Keeper& k, const Context& ctx, const SwapperClout& clout) {
  SetRecord(k, ctx, StoreKey(kCloutPrefix, clout.address.ToString()), clout);
}

Uint AvailableClout(const SwapperClout& clout) {
  return SafeSub(clout.score, ClaimableClout(clout));
}

Uint ClaimableClout(const SwapperClout& clout) { return SafeSub(clout.spent, clout.reclaimed); }

void ReclaimClout(SwapperClout* clout, const Uint& value) {
  clout->reclaimed = std::min(clout->reclaimed + value, clout->spent);
}

void RestoreClout(SwapperClout* clout, int64_t height, int64_t limit) {
  if (clout->last_spent_height + limit < height) clout->reclaimed = clout->spent;
}

}  // namespace blockreplay::keeper::thorchain
