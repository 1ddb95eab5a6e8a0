#include "keeper/thorchain/managers/secured_assets.h"

#include <string>
#include <utility>

#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/secured_assets.h"

namespace blockreplay::keeper::thorchain {
namespace {

Uint CalcMintAmount(const Uint& supply, const Uint& depth, const Uint& amount) {
  if (supply.IsZero() || depth.IsZero()) return amount;
  return GetUncappedShare(amount, depth, supply);
}

void EmitEvent(const Keeper& k, const Context& ctx, std::string type, const Uint& amount,
               const Asset& asset, const AccAddress& owner, const Address& asset_address,
               const TxID& tx_id) {
  ctx.events().Emit(sdk::Event(std::move(type), {{"amount", amount.ToString()},
                                                 {"asset", asset.ToString()},
                                                 {"rune_address", ToText(k, owner)},
                                                 {"asset_address", asset_address.ToString()},
                                                 {"tx_id", tx_id.ToString()}}));
}

}  // namespace

Uint SecuredAssetBalance(const Keeper& k, const Context& ctx, const Asset& asset,
                         const AccAddress& owner) {
  const Asset secured = asset.GetSecuredAsset();
  const Result<SecuredAsset> record = GetSecuredAsset(k, ctx, secured);
  if (!record.ok()) return Uint();
  const Uint shares = GetBalanceOf(k, ctx, owner, secured);
  const Uint supply = GetTotalSupply(k, ctx, secured);
  return GetSafeShare(shares, supply, record->depth);
}

Result<Coin> DepositSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset,
                                 const Uint& amount, const AccAddress& owner,
                                 const Address& asset_address, const TxID& tx_id) {
  KEEPER_RETURN_IF_ERROR(CheckSecuredAssetHalt(k, ctx));
  if (asset.IsNative()) return Error::New("native assets cannot be deposited");
  const Asset secured = asset.GetSecuredAsset();
  KEEPER_ASSIGN_OR_RETURN(SecuredAsset record, GetSecuredAsset(k, ctx, secured));
  const Uint supply = GetTotalSupply(k, ctx, secured);
  Coin minted(secured, CalcMintAmount(supply, record.depth, amount));
  KEEPER_RETURN_IF_ERROR(MintAndSendToAccount(k, ctx, owner, minted));
  record.depth += amount;
  SetSecuredAsset(k, ctx, record);
  EmitEvent(k, ctx, "secured_asset_deposit", amount, secured, owner, asset_address, tx_id);
  return minted;
}

Result<Coin> WithdrawSecuredAsset(const Keeper& k, const Context& ctx, const Asset& asset,
                                  const Uint& amount, const AccAddress& owner,
                                  const Address& asset_address, const TxID& tx_id) {
  KEEPER_RETURN_IF_ERROR(CheckSecuredAssetHalt(k, ctx));
  if (!asset.IsSecured()) return Error::New("only secured assets can be withdrawn");
  KEEPER_ASSIGN_OR_RETURN(SecuredAsset record, GetSecuredAsset(k, ctx, asset));
  const Uint supply = GetTotalSupply(k, ctx, asset);
  const Uint shares = GetBalanceOf(k, ctx, owner, asset);
  const Uint available = GetSafeShare(shares, supply, record.depth);
  const Uint burnt = GetSafeShare(amount, available, shares);
  if (burnt.IsZero()) {
    return Error::New(sdk::StrCat("insufficient secured asset balance for ", asset.ToString(),
                                  ": requested ", amount.ToString(), ", available ",
                                  available.ToString()));
  }
  const Coin coin(asset, burnt);
  KEEPER_RETURN_IF_ERROR(SendFromAccountToModule(k, ctx, owner, kThorchainModule, {coin}));
  const Uint tokens = GetSafeShare(burnt, shares, available);
  KEEPER_RETURN_IF_ERROR(BurnFromModule(k, ctx, kThorchainModule, coin));
  record.depth = SafeSub(record.depth, tokens);
  SetSecuredAsset(k, ctx, record);
  EmitEvent(k, ctx, "secured_asset_withdraw", tokens, asset, owner, asset_address, tx_id);
  return Coin(asset.GetLayer1Asset(), tokens);
}

Error CheckSecuredAssetHalt(const Keeper& k, const Context& ctx) {
  const int64_t height = GetMimir(k, ctx, "HaltSecuredGlobal");
  if (height > 0 && height <= ctx.height()) return Error::New("secured assets are disabled");
  return {};
}

}  // namespace blockreplay::keeper::thorchain
