#include "keeper/thorchain/handlers/attestation.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "keeper/optimisations.h"
#include "keeper/sdk/pub_key.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kKeySize = 33;
constexpr size_t kSignatureSize = 64;
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
  if (found != memory.end() && IsOn(Optimisation::kBech32Texts)) return found->second;
  const CryptoKey key{CryptoKey::Type::kSecp256k1, raw};
  KnownKey known{PubKey::FromKey(key, k.network()).ToString(), AccAddress(key.AddressBytes())};
  if (found != memory.end()) return found->second;
  if (memory.size() >= kMostRemembered) memory.clear();
  return memory.emplace(raw, std::move(known)).first->second;
}

// Attestations whose signature was verified: digest, key and signature, whole, so that nothing can
// be taken for them. The older half is forgotten when the newer one is full.
class VerifiedAttestations {
 public:
  using Entry = std::array<char, std::tuple_size_v<sdk::Sha256Digest> + kKeySize + kSignatureSize>;

  static Entry EntryOf(const sdk::Sha256Digest& digest, const Attestation& attestation) {
    Entry entry;
    auto to = std::copy(digest.begin(), digest.end(), entry.begin());
    to = std::copy(attestation.pub_key.begin(), attestation.pub_key.end(), to);
    std::copy(attestation.signature.begin(), attestation.signature.end(), to);
    return entry;
  }

  bool Contains(const Entry& entry) const {
    return newer_.contains(entry) || older_.contains(entry);
  }
  void Add(const Entry& entry) {
    if (newer_.size() >= kMostAttestations) {
      older_ = std::exchange(newer_, {});
    }
    newer_.insert(entry);
  }

 private:
  // Of each half: 8 MiB. A block of mainnet has some hundred.
  static constexpr size_t kMostAttestations = 1 << 16;

  absl::flat_hash_set<Entry> newer_;
  absl::flat_hash_set<Entry> older_;
};

bool HasValidSignature(const sdk::Sha256Digest& digest, const Attestation& attestation) {
  if (attestation.signature.size() != kSignatureSize) return false;
  const auto verify = [&] {
    return sdk::VerifySecp256k1(attestation.pub_key, digest, attestation.signature);
  };
  if (!IsOn(Optimisation::kAttestations)) return verify();
  thread_local VerifiedAttestations verified;
  const VerifiedAttestations::Entry entry = VerifiedAttestations::EntryOf(digest, attestation);
  if (verified.Contains(entry)) return true;
  if (!verify()) return false;
  verified.Add(entry);
  return true;
}

}  // namespace

Result<ActiveNodes> ActiveNodes::Read(const Keeper& k, const Context& ctx) {
  thread_local std::shared_ptr<const Index> last;
  KEEPER_ASSIGN_OR_RETURN(SharedNodeAccounts accounts, ReadActiveValidators(k, ctx));
  if (last != nullptr && last->accounts == accounts && last->network == &k.network()) {
    return ActiveNodes(last);
  }
  auto index = std::make_shared<Index>();
  index->network = &k.network();
  for (size_t i = 0; i < accounts->size(); ++i) {
    const NodeAccount& account = *(*accounts)[i];
    index->by_address.emplace(ToText(k, account.node_address), i);
    index->pub_keys.insert(account.pub_key_set.secp256k1.ToString());
  }
  index->accounts = std::move(accounts);
  last = index;
  return ActiveNodes(std::move(index));
}

std::optional<size_t> ActiveNodes::IndexOf(std::string_view address) const {
  const auto found = index_->by_address.find(address);
  if (found == index_->by_address.end()) return std::nullopt;
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
  for (const SharedNodeAccount& account : accounts()) {
    if (!signed_by.contains(account->node_address.bytes())) others.push_back(account->node_address);
  }
  return others;
}

std::optional<AccAddress> VerifyAttestation(const Keeper& k, const ActiveNodes& active,
                                            const sdk::Sha256Digest& signed_digest,
                                            const Attestation& attestation) {
  if (attestation.pub_key.size() != kKeySize) return std::nullopt;
  const KnownKey& key = Know(k, attestation.pub_key);
  if (!active.HasPubKey(key.text) || !HasValidSignature(signed_digest, attestation)) {
    return std::nullopt;
  }
  return key.address;
}

std::vector<AccAddress> VerifiedSigners(const Keeper& k, const ActiveNodes& active,
                                        const std::vector<Attestation>& attestations,
                                        std::string_view signed_bytes) {
  const sdk::Sha256Digest digest = sdk::Sha256Of(signed_bytes);
  std::vector<AccAddress> signers;
  sdk::StringSet seen;
  for (const Attestation& attestation : attestations) {
    if (!seen.insert(attestation.pub_key).second) continue;
    std::optional<AccAddress> signer = VerifyAttestation(k, active, digest, attestation);
    if (signer) signers.push_back(*std::move(signer));
    // As the node: the limit is looked at after adding.
    if (seen.size() >= active.size()) break;
  }
  return signers;
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
