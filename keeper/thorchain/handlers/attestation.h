#pragma once

// What the handlers of observations share: who may vote, whose signature counts, and what voting
// early, late, twice or not at all costs.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keeper/sdk/pub_key.h"
#include "keeper/sdk/string_map.h"
#include "keeper/thorchain/handlers/handler.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {

// The active validators, as a message finds them.
class ActiveNodes {
 public:
  // Reads all node accounts.
  static Result<ActiveNodes> Read(const Keeper& k, const Context& ctx);

  const NodeAccounts& accounts() const { return *index_->accounts; }
  size_t size() const { return accounts().size(); }
  // By address, as text.
  bool Contains(std::string_view address) const { return index_->by_address.contains(address); }
  std::optional<size_t> IndexOf(std::string_view address) const;
  // By the text of its secp256k1 key.
  bool HasPubKey(std::string_view text) const { return index_->pub_keys.contains(text); }
  // How many of these addresses, each listed once, it has.
  size_t Count(const std::vector<std::string>& addresses) const;
  // Those that aren't among `signers`.
  std::vector<AccAddress> Without(const std::vector<AccAddress>& signers) const;

 private:
  struct Index {
    const Network* network;
    SharedNodeAccounts accounts;
    sdk::StringMap<size_t> by_address;
    sdk::StringSet pub_keys;
  };

  explicit ActiveNodes(std::shared_ptr<const Index> index) : index_(std::move(index)) {}

  std::shared_ptr<const Index> index_;
};

// The account of an active node whose signature of the bytes with this SHA-256 the attestation
// carries; nothing otherwise. What was verified is remembered: both stages of an observation carry
// the same attestations.
std::optional<AccAddress> VerifyAttestation(const Keeper& k, const ActiveNodes& active,
                                            const sdk::Sha256Digest& signed_digest,
                                            const Attestation& attestation);

// The accounts of the attestations of these bytes that are verified. Looks at the first of each
// key, and at no more keys than there are nodes.
std::vector<AccAddress> VerifiedSigners(const Keeper& k, const ActiveNodes& active,
                                        const std::vector<Attestation>& attestations,
                                        std::string_view signed_bytes);

// The accounts of all keys, verified or not. Panics at keys of another length than 33 bytes.
std::vector<AccAddress> SignersOf(const Keeper& k, const std::vector<Attestation>& attestations);

// Addresses of texts; what isn't one is left out.
std::vector<AccAddress> ToAddresses(const Keeper& k, const std::vector<std::string>& texts);

// Adds the address unless it is there; false if it is.
bool AddSigner(const Keeper& k, const AccAddress& signer, std::vector<std::string>* signers);
bool HasSigner(const Keeper& k, const AccAddress& signer, const std::vector<std::string>& signers);

// Slash points of observations.
struct ObservationRules {
  int64_t observe_points = 0;     // for any observation, until it turns out to be useful
  int64_t lack_points = 0;        // for being missing when consensus is reached
  int64_t delay_flexibility = 0;  // blocks after consensus in which voting still counts
};
// Reads the mimir of the last one.
ObservationRules ReadObservationRules(const Keeper& k, const Context& ctx);

void AddSlashPoints(const Keeper& k, const Context& ctx, const std::vector<AccAddress>& nodes,
                    int64_t points);
void SubSlashPoints(const Keeper& k, const Context& ctx, const std::vector<AccAddress>& nodes,
                    int64_t points);
// Consensus is reached: forgives the signers their observation, and charges the others.
void SettleSlashPoints(const Keeper& k, const Context& ctx, const ActiveNodes& active,
                       const std::vector<AccAddress>& signers, const ObservationRules& rules);

// What a vote in a simple voter (all but observed transactions) comes to.
enum class Vote {
  kCounted,  // nothing more to do
  kDecides,  // this one brings consensus: act, and call SettleVote
};
// Adds the vote and charges for it. `consensus_height` is zero before consensus.
Vote CastVote(const Keeper& k, const Context& ctx, const AccAddress& signer,
              bool slash_for_duplicate, int64_t consensus_height, bool (*reached)(size_t, size_t),
              const ActiveNodes& active, const ObservationRules& rules,
              std::vector<std::string>* signers);
// After CastVote has answered kDecides.
void SettleVote(const Keeper& k, const Context& ctx, const AccAddress& signer,
                const ActiveNodes& active, const ObservationRules& rules,
                const std::vector<std::string>& signers);

}  // namespace blockreplay::keeper::thorchain
