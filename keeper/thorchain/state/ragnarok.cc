#include "keeper/thorchain/state/ragnarok.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kPendingPrefix = "ragnarokPending/";

}  // namespace

int64_t GetRagnarokPending(const Keeper& k, const Context& ctx) {
  int64_t pending = 0;
  GetInt64(k, ctx, StoreKey(kPendingPrefix), &pending);
  return pending;
}

void SetRagnarokPending(const Keeper& k, const Context& ctx, int64_t pending) {
  SetInt64(k, ctx, StoreKey(kPendingPrefix), pending);
}

}  // namespace blockreplay::keeper::thorchain
