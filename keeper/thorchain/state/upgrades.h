#pragma once

// upgr_props/ and upgr_votes/: upgrades of the software that validators propose, and their votes.
// Names are kept as they come, not in upper case.

#include <optional>
#include <string>

#include "keeper/sdk/upgrade.h"
#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kUpgradeProposalPrefix = "upgr_props/";
inline constexpr sdk::UpgradeKeeper kUpgrades{kUpgradeStore};

// Nothing if there is no such proposal.
Result<std::optional<UpgradeProposal>> GetProposedUpgrade(const Keeper& k, const Context& ctx,
                                                          std::string_view name);
void SetProposedUpgrade(const Keeper& k, const Context& ctx, std::string_view name,
                        const UpgradeProposal& proposal);
// With all its votes, once its height has passed.
Error RemoveExpiredUpgradeProposals(const Keeper& k, const Context& ctx);

// Nothing if the validator didn't vote.
std::optional<bool> GetUpgradeVote(const Keeper& k, const Context& ctx, const AccAddress& validator,
                                   std::string_view name);
void SetUpgradeVote(const Keeper& k, const Context& ctx, const AccAddress& validator,
                    std::string_view name, bool approves);
// Two thirds of the active validators approve.
Result<bool> IsUpgradeApproved(const Keeper& k, const Context& ctx, std::string_view name);

}  // namespace blockreplay::keeper::thorchain
