#include "keeper/thorchain/state/node_mimirs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "keeper/thorchain/majority.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kNodeMimirPrefix = "nodemimir/";
constexpr std::string_view kNodePauseChainPrefix = "node_pause_chain/";

// Votes of active nodes by value; the first vote of a node counts.
std::map<int64_t, size_t> CountVotes(const NodeMimirs& votes, std::string_view key,
                                     const NodeAccounts& active) {
  std::map<int64_t, size_t> counts;
  std::set<AccAddress> voted;
  for (const NodeMimir& vote : votes.mimirs) {
    if (!EqualFold(vote.key, key) || voted.contains(vote.signer)) continue;
    const bool is_active = std::any_of(
        active.begin(), active.end(),
        [&](const SharedNodeAccount& account) { return account->node_address == vote.signer; });
    if (!is_active) continue;
    voted.insert(vote.signer);
    ++counts[vote.value];
  }
  return counts;
}

template <size_t N>
bool IsOneOf(std::string_view key, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return EqualFold(key, name); });
}

}  // namespace

Result<NodeMimirs> GetNodeMimirs(const Keeper& k, const Context& ctx, std::string_view key) {
  NodeMimirs votes;
  Result<bool> found = GetRecord(k, ctx, StoreKey(kNodeMimirPrefix, key), &votes);
  if (!found.ok()) return found.error();
  return votes;
}

Error SetNodeMimir(const Keeper& k, const Context& ctx, std::string_view name, int64_t value,
                   const AccAddress& node) {
  const std::string key = ToUpper(name);
  KEEPER_ASSIGN_OR_RETURN(NodeMimirs votes, GetNodeMimirs(k, ctx, key));
  const auto vote = std::find_if(
      votes.mimirs.begin(), votes.mimirs.end(),
      [&](const NodeMimir& mimir) { return mimir.signer == node && EqualFold(mimir.key, key); });
  if (value < 0) {
    if (vote != votes.mimirs.end()) votes.mimirs.erase(vote);
  } else if (vote != votes.mimirs.end()) {
    vote->value = value;
  } else {
    votes.mimirs.push_back({.key = key, .value = value, .signer = node});
  }
  const std::string store_key = StoreKey(kNodeMimirPrefix, key);
  if (votes.mimirs.empty()) {
    k.kv(ctx).Delete(store_key);
  } else {
    SetRecord(k, ctx, store_key, votes);
  }
  return {};
}

int64_t GetNodePauseChain(const Keeper& k, const Context& ctx, const AccAddress& node) {
  int64_t height = -1;
  GetInt64(k, ctx, StoreKey(kNodePauseChainPrefix, node.ToString(k.network())), &height);
  return height;
}

void SetNodePauseChain(const Keeper& k, const Context& ctx, const AccAddress& node) {
  SetInt64(k, ctx, StoreKey(kNodePauseChainPrefix, node.ToString(k.network())), ctx.height());
}

bool IsOperationalMimir(std::string_view key) {
  static constexpr std::array<std::string_view, 13> kOperational{
      "MintSynths",
      "TradeAccountsEnabled",
      "RUNEPoolEnabled",
      "EVMDisableContractWhitelist",
      "MaxOutboundAttempts",
      "AdvSwapQueueRapidSwapMax",
      "EnableADVSwapQueue",
      "StreamingLimitSwapMaxAge",
      "OverSolvencyCheckInterval",
      "OverSolvencyToTreasuryBps",
      "ScheduledMigration",
      "MaxRetiredVaultRecoveryAttempts",
      "P2PGateDisabled",
  };
  static constexpr std::array<std::string_view, 2> kEconomic{"NodePauseChainBlocks",
                                                             "PauseOnSlashThreshold"};
  static constexpr std::array<std::string_view, 5> kOperationalParts{
      "HALT", "PAUSE", "STOPSOLVENCYCHECK", "MIMIRUPGRADECONTRACT", "EVMALLOWANCECHECK"};
  if (IsOneOf(key, kOperational)) return true;
  if (IsOneOf(key, kEconomic)) return false;
  const std::string upper = ToUpper(key);
  return upper.ends_with("SLIPMINBPS") ||
         std::any_of(kOperationalParts.begin(), kOperationalParts.end(),
                     [&](std::string_view part) { return upper.find(part) != std::string::npos; });
}

std::optional<int64_t> SuperMajorityValue(const NodeMimirs& votes, std::string_view key,
                                          const NodeAccounts& active) {
  for (const auto& [value, count] : CountVotes(votes, key, active)) {
    if (HasSuperMajority(count, active.size())) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> OperationalValue(const NodeMimirs& votes, std::string_view key,
                                        int64_t min_votes, const NodeAccounts& active) {
  std::optional<int64_t> most_voted;
  size_t most_votes = 0;
  bool tie = false;
  for (const auto& [value, count] : CountVotes(votes, key, active)) {
    if (count > most_votes) {
      most_voted = value;
      most_votes = count;
      tie = false;
    } else if (count == most_votes) {
      tie = true;
    }
  }
  if (tie || static_cast<int64_t>(most_votes) < min_votes) return std::nullopt;
  return most_voted;
}

}  // namespace blockreplay::keeper::thorchain
