#include "keeper/thorchain/managers/churn.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "keeper/thorchain/common/ip_address.h"
#include "keeper/thorchain/state/keygens.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/min_join.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"

namespace blockreplay::keeper::thorchain {
namespace {

using NodeList = std::vector<NodeAccount>;

NodeList Copies(const NodeAccounts& accounts) {
  NodeList nodes;
  nodes.reserve(accounts.size());
  for (const SharedNodeAccount& account : accounts) nodes.push_back(*account);
  return nodes;
}

bool IsChurnHalted(const Keeper& k, const Context& ctx) {
  const int64_t height = GetMimir(k, ctx, "HaltChurning");
  return height > 0 && height <= ctx.height();
}

// How many of `count` active nodes may leave at once: less than a third, and four stay.
int64_t MostToLeave(int64_t count) {
  constexpr int64_t kFewest = 4;
  const int64_t most = count - (count * 2 / 3 + 1);
  return count - most < kFewest ? std::max<int64_t>(count - kFewest, 0) : most;
}

// `active` with those that have to leave in front.
int64_t CountToRemove(const NodeList& active) {
  if (active.empty()) return 0;
  const int64_t most = MostToLeave(static_cast<int64_t>(active.size()));
  if (most == 0) return active[0].forced_to_leave || active[0].requested_to_leave ? 1 : 0;
  const int64_t candidates =
      std::count_if(active.begin(), active.end(),
                    [](const NodeAccount& account) { return account.leave_score > 0; });
  return std::min(candidates, most);
}

// One churn. Reads the list of nodes anew where others may have been marked meanwhile.
class Churn {
 public:
  Churn(const Keeper& k, const Context& ctx, int64_t last_height)
      : k_(k), ctx_(ctx), last_height_(last_height) {}

  Error Run() const {
    const int64_t desired = GetConfigInt64(k_, ctx_, ConstantName::kDesiredValidatorSet);
    const int64_t asgard_size = GetConfigInt64(k_, ctx_, ConstantName::kAsgardSize);
    KEEPER_RETURN_IF_ERROR(UpdateReadiness());
    KEEPER_RETURN_IF_ERROR(ClearLeaveScores());
    KEEPER_RETURN_IF_ERROR(MarkBad());
    KEEPER_RETURN_IF_ERROR(MarkLowestBond());
    KEEPER_RETURN_IF_ERROR(MarkLowVersions());
    KEEPER_RETURN_IF_ERROR(MarkOldest());
    KEEPER_RETURN_IF_ERROR(MarkMissing());
    NodeList next;
    KEEPER_ASSIGN_OR_RETURN(const bool changes, ChooseNext(desired, &next));
    if (!changes) return {};
    for (const NodeList& group : Split(std::move(next), asgard_size)) {
      KEEPER_RETURN_IF_ERROR(TriggerKeygen(k_, ctx_, group));
    }
    return {};
  }

 private:
  Error UpdateReadiness() const {
    KEEPER_ASSIGN_OR_RETURN(NodeAccounts nodes,
                            ListValidatorsByStatus(k_, ctx_, NodeStatus::Standby));
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts ready,
                            ListValidatorsByStatus(k_, ctx_, NodeStatus::Ready));
    nodes.insert(nodes.end(), ready.begin(), ready.end());
    // Neither changes with what is written here.
    const Uint min_bond(
        static_cast<uint64_t>(GetConfigInt64(k_, ctx_, ConstantName::kMinimumBondInRune)));
    const SemVer min_version = GetMinJoinLast(k_, ctx_).version;
    for (const SharedNodeAccount& node : nodes) {
      NodeAccount account = *node;
      UpdateStatus(&account, Readiness(account, min_bond, min_version), ctx_.height());
      SetNodeAccount(k_, ctx_, account);
    }
    return {};
  }

  NodeStatus Readiness(const NodeAccount& node, const Uint& min_bond,
                       const SemVer& min_version) const {
    if (node.forced_to_leave) return NodeStatus::Disabled;
    if (node.requested_to_leave || node.maintenance || !IsIpAddress(node.ip_address)) {
      return NodeStatus::Standby;
    }
    if (node.pub_key_set.IsEmpty()) return NodeStatus::Whitelisted;
    if (node.bond < min_bond || SemVer::ParseOrZero(node.version) < min_version) {
      return NodeStatus::Standby;
    }
    const Result<Jail> jail = GetNodeJail(k_, ctx_, node.node_address);
    if (!jail.ok() || jail->release_height > ctx_.height()) return NodeStatus::Standby;
    return IsRagnarokInProgress(k_, ctx_) ? NodeStatus::Standby : NodeStatus::Ready;
  }

  Error ClearLeaveScores() const {
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k_, ctx_));
    for (const SharedNodeAccount& node : active) {
      if (node->requested_to_leave || node->forced_to_leave) continue;
      NodeAccount account = *node;
      account.leave_score = 0;
      SetNodeAccount(k_, ctx_, account);
    }
    return {};
  }

  // The longer since the last churn, and the fewer slash points, the higher.
  Uint Score(int64_t slash_points) const {
    const Uint age(static_cast<uint64_t>(ctx_.height() - last_height_) * kOne);
    return slash_points == 0 ? age : age / Uint(static_cast<uint64_t>(slash_points));
  }

  void Mark(const NodeAccount& node) const {
    if (node.node_address.IsEmpty() || node.status == NodeStatus::Unknown ||
        node.leave_score != 0) {
      return;
    }
    NodeAccount account = node;
    account.leave_score = Score(GetSlashPoints(k_, ctx_, node.node_address)).ToUint64();
    SetNodeAccount(k_, ctx_, account);
  }

  Error MarkBad() const {
    const int64_t min_points =
        GetConfigInt64(k_, ctx_, ConstantName::kMinSlashPointsForBadValidator);
    const int64_t divisor = GetConfigInt64(k_, ctx_, ConstantName::kBadValidatorRedline);
    if (divisor <= 0) return {};
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k_, ctx_));
    std::vector<std::pair<Uint, SharedNodeAccount>> offenders;
    Uint total;
    for (const SharedNodeAccount& node : active) {
      const int64_t points = GetSlashPoints(k_, ctx_, node->node_address);
      if (points <= min_points) continue;
      offenders.emplace_back(Score(points), node);
      total += offenders.back().first;
    }
    if (offenders.empty()) return {};
    std::stable_sort(offenders.begin(), offenders.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const Uint redline = total / Uint(active.size()) / Uint(static_cast<uint64_t>(divisor));
    // If nobody is that bad, the worst one goes.
    if (offenders.front().first > redline) {
      Mark(*offenders.front().second);
      return {};
    }
    for (const auto& [score, node] : offenders) {
      if (score <= redline) Mark(*node);
    }
    return {};
  }

  Error MarkLowestBond() const {
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k_, ctx_));
    const NodeAccount* lowest = nullptr;
    for (const SharedNodeAccount& node : active) {
      if (node->leave_score > 0) continue;
      if (lowest == nullptr || node->bond < lowest->bond) lowest = node.get();
    }
    if (lowest != nullptr) Mark(*lowest);
    return {};
  }

  Error MarkLowVersions() const {
    const MinJoin min_join = GetMinJoinLast(k_, ctx_);
    const int64_t grace = GetConfigInt64(k_, ctx_, ConstantName::kChurnOutForLowVersionBlocks);
    if (ctx_.height() < min_join.since + grace) return {};
    const int64_t most = GetConfigInt64(k_, ctx_, ConstantName::kMaxNodeToChurnOutForLowVersion);
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k_, ctx_));
    NodeAccounts low;
    for (const SharedNodeAccount& node : active) {
      if (node->leave_score > 0) continue;
      if (SemVer::ParseOrZero(node->version) < min_join.version) low.push_back(node);
      if (static_cast<int64_t>(low.size()) == most) break;
    }
    for (const SharedNodeAccount& node : low) Mark(*node);
    return {};
  }

  Error MarkOldest() const {
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k_, ctx_));
    const NodeAccount* oldest = nullptr;
    int64_t since = ctx_.height();
    for (const SharedNodeAccount& node : active) {
      if (node->leave_score > 0 || node->status_since >= since) continue;
      oldest = node.get();
      since = node->status_since;
    }
    if (oldest != nullptr) Mark(*oldest);
    return {};
  }

  Error MarkMissing() const {
    const int64_t allowed = GetConfigInt64(k_, ctx_, ConstantName::kMissingBlockChurnOut);
    const int64_t most = GetConfigInt64(k_, ctx_, ConstantName::kMaxMissingBlockChurnOut);
    if (allowed == 0 || most == 0) return {};
    KEEPER_ASSIGN_OR_RETURN(NodeAccounts active, ListActiveValidators(k_, ctx_));
    std::stable_sort(active.begin(), active.end(),
                     [](const SharedNodeAccount& a, const SharedNodeAccount& b) {
                       return a->missing_blocks > b->missing_blocks;
                     });
    int64_t marked = 0;
    for (const SharedNodeAccount& node : active) {
      if (node->leave_score > 0 || allowed >= static_cast<int64_t>(node->missing_blocks)) continue;
      Mark(*node);
      if (++marked >= most) break;
    }
    return {};
  }

  // The nodes of the next vaults; false if they are those of now.
  Result<bool> ChooseNext(int64_t target, NodeList* next) const {
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts ready_accounts,
                            ListValidatorsByStatus(k_, ctx_, NodeStatus::Ready));
    NodeList ready = Copies(ready_accounts);
    std::stable_sort(ready.begin(), ready.end(),
                     [](const NodeAccount& a, const NodeAccount& b) { return a.bond > b.bond; });
    KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active_accounts, ListActiveValidators(k_, ctx_));
    NodeList active = Copies(active_accounts);
    // Those that were marked in an earlier block may have got more slash points since.
    for (NodeAccount& node : active) {
      if (node.leave_score == 0) continue;
      const Uint score = Score(GetSlashPoints(k_, ctx_, node.node_address));
      if (!score.IsZero()) node.leave_score = score.ToUint64();
    }
    std::stable_sort(active.begin(), active.end(), LeavesBefore);

    const int64_t removed = CountToRemove(active);
    active.erase(active.begin(), active.begin() + removed);
    bool changes = removed > 0;
    const int64_t more =
        std::max<int64_t>(GetMimir(k_, ctx_, ToString(ConstantName::kNumberOfNewNodesPerChurn)), 0);
    const auto size = static_cast<int64_t>(active.size());
    int64_t limit = removed + (more == 0 ? 1 : more);
    const int64_t fewest = k_.constants().GetInt64(ConstantName::kMinimumNodesForBFT);
    if (size + limit < fewest) limit = fewest - size;

    const auto available = static_cast<int64_t>(ready.size());
    for (int64_t i = 1; target > static_cast<int64_t>(active.size()); ++i) {
      if (available >= i) {
        changes = true;
        active.push_back(ready[static_cast<size_t>(i - 1)]);
      }
      if (i >= limit || i > available) break;
    }
    *next = std::move(active);
    return changes;
  }

  static bool LeavesBefore(const NodeAccount& a, const NodeAccount& b) {
    if (a.forced_to_leave != b.forced_to_leave) return a.forced_to_leave;
    if (a.requested_to_leave != b.requested_to_leave) return a.requested_to_leave;
    // Unmarked ones stay behind.
    if ((a.leave_score == 0) != (b.leave_score == 0)) return b.leave_score == 0;
    return a.leave_score < b.leave_score;
  }

  // Into vaults of at most `most` members. Nodes of one operator are spread over them: those with
  // the most nodes first. No vault at all where the groups would come out wrong.
  static std::vector<NodeList> Split(NodeList nodes, int64_t most) {
    if (most <= 0) return {};
    const auto size = static_cast<int64_t>(nodes.size());
    const int64_t count = size / most + (size % most > 0 ? 1 : 0);
    if (count <= 0) return {};

    std::map<std::string, size_t> nodes_of;
    for (const NodeAccount& node : nodes) ++nodes_of[node.bond_address.ToString()];
    const auto is_single = [&](const NodeAccount& node) {
      return nodes_of[node.bond_address.ToString()] == 1;
    };
    const auto singles = std::stable_partition(
        nodes.begin(), nodes.end(), [&](const NodeAccount& node) { return !is_single(node); });
    std::stable_sort(nodes.begin(), singles, [&](const NodeAccount& a, const NodeAccount& b) {
      const std::string& a_operator = a.bond_address.ToString();
      const std::string& b_operator = b.bond_address.ToString();
      if (nodes_of[a_operator] != nodes_of[b_operator]) {
        return nodes_of[a_operator] > nodes_of[b_operator];
      }
      return a_operator == b_operator ? a.bond > b.bond : a_operator < b_operator;
    });
    std::stable_sort(singles, nodes.end(),
                     [](const NodeAccount& a, const NodeAccount& b) { return a.bond < b.bond; });

    std::vector<NodeList> groups(static_cast<size_t>(count));
    for (size_t i = 0; i < nodes.size(); ++i) {
      groups[i % groups.size()].push_back(std::move(nodes[i]));
    }
    for (size_t i = 0; i < groups.size(); ++i) {
      const size_t members = groups[i].size();
      if (static_cast<int64_t>(members) > most || members < 2) return {};
      if (i > 0 && groups[i - 1].size() - members > 1) return {};
    }
    return groups;
  }

  const Keeper& k_;
  const Context& ctx_;
  const int64_t last_height_;
};

}  // namespace

Error SetUpValidators(const Keeper& k, const Context& ctx) {
  NodeList active;
  NodeList ready;
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kNodeAccountPrefix); it.Valid(); it.Next()) {
    const SharedNodeAccount account = DecodeNodeAccount(it.value());
    if (account == nullptr) return Error::New("fail to unmarshal node account");
    if (account->status == NodeStatus::Active) active.push_back(*account);
    if (account->status == NodeStatus::Ready) ready.push_back(*account);
  }
  if (active.empty() && ready.empty()) return Error::New("no validators available");
  const auto earlier = [&](const NodeAccount& a, const NodeAccount& b) {
    if (a.status_since != b.status_since) return a.status_since < b.status_since;
    // A copy: remembering the second text may move the first.
    const std::string text = ToText(k, a.node_address);
    return text < ToText(k, b.node_address);
  };
  std::sort(active.begin(), active.end(), earlier);
  std::sort(ready.begin(), ready.end(), earlier);
  active.insert(active.end(), ready.begin(), ready.end());
  const int64_t desired = GetConfigInt64(k, ctx, ConstantName::kDesiredValidatorSet);
  for (size_t i = 0; i < active.size(); ++i) {
    UpdateStatus(&active[i],
                 static_cast<int64_t>(i) < desired ? NodeStatus::Active : NodeStatus::Standby,
                 ctx.height());
    SetNodeAccount(k, ctx, active[i]);
  }
  return {};
}

int64_t LastChurnHeight(const Vaults& active) {
  int64_t last = 0;
  for (const Vault& vault : active) last = std::max(last, vault.status_since);
  return last;
}

Error TriggerKeygen(const Keeper& k, const Context& ctx, const std::vector<NodeAccount>& nodes) {
  if (IsChurnHalted(k, ctx)) return {};
  std::vector<std::string> members;
  for (const NodeAccount& node : nodes) {
    members.push_back(node.pub_key_set.secp256k1.ToString());
  }
  Keygen keygen = MakeKeygen(ctx.height(), std::move(members), KeygenType::AsgardKeygen);
  KEEPER_ASSIGN_OR_RETURN(KeygenBlock block, GetKeygenBlock(k, ctx, ctx.height()));
  KEEPER_ASSIGN_OR_RETURN(const Vaults active,
                          GetAsgardVaultsByStatus(k, ctx, VaultStatus::ActiveVault));
  for (const Vault& vault : active) {
    if (std::is_permutation(vault.membership.begin(), vault.membership.end(),
                            keygen.members.begin(), keygen.members.end())) {
      return {};
    }
  }
  if (!Contains(block, keygen)) block.keygens.push_back(std::move(keygen));
  SetKeygenBlock(k, ctx, block);

  const Result<Vaults> unfinished = GetAsgardVaultsByStatus(k, ctx, VaultStatus::InitVault);
  if (!unfinished.ok()) return {};
  for (Vault vault : *unfinished) {
    if (HasFunds(vault)) continue;
    UpdateStatus(&vault, VaultStatus::InactiveVault, ctx.height());
    // An error here is only logged.
    (void)SetVault(k, ctx, vault);
  }
  return {};
}

Error ChurnIfDue(const Keeper& k, const Context& ctx, const Vaults& vaults) {
  if (IsRagnarokInProgress(k, ctx)) return {};
  const int64_t last = LastChurnHeight(vaults);
  const int64_t due = last + GetConfigInt64(k, ctx, ConstantName::kChurnInterval);
  const int64_t retry = GetConfigInt64(k, ctx, ConstantName::kChurnRetryInterval);
  // Overdue churns are tried again at intervals.
  const bool retries = retry > 0 && ctx.height() > due && (ctx.height() - due) % retry == 0;
  if (!retries && ctx.height() != due) return {};
  if (IsChurnHalted(k, ctx)) return {};
  if (GetConfigInt64(k, ctx, ConstantName::kAsgardSize) <= 0) return {};

  std::vector<Chain> chains;
  for (const Vault& vault : vaults) {
    const std::vector<Chain> of_vault = GetVaultChains(vault);
    chains.insert(chains.end(), of_vault.begin(), of_vault.end());
  }
  for (const Chain& chain : Distinct(chains)) {
    if (IsChainHalted(k, ctx, chain)) return {};
  }
  KEEPER_ASSIGN_OR_RETURN(const Vaults retiring,
                          GetAsgardVaultsByStatus(k, ctx, VaultStatus::RetiringVault));
  if (!retiring.empty()) return {};

  sdk::CacheContext churn(ctx);
  KEEPER_RETURN_IF_ERROR(Churn(k, churn.context(), last).Run());
  churn.Commit();
  return {};
}

}  // namespace blockreplay::keeper::thorchain
