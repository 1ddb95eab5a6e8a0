#pragma once

// vault/, vault_asgard_index/ and vault_asgard_eddsa_index/

#include <memory>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kVaultPrefix = "vault/";
// GetVault's error for a key that no vault has.
inline constexpr sdk::ErrorCode kErrVaultNotFound{"vault not found", 1, "vault not found"};

using Vaults = std::vector<Vault>;
// Decoded once per stored value and shared; nobody changes it.
using SharedVault = std::shared_ptr<const Vault>;

// By either of its two keys. A copy of the caller's own.
Result<Vault> GetVault(const Keeper& k, const Context& ctx, const PubKey& key);
// The same reads without the copy.
Result<SharedVault> ReadVault(const Keeper& k, const Context& ctx, const PubKey& key);
bool VaultExists(const Keeper& k, const Context& ctx, const PubKey& key);
Error SetVault(const Keeper& k, const Context& ctx, const Vault& vault);
// An error if it holds funds; nothing if there is none.
Error DeleteVault(const Keeper& k, const Context& ctx, const PubKey& key);
void RemoveFromAsgardIndex(const Keeper& k, const Context& ctx, const PubKey& key);

// In the order of the index, which is that of their creation.
Result<Vaults> GetAsgardVaults(const Keeper& k, const Context& ctx);
Result<Vaults> GetAsgardVaultsByStatus(const Keeper& k, const Context& ctx, VaultStatus status);
// The same reads without the copies.
Result<std::vector<SharedVault>> ReadAsgardVaults(const Keeper& k, const Context& ctx);

// ---- Without the store ----

inline bool IsAsgard(const Vault& vault) { return vault.type == VaultType::AsgardVault; }
inline bool IsActive(const Vault& vault) { return vault.status == VaultStatus::ActiveVault; }
inline bool IsRetiring(const Vault& vault) { return vault.status == VaultStatus::RetiringVault; }
bool HasFunds(const Vault& vault);
bool HasFundsForChain(const Vault& vault, const Chain& chain);
// How many coins it has any of (of that chain).
size_t CoinCount(const Vault& vault);
size_t CoinCountOfChain(const Vault& vault, const Chain& chain);
// Zero of the asset if it has none.
Coin GetVaultCoin(const Vault& vault, const Asset& asset);
// Members whose public keys are well-formed; chains that are.
std::vector<PubKey> GetMembership(const Keeper& k, const Vault& vault);
bool IsMember(const Keeper& k, const Vault& vault, const PubKey& key);
std::vector<Chain> GetVaultChains(const Vault& vault);
// The key that signs on a chain, and its address there.
Result<PubKey> GetAlgoPubKey(const Vault& vault, const Chain& chain);
Result<Address> GetVaultAddress(const Keeper& k, const Vault& vault, const Chain& chain);
// Empty if it has none.
ChainContract GetVaultContract(const Vault& vault, const Chain& chain);

void UpdateStatus(Vault* vault, VaultStatus status, int64_t height);
void AddFunds(Vault* vault, const Coins& coins);
// Of each coin at most what is there.
void SubFunds(Vault* vault, const Coins& coins);
// Puts the height in front of those that aren't older than SigningTransactionPeriod.
void AppendPendingTxHeight(const Keeper& k, Vault* vault, int64_t height);
void RemovePendingTxHeight(Vault* vault, int64_t height);
size_t CountPendingTxHeights(const Vault& vault, int64_t height, int64_t most_blocks);
// Takes from the coins what unsigned outbound transactions of the vault will take, with their gas.
void DeductPendingOutbounds(Vault* vault, const std::vector<TxOutItem>& items);

}  // namespace blockreplay::keeper::thorchain
