#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace blockreplay::keeper::thorchain {

// Modules that have an account.
inline constexpr std::string_view kThorchainModule = "thorchain";
inline constexpr std::string_view kReserveModule = "reserve";
inline constexpr std::string_view kAsgardModule = "asgard";
inline constexpr std::string_view kBondModule = "bond";
inline constexpr std::string_view kLendingModule = "lending";
inline constexpr std::string_view kAffiliateCollectorModule = "affiliate_collector";
inline constexpr std::string_view kTreasuryModule = "treasury";
inline constexpr std::string_view kRunePoolModule = "rune_pool";
inline constexpr std::string_view kTcyClaimingModule = "tcy_claim";
inline constexpr std::string_view kTcyStakeModule = "tcy_stake";

// All of them with their permissions, also those of other modules.
const std::map<std::string, std::vector<std::string>, std::less<>>& ModulePermissions();

}  // namespace blockreplay::keeper::thorchain
