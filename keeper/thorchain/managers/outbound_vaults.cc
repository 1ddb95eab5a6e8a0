#include "keeper/thorchain/managers/outbound_vaults.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "keeper/thorchain/state/scheduled_outbounds.h"
#include "keeper/thorchain/state/vault_security.h"

namespace blockreplay::keeper::thorchain {
namespace {

// It isn't to be given anything to sign on the chain.
bool IsFrozen(const Vault& vault, const Chain& chain) {
  return std::any_of(vault.frozen.begin(), vault.frozen.end(), [&](const std::string& text) {
    const absl::StatusOr<Chain> frozen = Chain::Parse(text);
    return frozen.ok() && *frozen == chain;
  });
}

bool HasMalformedFrozenChain(const Vault& vault) {
  return std::any_of(vault.frozen.begin(), vault.frozen.end(),
                     [](const std::string& text) { return !Chain::Parse(text).ok(); });
}

// By how many vaults of that size the outbound would need; without those that can't help.
void SortByVaultsNecessary(const TxOutItem& item, const Chain& chain, Vaults* vaults) {
  struct Entry {
    uint64_t necessary;
    Vault vault;
  };
  std::vector<Entry> entries;
  for (Vault& vault : *vaults) {
    const Uint held = GetVaultCoin(vault, item.coin.asset).amount;
    if (held.IsZero() || IsFrozen(vault, chain)) continue;
    const Uint necessary = item.coin.amount / held;
    entries.push_back(
        {necessary.IsUint64() ? necessary.ToUint64() : std::numeric_limits<uint64_t>::max(),
         std::move(vault)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.necessary < b.necessary; });
  vaults->clear();
  for (Entry& entry : entries) vaults->push_back(std::move(entry.vault));
}

// What the vault could send of the item's asset; zero if it must not send anything.
Uint Sendable(const Keeper& k, const Vault& vault, const TxOutItem& item, const Uint& fee,
              const Coin& max_gas) {
  const Result<Address> from = GetVaultAddress(k, vault, item.chain);
  if (!from.ok() || from->IsEmpty() || item.to_address == *from) return Uint();
  Uint amount = GetVaultCoin(vault, item.coin.asset).amount;
  if (amount <= fee) return Uint();
  const Coin gas = GetVaultCoin(vault, item.chain.GetGasAsset());
  if (gas.IsEmpty() || gas.amount < max_gas.amount) return Uint();
  if (item.coin.asset == max_gas.asset) amount = SafeSub(amount, max_gas.amount);
  return amount;
}

// The vault that holds most of the asset, whatever else it owes; empty if there is none.
Vault ChooseFallbackVault(const Keeper& k, const Context& ctx, const TxOutItem& item,
                          const Coin& max_gas, const std::vector<Vault>& vaults) {
  Vault best;
  Uint best_amount;
  for (const Vault& vault : vaults) {
    if (HasMalformedFrozenChain(vault) || IsFrozen(vault, item.chain)) continue;
    Result<Vault> stored = GetVault(k, ctx, vault.pub_key);
    if (!stored.ok()) continue;
    const Coin gas = GetVaultCoin(*stored, item.chain.GetGasAsset());
    if (gas.IsEmpty() || gas.amount < max_gas.amount) continue;
    const Uint amount = GetVaultCoin(*stored, item.coin.asset).amount;
    if (amount > best_amount) {
      best_amount = amount;
      best = *std::move(stored);
    }
  }
  return best;
}

}  // namespace

std::pair<TxOutItems, Uint> DiscoverOutbounds(const Keeper& k, const Context& ctx, const Uint& fee,
                                              const Coin& max_gas, TxOutItem item, Vaults vaults) {
  TxOutItems outputs;
  const Vaults all = vaults;
  if (vaults.size() > 1) SortByVaultsNecessary(item, max_gas.asset.GetChain(), &vaults);

  for (const Vault& vault : vaults) {
    Uint amount = Sendable(k, vault, item, fee, max_gas);
    if (amount.IsZero()) continue;
    // An XRP account must keep something.
    if (item.coin.asset == assets::kXRP) amount = SafeSub(amount, chains::kXRP.DustThreshold());
    TxOutItem& output = outputs.emplace_back(item);
    output.vault_pub_key = vault.pub_key;
    output.vault_pub_key_eddsa = vault.pub_key_eddsa;
    output.coin.amount = std::min(output.coin.amount, amount);
    item.coin.amount -= output.coin.amount;
    if (item.coin.amount.IsZero()) break;
  }
  if (item.coin.amount.IsZero()) return {std::move(outputs), Uint()};

  if (!outputs.empty()) {
    // It can't be signed so, and will be scheduled anew.
    const auto smallest = std::min_element(
        outputs.begin(), outputs.end(),
        [](const TxOutItem& a, const TxOutItem& b) { return a.coin.amount < b.coin.amount; });
    smallest->coin.amount += item.coin.amount;
    return {std::move(outputs), Uint()};
  }
  const Vault fallback = ChooseFallbackVault(k, ctx, item, max_gas, all);
  if (fallback.pub_key.IsEmpty()) return {{}, item.coin.amount};
  item.vault_pub_key = fallback.pub_key;
  item.vault_pub_key_eddsa = fallback.pub_key_eddsa;
  outputs.push_back(std::move(item));
  return {std::move(outputs), Uint()};
}

Result<TxOutItems> ChooseVaults(const Keeper& k, const Context& ctx, const Uint& fee,
                                const Coin& max_gas, const TxOutItem& item) {
  const TxOutItems pending = GetPendingOutbounds(k, ctx, item.coin.asset);
  const int64_t period = k.constants().GetInt64(ConstantName::kSigningTransactionPeriod);
  Vaults vaults;
  for (const VaultStatus status : {VaultStatus::ActiveVault, VaultStatus::RetiringVault}) {
    Result<Vaults> found = GetAsgardVaultsByStatus(k, ctx, status);
    if (!found.ok()) {
      return Error::Opaque(status == VaultStatus::ActiveVault ? "fail to get active vaults"
                                                              : "fail to get retiring vaults",
                           found.error());
    }
    Vaults sorted = SortBySecurity(k, ctx, *std::move(found), period);
    for (Vault& vault : sorted) DeductPendingOutbounds(&vault, pending);
    std::move(sorted.begin(), sorted.end(), std::back_inserter(vaults));
  }
  auto [outputs, remaining] = DiscoverOutbounds(k, ctx, fee, max_gas, item, std::move(vaults));
  if (!remaining.IsZero()) {
    return Error::New(
        sdk::StrCat("insufficient funds for outbound request: ", item.to_address.ToString(), " ",
                    remaining.ToString(), " remaining"));
  }
  return std::move(outputs);
}

}  // namespace blockreplay::keeper::thorchain
