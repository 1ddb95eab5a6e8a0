#include "keeper/thorchain/state/upgrades.h"

#include <set>

#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kApproved = "\x01";
constexpr std::string_view kRejected = "\xff";

std::string ProposalKey(std::string_view name) { return sdk::StrCat(kUpgradeProposalPrefix, name); }
std::string VotePrefix(std::string_view name) { return sdk::StrCat("upgr_votes/", name, "/"); }

}  // namespace

Result<std::optional<UpgradeProposal>> GetProposedUpgrade(const Keeper& k, const Context& ctx,
                                                          std::string_view name) {
  const std::optional<std::string_view> bytes = k.kv(ctx).Get(ProposalKey(name));
  if (!bytes) return std::optional<UpgradeProposal>();
  UpgradeProposal proposal;
  if (!Decode(*bytes, &proposal)) return Error::New("failed to unmarshal proposed upgrade");
  return std::optional<UpgradeProposal>(std::move(proposal));
}

void SetProposedUpgrade(const Keeper& k, const Context& ctx, std::string_view name,
                        const UpgradeProposal& proposal) {
  SetRecord(k, ctx, ProposalKey(name), proposal);
}

Error RemoveExpiredUpgradeProposals(const Keeper& k, const Context& ctx) {
  const sdk::KVStore store = k.kv(ctx);
  for (sdk::GasIterator it = store.IteratePrefix(kUpgradeProposalPrefix); it.Valid(); it.Next()) {
    UpgradeProposal proposal;
    if (!Decode(it.value(), &proposal)) return Error::New("failed to unmarshal proposed upgrade");
    if (ctx.height() <= proposal.height) continue;
    const std::string_view name = it.key().substr(it.key().rfind('/') + 1);
    for (sdk::GasIterator vote = store.IteratePrefix(VotePrefix(name)); vote.Valid(); vote.Next()) {
      store.Delete(vote.key());
    }
    store.Delete(it.key());
  }
  return {};
}

std::optional<bool> GetUpgradeVote(const Keeper& k, const Context& ctx, const AccAddress& validator,
                                   std::string_view name) {
  const std::optional<std::string_view> vote = k.kv(ctx).Get(VotePrefix(name) + validator.bytes());
  if (!vote) return std::nullopt;
  return *vote == kApproved;
}

void SetUpgradeVote(const Keeper& k, const Context& ctx, const AccAddress& validator,
                    std::string_view name, bool approves) {
  k.kv(ctx).Set(VotePrefix(name) + validator.bytes(), approves ? kApproved : kRejected);
}

Result<bool> IsUpgradeApproved(const Keeper& k, const Context& ctx, std::string_view name) {
  KEEPER_ASSIGN_OR_RETURN(const NodeAccounts active, ListActiveValidators(k, ctx));
  std::set<std::string_view> validators;
  for (const SharedNodeAccount& account : active) validators.insert(account->node_address.bytes());
  const std::string prefix = VotePrefix(name);
  size_t approving = 0;
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(prefix); it.Valid(); it.Next()) {
    if (it.value() == kApproved && validators.contains(it.key().substr(prefix.size()))) ++approving;
  }
  // True without any validator.
  return approving * 3 >= validators.size() * 2;
}

}  // namespace blockreplay::keeper::thorchain
