#include "keeper/thorchain/state/slash_points.h"

#include <algorithm>
#include <utility>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kSlashPrefix = "slash/";
constexpr std::string_view kJailPrefix = "jail/";

std::string SlashKey(const Keeper& k, const AccAddress& node) {
  return StoreKey(kSlashPrefix, ToText(k, node));
}
std::string JailKey(const Keeper& k, const AccAddress& node) {
  return StoreKey(kJailPrefix, ToText(k, node));
}

}  // namespace

int64_t GetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node) {
  int64_t points = 0;
  GetInt64(k, ctx, SlashKey(k, node), &points);
  return points;
}

void SetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points) {
  SetInt64(k, ctx, SlashKey(k, node), std::max<int64_t>(points, 0));
}

void ResetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node) {
  DeleteKey(k, ctx, SlashKey(k, node));
}

void AddSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points) {
  SetSlashPoints(k, ctx, node, GetSlashPoints(k, ctx, node) + points);
}

void SubSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points) {
  SetSlashPoints(k, ctx, node, GetSlashPoints(k, ctx, node) - points);
}

Result<Jail> GetNodeJail(const Keeper& k, const Context& ctx, const AccAddress& node) {
  Jail jail;
  jail.node_address = node;
  const Result<bool> found = GetRecord(k, ctx, JailKey(k, node), &jail);
  if (!found.ok()) return found.error();
  return jail;
}

Error SetNodeJail(const Keeper& k, const Context& ctx, const AccAddress& node,
                  int64_t release_height, std::string reason) {
  KEEPER_ASSIGN_OR_RETURN(Jail jail, GetNodeJail(k, ctx, node));
  if (jail.release_height > release_height) return {};
  jail.release_height = release_height;
  jail.reason = std::move(reason);
  SetRecord(k, ctx, JailKey(k, node), jail);
  return {};
}

Error ReleaseNodeFromJail(const Keeper& k, const Context& ctx, const AccAddress& node) {
  KEEPER_ASSIGN_OR_RETURN(Jail jail, GetNodeJail(k, ctx, node));
  jail.release_height = ctx.height();
  jail.reason.clear();
  SetRecord(k, ctx, JailKey(k, node), jail);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
