#include "keeper/thorchain/modules.h"

namespace blockreplay::keeper::thorchain {

const std::map<std::string, std::vector<std::string>, std::less<>>& ModulePermissions() {
  static const auto* const permissions =
      new std::map<std::string, std::vector<std::string>, std::less<>>{
          {"fee_collector", {}},
          {"mint", {"minter"}},
          {"bonded_tokens_pool", {"burner", "staking"}},
          {"not_bonded_tokens_pool", {"burner", "staking"}},
          {std::string(kThorchainModule), {"minter", "burner"}},
          {std::string(kAsgardModule), {}},
          {std::string(kBondModule), {}},
          {std::string(kReserveModule), {}},
          {std::string(kLendingModule), {}},
          {std::string(kAffiliateCollectorModule), {}},
          {std::string(kTreasuryModule), {}},
          {std::string(kRunePoolModule), {}},
          {"wasm", {"burner"}},
          {"denom", {"minter", "burner"}},
          {"scheduler", {}},
          {std::string(kTcyClaimingModule), {}},
          {std::string(kTcyStakeModule), {}},
      };
  return *permissions;
}

}  // namespace blockreplay::keeper::thorchain
