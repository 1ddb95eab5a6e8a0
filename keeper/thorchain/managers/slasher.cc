#include "keeper/thorchain/managers/slasher.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

void Halt(const Keeper& k, const Context& ctx, const std::string& key) {
  SetMimir(k, ctx, key, ctx.height());
  ctx.events().Emit(
      sdk::Event("set_mimir", {{"key", key}, {"value", std::to_string(ctx.height())}}));
}

// The member's share of what all of them have to pay; at most its bond.
Uint SlashBond(const Keeper& k, const Context& ctx, NodeAccount account, const Uint& total_bond,
               const Uint& total) {
  const Uint amount = std::min(GetSafeShare(account.bond, total_bond, total), account.bond);
  account.bond = SafeSub(account.bond, amount);
  EmitBondEvent(k, ctx, amount, BondType::bond_cost, Tx(), account.node_address, AccAddress());
  SetNodeAccount(k, ctx, account);
  return amount;
}

// The pool is paid in RUNE for the coins that it has lost.
void CreditPool(const Keeper& k, const Context& ctx, Pool pool, const Uint& lost,
                const Uint& rune) {
  pool.balance_asset = SafeSub(pool.balance_asset, lost);
  pool.balance_rune += rune;
  (void)SetPool(k, ctx, pool);
  ctx.events().Emit(sdk::Event(
      "slash",
      {{"pool", pool.asset.ToString()},
       {pool.asset.ToString(), std::to_string(-static_cast<int64_t>(lost.ToUint64()))},
       {assets::kRune.ToString(), std::to_string(static_cast<int64_t>(rune.ToUint64()))}}));
}

void SlashCoin(const Keeper& k, const Context& ctx, const Vault& vault,
               const std::vector<PubKey>& members, const Uint& total_bond, const Coin& coin) {
  Result<Pool> pool = GetPool(k, ctx, coin.asset);
  if (!pool.ok() || pool->asset.IsEmpty()) return;
  const Uint lost =
      std::min({coin.amount, GetVaultCoin(vault, coin.asset).amount, pool->balance_asset});
  const Uint value = AssetValueInRune(*pool, lost);
  if (value.IsZero()) return;

  const Uint to_slash = GetUncappedShare(
      Uint(static_cast<uint64_t>(GetConfigInt64(k, ctx, ConstantName::kSlashPenalty))),
      Uint(kMaxBasisPoints), value);
  const int64_t threshold = GetConfigInt64(k, ctx, ConstantName::kPauseOnSlashThreshold);
  if (threshold > 0 && to_slash >= Uint(static_cast<uint64_t>(threshold))) {
    Halt(k, ctx, "HaltSigning" + coin.asset.chain.ToString());
    Halt(k, ctx, sdk::StrCat("Halt", coin.asset.chain.ToString(), "Trading"));
  }
  Uint slashed;
  for (const PubKey& member : members) {
    Result<NodeAccount> account = GetNodeAccountByPubKey(k, ctx, member);
    if (!account.ok() || account->bond.IsZero()) continue;
    slashed += SlashBond(k, ctx, *std::move(account), total_bond, to_slash);
  }

  // The penalty above the value is the reserve's.
  const Uint to_pool = std::min(value, slashed);
  const Uint to_reserve = SafeSub(slashed, to_pool);
  if (!to_reserve.IsZero()) {
    (void)SendFromModuleToModule(k, ctx, kBondModule, kReserveModule,
                                 {Coin(assets::kRune, to_reserve)});
  }
  if (!to_pool.IsZero()) {
    (void)SendFromModuleToModule(k, ctx, kBondModule, kAsgardModule,
                                 {Coin(assets::kRune, to_pool)});
    CreditPool(k, ctx, *std::move(pool), lost, to_pool);
  }
}

}  // namespace

Error SlashVault(Managers& mgr, const Context& ctx, const PubKey& vault_key, const Coins& coins) {
  const Keeper& k = *mgr.keeper;
  if (coins.IsEmpty()) return {};
  const Result<Vault> vault = GetVault(k, ctx, vault_key);
  if (!vault.ok()) {
    return Error::Opaque(sdk::StrCat("fail to get slash vault (pubkey ", vault_key.ToString(), ")"),
                         vault.error());
  }
  const std::vector<PubKey> members = GetMembership(k, *vault);
  Uint total_bond;
  for (const PubKey& member : members) {
    const Result<SharedNodeAccount> account = ReadNodeAccountByPubKey(k, ctx, member);
    if (account.ok()) total_bond += (*account)->bond;
  }
  for (const Coin& coin : coins) {
    if (!coin.IsEmpty()) SlashCoin(k, ctx, *vault, members, total_bond, coin);
  }
  return {};
}

}  // namespace blockreplay::keeper::thorchain
