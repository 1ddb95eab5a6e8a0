#include "keeper/thorchain/state/secured_assets.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string SecuredAssetKey(const Asset& asset) { return StoreKey("sa/", asset.ToString()); }

}  // namespace

Result<SecuredAsset> GetSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset) {
  SecuredAsset secured;
  const Result<bool> found = GetRecord(k, ctx, SecuredAssetKey(asset), &secured);
  if (!found.ok()) return found.error();
  if (!*found) secured.asset = asset;
  return secured;
}

void SetSecuredAsset(const Keeper& k, const Context& ctx, const SecuredAsset& secured) {
  SetRecord(k, ctx, SecuredAssetKey(secured.asset), secured);
}

}  // namespace blockreplay::keeper::thorchain
