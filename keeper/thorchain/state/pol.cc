#include "keeper/thorchain/state/pol.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kPolPrefix = "pol/";

}  // namespace

Result<ProtocolOwnedLiquidity> GetPol(const Keeper& k, const Context& ctx) {
  ProtocolOwnedLiquidity pol;
  const Result<bool> found = GetRecord(k, ctx, StoreKey(kPolPrefix), &pol);
  if (!found.ok()) return found.error();
  return pol;
}

void SetPol(const Keeper& k, const Context& ctx, const ProtocolOwnedLiquidity& pol) {
  SetRecord(k, ctx, StoreKey(kPolPrefix), pol);
}

}  // namespace blockreplay::keeper::thorchain
