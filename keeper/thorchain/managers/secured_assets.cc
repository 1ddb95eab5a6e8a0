#include "keeper/thorchain/managers/secured_assets.h"

namespace blockreplay::keeper::thorchain {

Result<Uint> SecuredAssetBalance(const Keeper&, const Context&, const Asset&, const AccAddress&) {
  throw sdk::NotNative("secured_assets");
}
Result<Coin> DepositSecuredAsset(Managers&, const Context&, const Asset&, const Uint&,
                                 const AccAddress&, const Address&, const TxID&) {
  throw sdk::NotNative("secured_assets");
}
Result<Coin> WithdrawSecuredAsset(Managers&, const Context&, const Asset&, const Uint&,
                                  const AccAddress&, const Address&, const TxID&) {
  throw sdk::NotNative("secured_assets");
}
Error CheckSecuredAssetHalt(const Keeper&, const Context&) {
  throw sdk::NotNative("secured_assets");
}

}  // namespace blockreplay::keeper::thorchain
