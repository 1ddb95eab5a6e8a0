#include "keeper/thorchain/state/node_votes.h"

#include <string>

#include "keeper/thorchain/state/pub_keys.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string BanKey(const Keeper& k, const AccAddress& node) {
  return StoreKey("ban/", ToText(k, node));
}
std::string KeysignFailKey(const std::string& id) { return StoreKey("tssKeysignFailure/", id); }

}  // namespace

Result<BanVoter> GetBanVoter(const Keeper& k, const Context& ctx, const AccAddress& node) {
  BanVoter voter;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, BanKey(k, node), &voter));
  if (!found) voter.node_address = node;
  return voter;
}

void SetBanVoter(const Keeper& k, const Context& ctx, const BanVoter& voter) {
  SetRecord(k, ctx, BanKey(k, voter.node_address), voter);
}

Result<TssKeysignFailVoter> GetKeysignFailVoter(const Keeper& k, const Context& ctx,
                                                const std::string& id) {
  TssKeysignFailVoter voter;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, KeysignFailKey(id), &voter));
  if (!found) voter.id = id;
  return voter;
}

void SetKeysignFailVoter(const Keeper& k, const Context& ctx, const TssKeysignFailVoter& voter) {
  SetRecord(k, ctx, KeysignFailKey(voter.id), voter);
}

}  // namespace blockreplay::keeper::thorchain
