#include "keeper/thorchain/handlers/attestation.h"

#include <algorithm>
#include <utility>

#include "keeper/sdk/pub_key.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kKeySize = 33;
constexpr size_t kMostRemembered = 1 << 12;

// What a raw secp256k1 key stands for.
struct KnownKey {
  std::string text;
  AccAddress address;
};

// Remembered: the same hundred keys sign every observation.
const KnownKey& Know(const Keeper& k, const std::string& raw) {
  thread_local absl::flat_hash_map<const Network*, sdk::StringMap<KnownKey>> memories;
  sdk::StringMap<KnownKey>& memory = memories[&k.network()];
  const auto found = memory.find(raw);
  if (found != memory.end()) return found->second;
  if (memory.size() >= kMostRemembered) memory.clear();
  const CryptoKey key{CryptoKey::Type::kSecp256k1, raw};
  return memory
      .emplace(raw, KnownKey{PubKey::FromKey(key, k.network()).ToString(),
                             AccAddress(key.AddressBytes())})
      .first->second;
}

}  // namespace

Result<ActiveNodes> ActiveNodes::Read(const Keeper& k, const Context& ctx) {
  ActiveNodes nodes;
  KEEPER_ASSIGN_OR_RETURN(nodes.accounts_, ListActiveValidators(k, ctx));
  for (size_t i = 0; i < nodes.accounts_.size(); ++i) {
    nodes.by_address_.emplace(ToText(k, nodes.accounts_[i]->node_address), i);
    nodes.pub_keys_.insert(nodes.accounts_[i]->pub_key_set.secp256k1.ToString());
  }
  return nodes;
}

std::optional<size_t> ActiveNodes::IndexOf(std::string_view address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  return found->second;
}

size_t ActiveNodes::Count(const std::vector<std::string>& addresses) const {
  return static_cast<size_t>(
      std::count_if(addresses.begin(), addresses.end(),
                    [this](const std::string& address) { return Contains(address); }));
}

std::vector<AccAddress> ActiveNodes::Without(const std::vector<AccAddress>& signers) const {
  sdk::StringSet signed_by;
  for (const AccAddress& signer : signers) signed_by.insert(signer.bytes());
  std::vector<AccAddress> others;
  for (const SharedNodeAccount& account : accounts_) {
    if (!signed_by.contains(account->node_address.bytes())) others.push_back(account->node_address);
  }
  return others;
}

std::vector<const Attestation*> Deduplicate(const std::vector<Attestation>& attestations,
                                            size_t most) {
  std::vector<const Attestation*> distinct;
  sdk::StringSet seen;
  for (const Attestation& attestation : attestations) {
    if (!seen.insert(attestation.pub_key).second) continue;
    distinct.push_back(&attestation);
    // As the node: the limit is looked at after adding.
    if (distinct.size() >= most) break;
  }
  return distinct;
}

std::optional<AccAddress> VerifyAttestation(const Keeper& k, const ActiveNodes& active,
                                            std::string_view sign_bytes,
                                            const Attestation& attestation) {
  if (attestation.pub_key.size() != kKeySize || attestation.signature.empty()) return std::nullopt;
  const KnownKey& key = Know(k, attestation.pub_key);
  if (!active.HasPubKey(key.text) ||
      !sdk::VerifySecp256k1(attestation.pub_key, sign_bytes, attestation.signature)) {
    return std::nullopt;
  }
  return key.address;
}

std::vector<AccAddress> SignersOf(const Keeper& k, const std::vector<Attestation>& attestations) {
  std::vector<AccAddress> signers;
  signers.reserve(attestations.size());
  for (const Attestation& attestation : attestations) {
    if (attestation.pub_key.size() != kKeySize) throw sdk::Panic("length of pubkey is incorrect");
    signers.push_back(Know(k, attestation.pub_key).address);
  }
  return signers;
}

std::vector<AccAddress> ToAddresses(const Keeper& k, const std::vector<std::string>& texts) {
  std::vector<AccAddress> addresses;
  addresses.reserve(texts.size());
  for (const std::string& text : texts) {
    Result<std::string> bytes = k.addresses->ToBytes(text);
    if (bytes.ok()) addresses.emplace_back(*std::move(bytes));
  }
  return addresses;
}

bool HasSigner(const Keeper& k, const AccAddress& signer, const std::vector<std::string>& signers) {
  return std::find(signers.begin(), signers.end(), ToText(k, signer)) != signers.end();
}

bool AddSigner(const Keeper& k, const AccAddress& signer, std::vector<std::string>* signers) {
  if (HasSigner(k, signer, *signers)) return false;
  signers->push_back(ToText(k, signer));
  return true;
}

ObservationRules ReadObservationRules(const Keeper& k, const Context& ctx) {
  return {k.constants().GetInt64(ConstantName::kObserveSlashPoints),
          k.constants().GetInt64(ConstantName::kLackOfObservationPenalty),
          GetConfigInt64(k, ctx, ConstantName::kObservationDelayFlexibility)};
}

void AddSlashPoints(const Keeper& k, const Context& ctx, const std::vector<AccAddress>& nodes,
                    int64_t points) {
  for (const AccAddress& node : nodes) AddSlashPoints(k, ctx, node, points);
}

void SubSlashPoints(const Keeper& k, const Context& ctx, const std::vector<AccAddress>& nodes,
                    int64_t points) {
  for (const AccAddress& node : nodes) SubSlashPoints(k, ctx, node, points);
}

void SettleSlashPoints(const Keeper& k, const Context& ctx, const ActiveNodes& active,
                       const std::vector<AccAddress>& signers, const ObservationRules& rules) {
  SubSlashPoints(k, ctx, signers, rules.observe_points);
  AddSlashPoints(k, ctx, active.Without(signers), rules.lack_points);
}

Vote CastVote(const Keeper& k, const Context& ctx, const AccAddress& signer,
              bool slash_for_duplicate, int64_t consensus_height, bool (*reached)(size_t, size_t),
              const ActiveNodes& active, const ObservationRules& rules,
              std::vector<std::string>* signers) {
  if (!AddSigner(k, signer, signers)) {
    if (slash_for_duplicate) AddSlashPoints(k, ctx, signer, rules.observe_points);
    return Vote::kCounted;
  }
  if (!reached(active.Count(*signers), active.size())) {
    AddSlashPoints(k, ctx, signer, rules.observe_points);
    return Vote::kCounted;
  }
  if (consensus_height > 0) {
    if (consensus_height + rules.delay_flexibility >= ctx.height()) {
      SubSlashPoints(k, ctx, signer, rules.lack_points);
    }
    return Vote::kCounted;
  }
  return Vote::kDecides;
}

void SettleVote(const Keeper& k, const Context& ctx, const AccAddress& signer,
                const ActiveNodes& active, const ObservationRules& rules,
                const std::vector<std::string>& signers) {
  AddSlashPoints(k, ctx, signer, rules.observe_points);
  SettleSlashPoints(k, ctx, active, ToAddresses(k, signers), rules);
}

}  // namespace blockreplay::keeper::thorchain
