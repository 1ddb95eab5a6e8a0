#include "keeper/thorchain/handlers/tss_keysign_fail.h"

#include <algorithm>
#include <string>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/node_votes.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Sorted, as the node does before anything else.
std::vector<Node> SortedNodes(const Blame& blame) {
  std::vector<Node> nodes = blame.blame_nodes;
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Node& a, const Node& b) { return a.pubkey < b.pubkey; });
  return nodes;
}

std::string Id(const MsgTssKeysignFail& message) {
  std::string text;
  for (const Node& node : SortedNodes(message.blame)) text += node.pubkey;
  text += std::to_string(message.height);
  text += message.memo;
  text += message.pub_key.ToString();
  for (const Coin& coin : message.coins) text += coin.ToString();
  text += message.blame.round;
  return LowerHex(Sha256(text));
}

// The last round, after which a signature may exist already.
bool IsLastRound(std::string_view round) {
  return round == "SignRound7Message" || round == "EDDSASignRound3Message";
}

// Active validators, and members of vaults whose funds are still moving.
Error CheckMaySign(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  if (IsActiveValidator(k, ctx, signer)) return {};
  const Result<Vaults> vaults = GetAsgardVaultsByStatus(k, ctx, VaultStatus::RetiringVault);
  if (!vaults.ok()) return Error::New("fail to get retiring vaults");
  if (!vaults->empty()) {
    const Result<SharedNodeAccount> account = ReadNodeAccount(k, ctx, signer);
    if (!account.ok()) return Error::New("fail to get node account");
    const PubKey& key = (*account)->pub_key_set.secp256k1;
    for (const Vault& vault : *vaults) {
      if (Contains(GetMembership(k, vault), key)) return {};
    }
  }
  return Error(sdk::kErrUnauthorized, "not authorized");
}

class TssKeysignFailHandler : public Handler<MsgTssKeysignFail> {
 public:
  explicit TssKeysignFailHandler(Managers* managers)
      : Handler("/types.MsgTssKeysignFail", managers) {}

 protected:
  Error ValidateBasic(const MsgTssKeysignFail& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (message.id.empty()) return Error(sdk::kErrUnknownRequest, "ID cannot be blank");
    if (message.coins.empty()) return Error(sdk::kErrUnknownRequest, "no coins");
    if (const absl::Status valid = message.coins.Valid(); !valid.ok()) {
      return Error(sdk::kErrInvalidCoins, std::string(valid.message()));
    }
    if (message.blame.fail_reason.empty()) {
      return Error(sdk::kErrUnknownRequest, "tss blame is empty");
    }
    for (const Node& node : message.blame.blame_nodes) {
      if (!IsValidPubKey(k(), node.pubkey)) {
        return Error(sdk::kErrUnknownRequest, "invalid blame node pubkey: " + node.pubkey);
      }
    }
    if (message.height <= 0) {
      return Error(sdk::kErrUnknownRequest, "block height cannot be equal to less than zero");
    }
    if (message.memo.size() > kMaxMemoSize) {
      return Error(sdk::kErrUnknownRequest, "memo is too long");
    }
    if (message.pub_key.IsEmpty()) {
      return Error(sdk::kErrUnknownRequest, "vault pubkey cannot be empty");
    }
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgTssKeysignFail& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgTssKeysignFail& message) const override {
    return CheckMaySign(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgTssKeysignFail& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    if (!EqualFold(Id(message), message.id)) {
      return Error(sdk::kErrUnknownRequest, "invalid keysign fail message");
    }
    KEEPER_RETURN_IF_ERROR(CheckMaySign(k(), ctx, message.signer));
    const Result<NodeAccounts> active = ListActiveValidators(k(), ctx);
    if (!active.ok()) return Error::New("fail to get list of active node accounts");
    const size_t blamed = message.blame.blame_nodes.size();
    const size_t others = active->size() > blamed ? active->size() - blamed : 0;
    if (GetConfigInt64(k(), ctx, ConstantName::kAllowWideBlame) == 0 &&
        !HasSimpleMajority(others, active->size())) {
      return Error::New(sdk::StrCat("blame cast too wide: ", blamed, "/", active->size()));
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgTssKeysignFail& message) const override {
    KEEPER_ASSIGN_OR_RETURN(TssKeysignFailVoter voter, GetKeysignFailVoter(k(), ctx, message.id));
    const int64_t observe_points = k().constants().GetInt64(ConstantName::kObserveSlashPoints);
    AddSlashPoints(k(), ctx, message.signer, observe_points);
    const std::string& signer = ToText(k(), message.signer);
    if (std::find(voter.signers.begin(), voter.signers.end(), signer) != voter.signers.end()) {
      return {};
    }
    voter.signers.push_back(signer);

    Result<Vault> vault = GetVault(k(), ctx, message.pub_key);
    if (!vault.ok()) return Error::New("fail to get vault: " + vault.error().message());
    if (vault->pub_key.IsEmpty()) {
      SetKeysignFailVoter(k(), ctx, voter);
      return {};
    }
    NodeAccounts members;
    for (const PubKey& key : GetMembership(k(), *vault)) {
      Result<SharedNodeAccount> account = ReadNodeAccountByPubKey(k(), ctx, key);
      if (!account.ok()) return Error::New("fail to get node account");
      members.push_back(*std::move(account));
    }
    if (IsLastRound(message.blame.round) && IsNodeKeys(members, message.signer)) {
      ++voter.last_round_count;
    }
    SetKeysignFailVoter(k(), ctx, voter);
    const size_t agreeing = CountMembers(voter, members);
    if (!HasSimpleMajority(agreeing, members.size())) return {};

    if (voter.last_round_count > 1 || (voter.last_round_count > 0 && agreeing <= 2)) {
      KEEPER_RETURN_IF_ERROR(Freeze(ctx, message.coins, &*vault));
    }
    for (const AccAddress& address : SignersOf(voter)) {
      SubSlashPoints(k(), ctx, address, observe_points);
    }
    voter.signers.clear();
    voter.last_round_count = 0;
    SetKeysignFailVoter(k(), ctx, voter);
    return Punish(ctx, message.blame);
  }

 private:
  std::vector<AccAddress> SignersOf(const TssKeysignFailVoter& voter) const {
    std::vector<AccAddress> signers;
    for (const std::string& text : voter.signers) {
      const sdk::Result<std::string> bytes = k().addresses->ToBytes(text);
      if (bytes.ok()) signers.emplace_back(*bytes);
    }
    return signers;
  }

  size_t CountMembers(const TssKeysignFailVoter& voter, const NodeAccounts& members) const {
    const std::vector<AccAddress> signers = SignersOf(voter);
    return static_cast<size_t>(
        std::count_if(signers.begin(), signers.end(), [&](const AccAddress& signer) {
          return std::any_of(members.begin(), members.end(), [&](const SharedNodeAccount& member) {
            return member->node_address == signer;
          });
        }));
  }

  // The vault gets nothing more to sign on the coins' chains: it may have signed already.
  Error Freeze(const Context& ctx, const Coins& coins, Vault* vault) const {
    for (const Coin& coin : coins) {
      const std::string chain = coin.asset.GetChain().ToString();
      if (std::find(vault->frozen.begin(), vault->frozen.end(), chain) == vault->frozen.end()) {
        vault->frozen.push_back(chain);
      }
    }
    return SetVault(k(), ctx, *vault);
  }

  Error Punish(const Context& ctx, const Blame& blame) const {
    const int64_t points = k().constants().GetInt64(ConstantName::kFailKeysignSlashPoints);
    const int64_t jail_blocks = k().constants().GetInt64(ConstantName::kJailTimeKeysign);
    for (const Node& node : SortedNodes(blame)) {
      const Result<SharedNodeAccount> account =
          ReadNodeAccountByPubKey(k(), ctx, PubKey(node.pubkey));
      if (!account.ok()) return Error::New("fail to get node account");
      const AccAddress& address = (*account)->node_address;
      AddSlashPoints(k(), ctx, address, points);
      ctx.events().Emit(sdk::Event("slash_points", {{"node_address", ToText(k(), address)},
                                                    {"slash_points", std::to_string(points)},
                                                    {"reason", "fail keysign"}}));
      // An error here is only logged.
      (void)SetNodeJail(k(), ctx, address, ctx.height() + jail_blocks, "failed to perform keysign");
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewTssKeysignFailHandler(Managers* managers) {
  return std::make_unique<TssKeysignFailHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
