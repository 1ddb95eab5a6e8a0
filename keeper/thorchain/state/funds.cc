#include "keeper/thorchain/state/funds.h"

#include <algorithm>
#include <array>
#include <string>

#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {

sdk::Coins ToBankCoins(const Coins& coins) {
  sdk::Coins out;
  out.reserve(coins.size());
  for (const Coin& coin : coins) {
    std::string denom = coin.asset.Native();
    if (!sdk::IsValidDenom(denom)) throw sdk::Panic(sdk::StrCat("invalid denom: ", denom));
    out.emplace_back(std::move(denom), sdk::Int::FromLimbs(coin.amount.limbs()));
  }
  return out;
}

Error SendFromModuleToModule(const Keeper& k, const Context& ctx, std::string_view from,
                             std::string_view to, const Coins& coins) {
  return k.bank->SendCoinsFromModuleToModule(ctx, from, to, ToBankCoins(coins));
}

Error SendFromAccountToModule(const Keeper& k, const Context& ctx, const AccAddress& from,
                              std::string_view to, const Coins& coins) {
  return k.bank->SendCoinsFromAccountToModule(ctx, from.bytes(), to, ToBankCoins(coins));
}

Error SendFromModuleToAccount(const Keeper& k, const Context& ctx, std::string_view from,
                              const AccAddress& to, const Coins& coins) {
  return k.bank->SendCoinsFromModuleToAccount(ctx, from, to.bytes(), ToBankCoins(coins));
}

AccAddress ModuleAccAddress(const Keeper& k, std::string_view module) {
  return AccAddress(k.auth->ModuleAddress(module));
}

Address ModuleAddress(const Keeper& k, std::string_view module) {
  return Address(ToText(k, ModuleAccAddress(k, module)));
}

bool IsModuleAccAddress(const Keeper& k, const AccAddress& address) {
  constexpr std::array kModules{kAsgardModule,
                                kBondModule,
                                kReserveModule,
                                kLendingModule,
                                kAffiliateCollectorModule,
                                kThorchainModule,
                                kTcyClaimingModule,
                                kTcyStakeModule,
                                kTreasuryModule};
  return std::any_of(kModules.begin(), kModules.end(), [&](std::string_view module) {
    return address.bytes() == k.auth->ModuleAddress(module);
  });
}

Uint GetBalanceOfModule(const Keeper& k, const Context& ctx, std::string_view module,
                        const std::string& denom) {
  return Uint::FromLimbs(
      k.bank->GetBalance(ctx, k.auth->ModuleAddress(module), denom).amount.Limbs());
}

Uint GetRuneBalanceOfModule(const Keeper& k, const Context& ctx, std::string_view module) {
  return GetBalanceOfModule(k, ctx, module, assets::kRune.Native());
}

bool HasCoins(const Keeper& k, const Context& ctx, const AccAddress& address,
              const sdk::Coins& coins) {
  const sdk::Coins balances = k.bank->GetAllBalances(ctx, address.bytes());
  return std::all_of(coins.begin(), coins.end(), [&](const sdk::Coin& coin) {
    return std::any_of(balances.begin(), balances.end(), [&](const sdk::Coin& balance) {
      return balance.denom == coin.denom && balance.amount >= coin.amount;
    });
  });
}

Error MintToModule(const Keeper& k, const Context& ctx, std::string_view module, Coin coin) {
  const std::string_view max_supply = ToString(ConstantName::kMaxRuneSupply);
  const int64_t limit = GetMimir(k, ctx, max_supply);
  if (coin.IsRune() && limit > 0) {
    const Uint room =
        SafeSub(Uint(static_cast<uint64_t>(limit)), GetTotalSupply(k, ctx, assets::kRune));
    if (room < coin.amount) {
      KEEPER_RETURN_IF_ERROR(SendFromModuleToModule(k, ctx, kReserveModule, module,
                                                    {Coin(assets::kRune, coin.amount - room)}));
      coin.amount = room;
    }
  }
  if (coin.amount.IsZero()) return {};
  if (!coin.IsNative()) return Error::New("fail to parse coins: coin is not on thorchain");
  if (Error error = k.bank->MintCoins(ctx, module, ToBankCoins({coin})); error) {
    return Error::Opaque("fail to mint assets", error);
  }
  const sdk::Coin supply = k.bank->GetSupply(ctx, assets::kRune.Native());
  const int64_t limit_now = GetMimir(k, ctx, max_supply);
  if (limit_now > 0 &&
      Uint::FromLimbs(supply.amount.Limbs()) > Uint(static_cast<uint64_t>(limit_now))) {
    for (const char* key : {"HaltTrading", "HaltChainGlobal", "PauseLP", "HaltTHORChain"}) {
      SetMimir(k, ctx, key, 1);
    }
  }
  return {};
}

Error BurnFromModule(const Keeper& k, const Context& ctx, std::string_view module,
                     const Coin& coin) {
  if (!coin.IsNative()) return Error::New("fail to parse coins: coin is not on thorchain");
  if (Error error = k.bank->BurnCoins(ctx, module, ToBankCoins({coin})); error) {
    return Error::Opaque("fail to burn assets", error);
  }
  return {};
}

Error MintAndSendToAccount(const Keeper& k, const Context& ctx, const AccAddress& to,
                           const Coin& coin) {
  KEEPER_RETURN_IF_ERROR(MintToModule(k, ctx, kThorchainModule, coin));
  return SendFromModuleToAccount(k, ctx, kThorchainModule, to, {coin});
}

Uint GetBalanceOf(const Keeper& k, const Context& ctx, const AccAddress& address,
                  const Asset& asset) {
  return Uint::FromLimbs(k.bank->GetBalance(ctx, address.bytes(), asset.Native()).amount.Limbs());
}

Uint GetTotalSupply(const Keeper& k, const Context& ctx, const Asset& asset) {
  int64_t ragnarok = 0;
  GetInt64(k, ctx, StoreKey("ragnarokPool/", asset.GetLayer1Asset().ToString()), &ragnarok);
  if (ragnarok > 0) return Uint();
  return Uint(Uint::FromLimbs(k.bank->GetSupply(ctx, asset.Native()).amount.Limbs()).ToUint64());
}

Uint GetNativeTxFee(const Keeper& k, const Context& ctx) {
  if (GetMimir(k, ctx, ToString(ConstantName::kEnableUSDFees)) > 0) {
    return DollarConfigInRune(k, ctx, ConstantName::kNativeTransactionFeeUSD);
  }
  return Uint(static_cast<uint64_t>(GetConfigInt64(k, ctx, ConstantName::kNativeTransactionFee)));
}

Error DeductNativeTxFee(const Keeper& k, const Context& ctx, const AccAddress& account) {
  const Uint fee = GetNativeTxFee(k, ctx);
  if (fee.IsZero()) return {};
  return SendFromAccountToModule(k, ctx, account, kReserveModule, Coins{Coin(assets::kRune, fee)});
}

}  // namespace blockreplay::keeper::thorchain
