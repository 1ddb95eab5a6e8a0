#include "keeper/thorchain/handlers/tss_pool.h"

#include <secp256k1.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/managers/vault_rotation.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state/chain_contracts.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/keygens.h"
#include "keeper/thorchain/state/keysign_metrics.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"
#include "keeper/thorchain/state/tss_voters.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error Refused(std::string_view why) { return Error(sdk::kErrUnknownRequest, why); }

bool IsSuccess(const MsgTssPool& message) { return message.blame.empty(); }

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string Join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += ", ";
    joined += text;
  }
  return joined;
}

std::string Id(const MsgTssPool& message) {
  std::vector<std::string> blamed;
  for (const Blame& blame : message.blame) {
    for (const Node& node : blame.blame_nodes) blamed.push_back(node.pubkey);
  }
  std::string text;
  for (const std::string& member : Sorted(message.pub_keys)) text += "m:" + member;
  for (const std::string& key : Sorted(std::move(blamed))) text += "p:" + key;
  text += message.pool_pub_key.ToString();
  text += std::to_string(message.height);
  return LowerHex(Sha256(text));
}

// Twelve words in a row, a space between each: it may be a wallet's phrase.
bool LooksLikeMnemonic(std::string_view text) {
  constexpr int kWords = 12;
  int words = 0;
  bool in_word = false;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      if (!in_word && ++words == kWords) return true;
      in_word = true;
    } else {
      if (c != ' ' || !in_word) words = 0;
      in_word = false;
    }
  }
  return false;
}

// Bits per byte.
double Entropy(std::string_view bytes) {
  std::array<size_t, 256> counts{};
  for (const char c : bytes) ++counts[static_cast<uint8_t>(c)];
  double entropy = 0;
  for (const size_t count : counts) {
    if (count == 0) continue;
    const double p = static_cast<double>(count) / static_cast<double>(bytes.size());
    entropy -= p * std::log2(p);
  }
  return entropy;
}

// That the new key can sign: it signed the front of its own text, in the place of a digest. Any s.
bool VerifyCheckSignature(const Keeper& k, const PubKey& key, std::string_view signature) {
  constexpr size_t kDigestSize = 32;
  const absl::StatusOr<CryptoKey> decoded = key.Decode(k.network());
  const std::string& text = key.ToString();
  if (signature.size() != 64 || !decoded.ok() || decoded->type != CryptoKey::Type::kSecp256k1 ||
      text.size() < kDigestSize) {
    return false;
  }
  const auto bytes = [](std::string_view view) {
    return reinterpret_cast<const unsigned char*>(view.data());
  };
  secp256k1_pubkey pub_key;
  secp256k1_ecdsa_signature parsed;
  if (secp256k1_ec_pubkey_parse(secp256k1_context_static, &pub_key, bytes(decoded->bytes),
                                decoded->bytes.size()) != 1 ||
      secp256k1_ecdsa_signature_parse_compact(secp256k1_context_static, &parsed,
                                              bytes(signature)) != 1) {
    return false;
  }
  secp256k1_ecdsa_signature_normalize(secp256k1_context_static, &parsed, &parsed);
  return secp256k1_ecdsa_verify(secp256k1_context_static, &parsed, bytes(text), &pub_key) == 1;
}

// Chains that two thirds of the members can sign for, by name.
std::vector<Chain> AgreedChains(const TssVoter& voter) {
  std::map<std::string, size_t> counts;
  for (const std::string& text : voter.chains) {
    const absl::StatusOr<Chain> chain = Chain::Parse(text);
    if (chain.ok()) ++counts[chain->ToString()];
  }
  std::vector<Chain> chains;
  for (const auto& [chain, count] : counts) {
    if (HasSuperMajority(count, voter.pub_keys.size())) chains.emplace_back(chain);
  }
  return chains;
}

bool HasAgreedSignature(const TssVoter& voter) {
  std::map<std::string_view, size_t> counts;
  for (const std::string& signature : voter.secp256k1_signatures) ++counts[signature];
  return std::any_of(counts.begin(), counts.end(), [&](const auto& item) {
    return HasSuperMajority(item.second, voter.pub_keys.size());
  });
}

// May take part in making vaults.
Error CheckMaySign(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  const Result<SharedNodeAccount> node = ReadNodeAccount(k, ctx, signer);
  if (!node.ok()) return Error::New("invalid signer");
  const NodeAccount& account = **node;
  if (account.node_address.IsEmpty() || account.status == NodeStatus::Unknown) {
    return Error::New("invalid signer");
  }
  if (account.status != NodeStatus::Active && account.status != NodeStatus::Ready) {
    return Error::New(sdk::StrCat("invalid signer status(", Name(account.status), ")"));
  }
  const int64_t min_bond = GetConfigInt64(k, ctx, ConstantName::kMinimumBondInRune);
  if (account.bond < Uint(static_cast<uint64_t>(min_bond))) {
    return Error::New("signer doesn't have enough rune");
  }
  return {};
}

// The accounts of the keys that are keys.
std::vector<AccAddress> Accounts(const Keeper& k, const std::vector<std::string>& keys) {
  std::vector<AccAddress> accounts;
  for (const PubKey& key : ToPubKeys(k, keys)) {
    const Result<AccAddress> account = ThorAddress(k, key);
    if (account.ok()) accounts.push_back(*account);
  }
  return accounts;
}

// The voter while a message is added to it.
class Tally {
 public:
  Tally(const Keeper& k, const Context& ctx, const MsgTssPool& message)
      : k_(k),
        ctx_(ctx),
        message_(message),
        members_(Sorted(message.pub_keys)),
        observe_points_(k.constants().GetInt64(ConstantName::kObserveSlashPoints)),
        lack_points_(k.constants().GetInt64(ConstantName::kLackOfObservationPenalty)),
        fail_points_(k.constants().GetInt64(ConstantName::kFailKeygenSlashPoints)),
        jail_blocks_(k.constants().GetInt64(ConstantName::kJailTimeKeygen)) {}

  Error Run() {
    if (IsSuccess(message_) && !message_.pool_pub_key.IsEmpty()) RecordTime();
    KEEPER_ASSIGN_OR_RETURN(voter_, GetTssVoter(k_, ctx_, message_.id));
    if (voter_.pool_pub_key.IsEmpty()) {
      voter_.pool_pub_key = message_.pool_pub_key;
      voter_.pool_pub_key_eddsa = message_.pool_pub_key_eddsa;
      voter_.pub_keys = members_;
    }
    if (voter_.pool_pub_key != message_.pool_pub_key ||
        voter_.pool_pub_key_eddsa != message_.pool_pub_key_eddsa) {
      return Error::New("invalid pool pubkey");
    }
    const int64_t flexibility =
        GetConfigInt64(k_, ctx_, ConstantName::kObservationDelayFlexibility);
    if (!Sign()) {
      AddSlashPoints(k_, ctx_, message_.signer, observe_points_);
      return {};
    }
    SetTssVoter(k_, ctx_, voter_);
    if (!HasConsensus()) {
      AddSlashPoints(k_, ctx_, message_.signer, observe_points_);
      return {};
    }
    if (voter_.block_height > 0 && voter_.block_height + flexibility >= ctx_.height()) {
      SubSlashPoints(k_, ctx_, message_.signer, lack_points_);
    }
    if (voter_.block_height == 0) KEEPER_RETURN_IF_ERROR(ReachConsensus());
    if (!IsSuccess(message_)) return {};
    JudgeLateSigners();
    return voter_.signers.size() == voter_.pub_keys.size() ? MakeVault() : Error();
  }

 private:
  bool HasConsensus() const {
    return HasSuperMajority(voter_.signers.size(), voter_.pub_keys.size());
  }
  bool HasSigned(const AccAddress& account) const {
    const std::string& text = ToText(k_, account);
    return std::find(voter_.signers.begin(), voter_.signers.end(), text) != voter_.signers.end();
  }

  void RecordTime() const {
    Result<TssKeygenMetric> metric = GetKeygenMetric(k_, ctx_, message_.pool_pub_key);
    if (!metric.ok()) return;
    SetNodeTime(&metric->node_tss_times, message_.signer, message_.keygen_time);
    SetKeygenMetric(k_, ctx_, *metric);
  }

  bool Sign() {
    if (HasSigned(message_.signer)) return false;
    const std::vector<AccAddress> members = Accounts(k_, voter_.pub_keys);
    if (std::find(members.begin(), members.end(), message_.signer) == members.end()) return false;
    voter_.signers.push_back(ToText(k_, message_.signer));
    voter_.chains.insert(voter_.chains.end(), message_.chains.begin(), message_.chains.end());
    if (!message_.secp256k1_signature.empty()) {
      voter_.secp256k1_signatures.push_back(message_.secp256k1_signature);
    }
    return true;
  }

  // Two thirds agree from here on.
  Error ReachConsensus() {
    voter_.block_height = ctx_.height();
    SetTssVoter(k_, ctx_, voter_);
    AddSlashPoints(k_, ctx_, message_.signer, observe_points_);
    for (const std::string& signer : voter_.signers) {
      const sdk::Result<std::string> bytes = k_.addresses->ToBytes(signer);
      if (bytes.ok()) SubSlashPoints(k_, ctx_, AccAddress(*bytes), observe_points_);
    }
    for (const AccAddress& member : Accounts(k_, members_)) {
      if (!HasSigned(member)) AddSlashPoints(k_, ctx_, member, lack_points_);
    }
    if (IsSuccess(message_)) return {};

    const Result<NodeAccounts> ready = ListValidatorsByStatus(k_, ctx_, NodeStatus::Ready);
    if (ready.ok()) {
      for (const SharedNodeAccount& node : *ready) {
        NodeAccount account = *node;
        UpdateStatus(&account, NodeStatus::Standby, ctx_.height());
        SetNodeAccount(k_, ctx_, account);
      }
    }
    return Punish();
  }

  // Those blamed for a failure.
  Error Punish() const {
    std::vector<std::string> blamed;
    for (const Blame& blame : message_.blame) {
      for (const Node& node : blame.blame_nodes) {
        for (const AccAddress& account : Accounts(k_, {node.pubkey})) {
          blamed.push_back(ToText(k_, account));
        }
      }
    }
    blamed = Sorted(std::move(blamed));
    for (const Blame& blame : message_.blame) {
      for (const Node& node : blame.blame_nodes) {
        KEEPER_ASSIGN_OR_RETURN(NodeAccount account,
                                GetNodeAccountByPubKey(k_, ctx_, PubKey(node.pubkey)));
        KEEPER_RETURN_IF_ERROR(Punish(&account));
        SetNodeAccount(k_, ctx_, account);
      }
      ctx_.events().Emit(
          sdk::Event("tss_keygen_failure", {{"reason", blame.fail_reason},
                                            {"round", blame.round},
                                            {"is_unicast", blame.is_unicast ? "true" : "false"},
                                            {"height", std::to_string(message_.height)},
                                            {"blame", Join(blamed)}}));
    }
    return {};
  }

  Error Punish(NodeAccount* account) const {
    const AccAddress& address = account->node_address;
    if (account->status == NodeStatus::Active) {
      AddSlashPoints(k_, ctx_, address, fail_points_);
      ctx_.events().Emit(sdk::Event("slash_points", {{"node_address", ToText(k_, address)},
                                                     {"slash_points", std::to_string(fail_points_)},
                                                     {"reason", "fail keygen"}}));
      return {};
    }
    // An error here is only logged.
    (void)SetNodeJail(k_, ctx_, address, ctx_.height() + jail_blocks_, "failed to perform keygen");
    NetworkRecord network;
    const Result<bool> found = GetRecord(k_, ctx_, StoreKey("network/"), &network);
    if (!found.ok()) return Error::New("fail to get network");
    const Uint slash =
        std::min(GetUncappedShare(Uint(static_cast<uint64_t>(fail_points_)),
                                  network.total_bond_units, network.bond_reward_rune),
                 account->bond);
    account->bond = SafeSub(account->bond, slash);
    if (!slash.IsZero()) {
      KEEPER_RETURN_IF_ERROR(SendFromModuleToModule(k_, ctx_, kBondModule, kReserveModule,
                                                    {Coin(assets::kRune, slash)}));
    }
    EmitBondEvent(k_, ctx_, slash, BondType::bond_cost, Tx(), address, AccAddress());
    return {};
  }

  // Members who haven't agreed to a success that two thirds agree to.
  void JudgeLateSigners() const {
    if (voter_.majority_consensus_block_height > 0) {
      SubSlashPoints(k_, ctx_, message_.signer, fail_points_);
      // An error here is only logged.
      (void)ReleaseNodeFromJail(k_, ctx_, message_.signer);
      return;
    }
    // As in the node, the voter that a vault is made of keeps its old height.
    TssVoter voter = voter_;
    voter.majority_consensus_block_height = ctx_.height();
    SetTssVoter(k_, ctx_, voter);
    for (const AccAddress& member : Accounts(k_, members_)) {
      if (HasSigned(member)) continue;
      AddSlashPoints(k_, ctx_, member, fail_points_);
      (void)SetNodeJail(k_, ctx_, member, ctx_.height() + jail_blocks_,
                        "failed to vote keygen in time");
    }
  }

  // All members agree.
  Error MakeVault() {
    if (!HasAgreedSignature(voter_)) return {};
    voter_.block_height = ctx_.height();
    SetTssVoter(k_, ctx_, voter_);

    const std::vector<Chain> chains = AgreedChains(voter_);
    Vault vault;
    vault.block_height = ctx_.height();
    vault.status_since = ctx_.height();
    vault.pub_key = voter_.pool_pub_key;
    vault.pub_key_eddsa = voter_.pool_pub_key_eddsa;
    vault.type = VaultType::AsgardVault;
    vault.status = VaultStatus::InitVault;
    for (const Chain& chain : chains) vault.chains.push_back(chain.ToString());
    vault.routers = GetChainContracts(k_, ctx_, chains);
    vault.membership = voter_.pub_keys;
    KEEPER_RETURN_IF_ERROR(SetVault(k_, ctx_, vault));

    KEEPER_ASSIGN_OR_RETURN(const KeygenBlock block, GetKeygenBlock(k_, ctx_, message_.height));
    KEEPER_ASSIGN_OR_RETURN(const Vaults made,
                            GetAsgardVaultsByStatus(k_, ctx_, VaultStatus::InitVault));
    if (const Result<TssKeygenMetric> metric = GetKeygenMetric(k_, ctx_, message_.pool_pub_key);
        metric.ok()) {
      ctx_.events().Emit(
          sdk::Event("tss_keygen",
                     {{"pubkey", metric->pub_key.ToString()},
                      {"median_duration_ms", std::to_string(MedianTime(metric->node_tss_times))}}));
    }
    // They take over together.
    if (made.size() == block.keygens.size()) {
      for (const Vault& next : made) KEEPER_RETURN_IF_ERROR(RotateVault(k_, ctx_, next));
    }
    std::vector<std::string> members;
    for (const AccAddress& member : Accounts(k_, vault.membership)) {
      members.push_back(ToText(k_, member));
    }
    ctx_.events().Emit(
        sdk::Event("tss_keygen_success", {{"pubkey", message_.pool_pub_key.ToString()},
                                          {"height", std::to_string(message_.height)},
                                          {"members", Join(members)}}));
    return {};
  }

  const Keeper& k_;
  const Context& ctx_;
  const MsgTssPool& message_;
  const std::vector<std::string> members_;
  const int64_t observe_points_;
  const int64_t lack_points_;
  const int64_t fail_points_;
  const int64_t jail_blocks_;
  TssVoter voter_;
};

class TssPoolHandler : public Handler<MsgTssPool> {
 public:
  explicit TssPoolHandler(Managers* managers) : Handler("/types.MsgTssPool", managers) {}

 protected:
  Error ValidateBasic(const MsgTssPool& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (message.id.empty()) return Refused("ID cannot be blank");
    if (message.pub_keys.size() < 2) return Refused("Must have at least 2 pub keys");
    if (message.pub_keys.size() > 100) return Refused("Must have no more then 100 pub keys");
    KEEPER_RETURN_IF_ERROR(CheckBlame(message));
    KEEPER_RETURN_IF_ERROR(CheckMembers(message));
    if (IsSuccess(message) && message.pool_pub_key.IsEmpty()) {
      return Refused("Pool pubkey cannot be empty");
    }
    if (!IsValidPubKey(k(), message.pool_pub_key.ToString())) return Refused("bad pool pubkey");
    KEEPER_RETURN_IF_ERROR(CheckChains(message));
    return CheckBackup(message.keyshares_backup);
  }
  std::vector<AccAddress> GetSigners(const MsgTssPool& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgTssPool& message) const override {
    return CheckMaySign(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgTssPool& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    if (message.keygen_type != KeygenType::AsgardKeygen) {
      return Error::New("only asgard vaults allowed for tss");
    }
    if (!IsValidPubKey(k(), message.pool_pub_key_eddsa.ToString())) return Refused("bad eddsa key");
    if (message.id != Id(message)) return Refused("invalid tss message");
    const int64_t retry = GetConfigInt64(k(), ctx, ConstantName::kChurnRetryInterval);
    if (message.height <= ctx.height() - retry) return Refused("invalid keygen block");
    if (!message.secp256k1_signature.empty() &&
        !VerifyCheckSignature(k(), message.pool_pub_key, message.secp256k1_signature)) {
      return Refused("invalid secp256k1 check signature");
    }
    KEEPER_ASSIGN_OR_RETURN(const KeygenBlock block, GetKeygenBlock(k(), ctx, message.height));
    const std::vector<PubKey> keys = ToPubKeys(k(), message.pub_keys);
    for (const Keygen& keygen : block.keygens) {
      if (message.keygen_type != keygen.type || !SameKeys(keys, ToPubKeys(k(), keygen.members))) {
        continue;
      }
      const std::vector<AccAddress> members = Accounts(k(), keygen.members);
      if (std::find(members.begin(), members.end(), message.signer) != members.end()) {
        return CheckMaySign(k(), ctx, message.signer);
      }
    }
    return Error(sdk::kErrUnauthorized, "not authorized");
  }
  Error Run(const Context& ctx, const MsgTssPool& message) const override {
    return Tally(k(), ctx, message).Run();
  }

 private:
  static Error CheckBlame(const MsgTssPool& message) {
    const std::set<std::string_view> members(message.pub_keys.begin(), message.pub_keys.end());
    std::set<std::string_view> seen;
    for (const Blame& blame : message.blame) {
      for (const Node& node : blame.blame_nodes) {
        if (!members.contains(node.pubkey)) {
          return Refused("blame node not in keygen participants");
        }
        if (!seen.insert(node.pubkey).second) return Refused("duplicate blame node");
      }
    }
    return {};
  }
  Error CheckMembers(const MsgTssPool& message) const {
    const std::vector<PubKey> keys = ToPubKeys(k(), message.pub_keys);
    if (keys.size() != message.pub_keys.size()) {
      return Refused("One or more pubkeys were not valid");
    }
    bool has_signer = false;
    for (const PubKey& key : keys) {
      if (key.IsEmpty()) return Refused("Pubkey cannot be empty");
      const Result<AccAddress> account = ThorAddress(k(), key);
      if (!account.ok()) return Refused("invalid pub key");
      has_signer = has_signer || *account == message.signer;
    }
    return has_signer ? Error() : Refused("signer is not part of keygen member");
  }
  static Error CheckChains(const MsgTssPool& message) {
    std::vector<Chain> chains;
    for (const std::string& text : message.chains) {
      const absl::StatusOr<Chain> chain = Chain::Parse(text);
      if (!chain.ok()) return Refused("One or more chains were not valid");
      chains.push_back(*chain);
    }
    if (!Contains(chains, chains::kTHOR)) return Refused("must support rune asset chain");
    if (chains.size() != Distinct(chains).size()) return Refused("cannot have duplicate chains");
    return {};
  }
  static Error CheckBackup(std::string_view backup) {
    constexpr size_t kLeastSize = 1024;
    constexpr double kLeastEntropy = 7;
    if (backup.empty()) return {};
    if (LooksLikeMnemonic(backup) || backup.size() < kLeastSize ||
        Entropy(backup) < kLeastEntropy) {
      return Refused("invalid keyshares backup");
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewTssPoolHandler(Managers* managers) {
  return std::make_unique<TssPoolHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
