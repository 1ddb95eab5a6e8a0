#include "keeper/thorchain/state/tcy.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/state/funds.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kClaimerPrefix = "tcy_claimer/";

std::string StakerKey(const Address& address) {
  return StoreKey("tcy_staker/", address.ToString());
}

}  // namespace

Result<std::vector<TCYClaimer>> ListTcyClaims(const Keeper& k, const Context& ctx,
                                              const Address& l1_address) {
  std::vector<TCYClaimer> claims;
  // Without a slash behind the address, as in the node: longer addresses match too.
  const std::string prefix = StoreKey(kClaimerPrefix, l1_address.ToString());
  for (auto it = k.kv(ctx).IteratePrefix(prefix); it.Valid(); it.Next()) {
    TCYClaimer claim;
    if (Decode(it.value(), &claim)) claims.push_back(std::move(claim));
  }
  if (claims.empty()) {
    return Error::New(
        sdk::StrCat("l1 address: (", l1_address.ToString(), ") doesn't have any tcy to claim"));
  }
  return claims;
}

void DeleteTcyClaim(const Keeper& k, const Context& ctx, const TCYClaimer& claim) {
  DeleteKey(k, ctx,
            StoreKey(kClaimerPrefix, claim.l1_address.ToString(), "/", claim.asset.ToString()));
}

bool IsTcyContract(const Keeper& k, const Address& address) {
  const auto& contracts = k.build->tcy_contracts;
  return std::find(contracts.begin(), contracts.end(), address.ToString()) != contracts.end();
}

Result<TCYStaker> GetTcyStaker(const Keeper& k, const Context& ctx, const Address& address) {
  TCYStaker staker;
  staker.address = address;
  if (IsTcyContract(k, address)) {
    const auto account = address.ToAccAddress(k.network());
    if (!account.ok()) return Error::New(std::string(account.status().message()));
    staker.amount = Uint(GetBalanceOf(k, ctx, *account, assets::kTCY).ToUint64());
    return staker;
  }
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, StakerKey(address), &staker));
  if (!found) return Error::New(sdk::StrCat("TCYStaker doesn't exist: ", address.ToString()));
  return staker;
}

void SetTcyStaker(const Keeper& k, const Context& ctx, const TCYStaker& staker) {
  if (IsTcyContract(k, staker.address)) return;
  SetRecord(k, ctx, StakerKey(staker.address), staker);
}

void DeleteTcyStaker(const Keeper& k, const Context& ctx, const Address& address) {
  if (IsTcyContract(k, address)) return;
  DeleteKey(k, ctx, StakerKey(address));
}

Error AddTcyStake(const Keeper& k, const Context& ctx, const Address& address, const Uint& amount) {
  TCYStaker staker;
  staker.address = address;
  staker.amount = amount;
  if (IsTcyContract(k, address) || HasKey(k, ctx, StakerKey(address))) {
    KEEPER_ASSIGN_OR_RETURN(const TCYStaker before, GetTcyStaker(k, ctx, address));
    staker.amount += before.amount;
  }
  SetTcyStaker(k, ctx, staker);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
