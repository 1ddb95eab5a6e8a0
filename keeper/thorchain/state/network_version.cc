#include "keeper/thorchain/state/network_version.h"

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key() { return StoreKey("version/"); }

SemVer MustParse(std::string_view text) {
  const std::optional<SemVer> version = SemVer::Parse(text);
  if (!version) throw sdk::Panic(sdk::StrCat("semver: Parse(", text, "): no semantic version"));
  return *version;
}

}  // namespace

std::optional<SemVer> GetNetworkVersion(const Keeper& k, const Context& ctx) {
  const std::optional<std::string_view> text = k.kv(ctx).Get(Key());
  if (!text) return std::nullopt;
  return MustParse(*text);
}

void SetNetworkVersion(const Keeper& k, const Context& ctx, const SemVer& version) {
  k.kv(ctx).Set(Key(), version.ToString());
}

SemVer LowestVersion(const Keeper& k, const NodeAccounts& active) {
  if (active.empty()) return MustParse(k.build->software_version);
  const std::string* text = &active.front()->version;
  SemVer lowest = SemVer::ParseOrZero(*text);
  for (const SharedNodeAccount& account : active) {
    // Nearly all run the same.
    if (account->version == *text) continue;
    SemVer version = SemVer::ParseOrZero(account->version);
    if (version < lowest) {
      lowest = std::move(version);
      text = &account->version;
    }
  }
  return lowest;
}

}  // namespace blockreplay::keeper::thorchain
