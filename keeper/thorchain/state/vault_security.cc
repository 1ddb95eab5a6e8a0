#include "keeper/thorchain/state/vault_security.h"

#include <algorithm>
#include <utility>

#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/scheduled_outbounds.h"

namespace blockreplay::keeper::thorchain {
namespace {

Uint TotalBond(const Keeper& k, const Context& ctx, const Vault& vault) {
  Uint total;
  for (const PubKey& key : GetMembership(k, vault)) {
    const Result<SharedNodeAccount> node = ReadNodeAccountByPubKey(k, ctx, key);
    if (node.ok() && (*node)->status == NodeStatus::Active) total += (*node)->bond;
  }
  return total;
}

// Zero if the pool can't be read.
Uint ValueInRune(const Keeper& k, const Context& ctx, const Coin& coin) {
  if (coin.IsRune()) return coin.amount;
  const Result<SharedPool> pool = ReadPool(k, ctx, coin.asset);
  return pool.ok() ? AssetValueInRune(**pool, coin.amount) : Uint();
}

// `outbounds` from height `first` to the present one.
Uint TotalValue(const Keeper& k, const Context& ctx, const Vault& vault, int64_t first,
                const ScheduledOutbounds& outbounds) {
  Uint total;
  for (const Coin& coin : vault.coins) {
    if (!coin.IsRune()) total += ValueInRune(k, ctx, coin);
  }
  for (int64_t height = first; height <= ctx.height(); ++height) {
    const Result<SharedTxOut> tx_out = outbounds.At(height);
    if (!tx_out.ok()) continue;
    for (const TxOutItem& item : (*tx_out)->tx_array) {
      if (!item.out_hash.IsEmpty()) continue;
      const Result<Address> address = GetVaultAddress(k, vault, item.coin.asset.GetChain());
      if (!address.ok()) continue;
      if (item.vault_pub_key == vault.pub_key) {
        total = SafeSub(total, ValueInRune(k, ctx, item.coin));
      } else if (item.to_address == *address) {
        total += ValueInRune(k, ctx, item.coin);
      }
    }
  }
  return total;
}

bool IsLessSecure(const VaultSecurity& a, const VaultSecurity& b) {
  // a.bond - a.value < b.bond - b.value, without going below zero.
  const bool a_short = a.total_value > a.total_bond;
  const bool b_short = b.total_value > b.total_bond;
  if (a_short != b_short) return a_short;
  return a_short ? a.total_value - a.total_bond > b.total_value - b.total_bond
                 : a.total_bond - a.total_value < b.total_bond - b.total_value;
}

}  // namespace

std::vector<VaultSecurity> GetSortedVaultSecurity(const Keeper& k, const Context& ctx,
                                                  Vaults vaults, int64_t signing_period) {
  const int64_t first = std::max<int64_t>(ctx.height() - signing_period, 1);
  const ScheduledOutbounds outbounds(k, ctx, first, ctx.height());
  std::vector<VaultSecurity> security;
  security.reserve(vaults.size());
  for (Vault& vault : vaults) {
    VaultSecurity& entry = security.emplace_back();
    entry.total_bond = TotalBond(k, ctx, vault);
    entry.total_value = TotalValue(k, ctx, vault, first, outbounds);
    entry.vault = std::move(vault);
  }
  std::stable_sort(security.begin(), security.end(), IsLessSecure);
  return security;
}

Vaults SortBySecurity(const Keeper& k, const Context& ctx, Vaults vaults, int64_t signing_period) {
  if (vaults.size() <= 1) return vaults;
  Vaults sorted;
  sorted.reserve(vaults.size());
  for (VaultSecurity& entry : GetSortedVaultSecurity(k, ctx, std::move(vaults), signing_period)) {
    sorted.push_back(std::move(entry.vault));
  }
  return sorted;
}

}  // namespace blockreplay::keeper::thorchain
