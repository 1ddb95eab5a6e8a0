#include "keeper/thorchain/state/min_join.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kMinJoinLastPrefix = "minjoinlast/";

}  // namespace

MinJoin GetMinJoinLast(const Keeper& k, const Context& ctx) {
  MinJoinLast record;
  const std::optional<std::string_view> bytes = k.kv(ctx).Get(StoreKey(kMinJoinLastPrefix));
  if (bytes && !Decode(*bytes, &record)) record = MinJoinLast();
  SemVer version;
  if (!record.version.empty()) {
    std::optional<SemVer> parsed = SemVer::Parse(record.version);
    if (!parsed) throw sdk::Panic(sdk::StrCat("semver: Parse(", record.version, ")"));
    version = *std::move(parsed);
  }
  if (version.IsZero() || record.last_changed_height <= 0) return {GetMinJoinVersion(k, ctx), 0};
  return {std::move(version), record.last_changed_height};
}

SemVer GetMinJoinVersion(const Keeper& k, const Context& ctx) {
  const Result<NodeAccounts> active = ListActiveValidators(k, ctx);
  if (!active.ok()) return {};
  std::vector<SemVer> versions;
  for (const SharedNodeAccount& account : *active)
    versions.push_back(SemVer::ParseOrZero(account->version));
  std::sort(versions.begin(), versions.end());
  // Ascending: from here on all nodes have at least this version.
  SemVer highest;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (i > 0 && versions[i] == versions[i - 1]) continue;
    if (HasSuperMajority(versions.size() - i, versions.size())) highest = versions[i];
  }
  return highest;
}

void SetMinJoinLast(const Keeper& k, const Context& ctx) {
  const SemVer now = GetMinJoinVersion(k, ctx);
  const auto [last, since] = GetMinJoinLast(k, ctx);
  if (now == last && since > 0) return;
  SetRecord(k, ctx, StoreKey(kMinJoinLastPrefix),
            MinJoinLast{.last_changed_height = ctx.height(), .version = now.ToString()});
}

}  // namespace blockreplay::keeper::thorchain
