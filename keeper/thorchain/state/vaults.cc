#include "keeper/thorchain/state/vaults.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/decode_memo.h"
#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kAsgardIndexPrefix = "vault_asgard_index/";
constexpr std::string_view kAsgardEddsaIndexPrefix = "vault_asgard_eddsa_index/";

std::string VaultKey(const PubKey& key) { return StoreKey(kVaultPrefix, key.ToString()); }

Result<std::vector<std::string>> GetAsgardIndex(const Keeper& k, const Context& ctx) {
  std::vector<std::string> keys;
  GetStrings(k, ctx, StoreKey(kAsgardIndexPrefix), &keys);
  for (const std::string& key : keys) {
    if (!IsValidPubKey(k, key)) return Error::New(sdk::StrCat("not a public key: ", key));
  }
  return keys;
}

Error AddToAsgardIndex(const Keeper& k, const Context& ctx, const PubKey& key) {
  KEEPER_ASSIGN_OR_RETURN(std::vector<std::string> keys, GetAsgardIndex(k, ctx));
  if (std::find(keys.begin(), keys.end(), key.ToString()) != keys.end()) return {};
  keys.push_back(key.ToString());
  SetStrings(k, ctx, StoreKey(kAsgardIndexPrefix), keys);
  return {};
}

// The first key of the vault whose second key this is; empty if none.
PubKey FindByEddsa(const Keeper& k, const Context& ctx, const PubKey& eddsa) {
  std::vector<std::string> keys;
  if (!GetStrings(k, ctx, StoreKey(kAsgardEddsaIndexPrefix, eddsa.ToString()), &keys) ||
      keys.empty()) {
    return PubKey();
  }
  return PubKey(keys.front());
}

}  // namespace

Result<SharedVault> ReadVault(const Keeper& k, const Context& ctx, const PubKey& key) {
  constexpr size_t kMostRemembered = 1 << 9;
  Result<SharedVault> vault =
      ReadShared<Optimisation::kVaultDecodes, kMostRemembered, Vault>(k, ctx, VaultKey(key));
  if (!vault.ok()) return vault;
  if (*vault == nullptr) {
    const PubKey first = FindByEddsa(k, ctx, key);
    if (!first.IsEmpty()) return ReadVault(k, ctx, first);
    return Error::Opaque(sdk::StrCat("vault with pubkey(", key.ToString(), ") doesn't exist"),
                         Error(kErrVaultNotFound));
  }
  if (!(*vault)->pub_key.IsEmpty() && (*vault)->block_height != 0) return vault;
  auto completed = std::make_shared<Vault>(**vault);
  if (completed->pub_key.IsEmpty()) completed->pub_key = key;
  if (completed->block_height == 0) completed->block_height = ctx.height();
  return SharedVault(std::move(completed));
}

Result<Vault> GetVault(const Keeper& k, const Context& ctx, const PubKey& key) {
  Result<SharedVault> vault = ReadVault(k, ctx, key);
  if (!vault.ok()) return vault.error();
  return **vault;
}

bool VaultExists(const Keeper& k, const Context& ctx, const PubKey& key) {
  const PubKey first = FindByEddsa(k, ctx, key);
  return HasKey(k, ctx, VaultKey(key)) || !first.IsEmpty();
}

Error SetVault(const Keeper& k, const Context& ctx, const Vault& vault) {
  if (IsAsgard(vault)) {
    KEEPER_RETURN_IF_ERROR(AddToAsgardIndex(k, ctx, vault.pub_key));
    if (!vault.pub_key_eddsa.IsEmpty()) {
      SetStrings(k, ctx, StoreKey(kAsgardEddsaIndexPrefix, vault.pub_key_eddsa.ToString()),
                 {vault.pub_key.ToString()});
    }
  }
  SetRecord(k, ctx, VaultKey(vault.pub_key), vault);
  return {};
}

Error DeleteVault(const Keeper& k, const Context& ctx, const PubKey& key) {
  const Result<SharedVault> read = ReadVault(k, ctx, key);
  if (!read.ok()) return read.error().Is(kErrVaultNotFound) ? Error() : read.error();
  const Vault& vault = **read;
  if (HasFunds(vault)) return Error::New("unable to delete vault: it still contains funds");
  if (IsAsgard(vault)) RemoveFromAsgardIndex(k, ctx, key);
  DeleteKey(k, ctx, VaultKey(vault.pub_key));
  return {};
}

void RemoveFromAsgardIndex(const Keeper& k, const Context& ctx, const PubKey& key) {
  Result<std::vector<std::string>> keys = GetAsgardIndex(k, ctx);
  if (!keys.ok()) return;
  std::erase(*keys, key.ToString());
  SetStrings(k, ctx, StoreKey(kAsgardIndexPrefix), *keys);
}

Result<std::vector<SharedVault>> ReadAsgardVaults(const Keeper& k, const Context& ctx) {
  KEEPER_ASSIGN_OR_RETURN(const std::vector<std::string> keys, GetAsgardIndex(k, ctx));
  std::vector<SharedVault> vaults;
  vaults.reserve(keys.size());
  for (const std::string& key : keys) {
    KEEPER_ASSIGN_OR_RETURN(SharedVault vault, ReadVault(k, ctx, PubKey(key)));
    if (IsAsgard(*vault)) vaults.push_back(std::move(vault));
  }
  return vaults;
}

Result<Vaults> GetAsgardVaults(const Keeper& k, const Context& ctx) {
  KEEPER_ASSIGN_OR_RETURN(const std::vector<SharedVault> shared, ReadAsgardVaults(k, ctx));
  Vaults vaults;
  vaults.reserve(shared.size());
  for (const SharedVault& vault : shared) vaults.push_back(*vault);
  return vaults;
}

Result<Vaults> GetAsgardVaultsByStatus(const Keeper& k, const Context& ctx, VaultStatus status) {
  KEEPER_ASSIGN_OR_RETURN(const std::vector<SharedVault> shared, ReadAsgardVaults(k, ctx));
  Vaults vaults;
  for (const SharedVault& vault : shared) {
    if (vault->status == status) vaults.push_back(*vault);
  }
  return vaults;
}

bool HasFunds(const Vault& vault) {
  return std::any_of(vault.coins.begin(), vault.coins.end(),
                     [](const Coin& coin) { return !coin.IsRune() && !coin.amount.IsZero(); });
}

bool HasFundsForChain(const Vault& vault, const Chain& chain) {
  return CoinCountOfChain(vault, chain) > 0;
}

size_t CoinCount(const Vault& vault) {
  return static_cast<size_t>(std::count_if(vault.coins.begin(), vault.coins.end(),
                                           [](const Coin& coin) { return !coin.amount.IsZero(); }));
}

size_t CoinCountOfChain(const Vault& vault, const Chain& chain) {
  return static_cast<size_t>(std::count_if(
      vault.coins.begin(), vault.coins.end(),
      [&](const Coin& coin) { return coin.asset.GetChain() == chain && !coin.amount.IsZero(); }));
}

Coin GetVaultCoin(const Vault& vault, const Asset& asset) {
  for (const Coin& coin : vault.coins) {
    if (coin.asset == asset) return coin;
  }
  return Coin(asset, Uint());
}

std::vector<PubKey> GetMembership(const Keeper& k, const Vault& vault) {
  return ToPubKeys(k, vault.membership);
}

bool IsMember(const Keeper& k, const Vault& vault, const PubKey& key) {
  return std::any_of(vault.membership.begin(), vault.membership.end(),
                     [&](const std::string& member) { return member == key.ToString(); }) &&
         IsValidPubKey(k, key.ToString());
}

std::vector<Chain> GetVaultChains(const Vault& vault) {
  std::vector<Chain> chains;
  for (const std::string& text : vault.chains) {
    if (absl::StatusOr<Chain> chain = Chain::Parse(text); chain.ok()) {
      chains.push_back(*std::move(chain));
    }
  }
  return chains;
}

Result<PubKey> GetAlgoPubKey(const Vault& vault, const Chain& chain) {
  if (chain.GetSigningAlgo() == SigningAlgo::kSecp256k1) return vault.pub_key;
  if (vault.pub_key_eddsa.IsEmpty()) return Error::New("vault has no eddsa public key");
  return vault.pub_key_eddsa;
}

Result<Address> GetVaultAddress(const Keeper& k, const Vault& vault, const Chain& chain) {
  const Result<PubKey> key = GetAlgoPubKey(vault, chain);
  if (!key.ok()) return Error::Opaque("fail to get vault address", key.error());
  absl::StatusOr<Address> address = key->GetAddress(chain, k.network());
  if (!address.ok()) return Error::New(std::string(address.status().message()));
  return *std::move(address);
}

ChainContract GetVaultContract(const Vault& vault, const Chain& chain) {
  for (const ChainContract& contract : vault.routers) {
    if (contract.chain == chain) return contract;
  }
  return ChainContract();
}

void UpdateStatus(Vault* vault, VaultStatus status, int64_t height) {
  vault->status = status;
  vault->status_since = height;
}

void AddFunds(Vault* vault, const Coins& coins) {
  for (const Coin& coin : coins) {
    const auto held = std::find_if(vault->coins.begin(), vault->coins.end(),
                                   [&](const Coin& c) { return c.asset == coin.asset; });
    if (held != vault->coins.end()) {
      held->amount += coin.amount;
      continue;
    }
    const Chain& chain = coin.asset.GetChain();
    if (!Contains(GetVaultChains(*vault), chain)) vault->chains.push_back(chain.ToString());
    vault->coins.push_back(coin);
  }
}

void SubFunds(Vault* vault, const Coins& coins) {
  for (const Coin& coin : coins) {
    const auto held = std::find_if(vault->coins.begin(), vault->coins.end(),
                                   [&](const Coin& c) { return c.asset == coin.asset; });
    if (held != vault->coins.end()) held->amount = SafeSub(held->amount, coin.amount);
  }
}

void AppendPendingTxHeight(const Keeper& k, Vault* vault, int64_t height) {
  const int64_t period = k.constants().GetInt64(ConstantName::kSigningTransactionPeriod);
  std::vector<int64_t>& heights = vault->pending_tx_block_heights;
  std::erase_if(heights, [&](int64_t pending) { return height - pending > period; });
  heights.insert(heights.begin(), height);
}

void RemovePendingTxHeight(Vault* vault, int64_t height) {
  std::vector<int64_t>& heights = vault->pending_tx_block_heights;
  const auto found = std::find(heights.begin(), heights.end(), height);
  if (found != heights.end()) heights.erase(found);
}

size_t CountPendingTxHeights(const Vault& vault, int64_t height, int64_t most_blocks) {
  return static_cast<size_t>(
      std::count_if(vault.pending_tx_block_heights.begin(), vault.pending_tx_block_heights.end(),
                    [&](int64_t pending) { return height - pending <= most_blocks; }));
}

void DeductPendingOutbounds(Vault* vault, const std::vector<TxOutItem>& items) {
  for (const TxOutItem& item : items) {
    if (item.vault_pub_key != vault->pub_key || !item.out_hash.IsEmpty()) continue;
    Coin gas;
    if (!item.max_gas.IsEmpty()) gas = item.max_gas.GetCoin(item.chain.GetGasAsset());
    for (Coin& coin : vault->coins) {
      if (coin.asset == item.coin.asset) coin.amount = SafeSub(coin.amount, item.coin.amount);
      if (coin.asset == gas.asset) coin.amount = SafeSub(coin.amount, gas.amount);
    }
  }
}

}  // namespace blockreplay::keeper::thorchain
