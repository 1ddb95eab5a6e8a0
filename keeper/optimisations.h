#pragma once

// What native execution does to be fast and could leave out: none changes a result. Each has a name
// and can be switched off, so that what it is worth can be measured (`blockreplay run --disable`,
// docs/native-execution.md).

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace blockreplay::keeper {

enum class Optimisation : uint8_t {
  kActiveValidators,
  kNodeAccountDecodes,
  kVaultDecodes,
  kPoolDecodes,
  kTxOutDecodes,
  kTxOutWalks,
  kDollarPrices,
  kVoterSlots,
  kBech32Texts,
  kPublicKeys,
  kOracleRates,
  kAttestations,
};

// By Optimisation.
inline constexpr std::array<std::string_view, 12> kOptimisationNames{
    // The list of active validators, and the indexes over it, are made once as long as no node
    // account is written.
    "active-validators",
    // Records are decoded once for all times that the same bytes are read.
    "node-account-decodes",
    "vault-decodes",
    "pool-decodes",
    "tx-out-decodes",
    // The outbounds of hundreds of heights are read in one walk over their keys, and priced with
    // each pool read once.
    "tx-out-walks",
    // What a RUNE costs is computed once as long as no pool and no mimir is written.
    "dollar-prices",
    // Signers of an observation are counted by their place in the list of validators.
    "voter-slots",
    // What addresses and keys are as text, and texts as addresses, is remembered.
    "bech32-texts",
    // Keys that signatures are verified with stay decompressed.
    "public-keys",
    // Each rate of a price feed is converted once.
    "oracle-rates",
    // An attestation that was verified is known when it comes again.
    "attestations",
};

// A bit for each Optimisation.
class OptimisationSet {
 public:
  constexpr OptimisationSet() = default;
  constexpr OptimisationSet(std::initializer_list<Optimisation> members) {
    for (const Optimisation member : members) bits_ |= Bit(member);
  }

  constexpr void Add(Optimisation member) { bits_ |= Bit(member); }
  constexpr bool Contains(Optimisation member) const { return (bits_ & Bit(member)) != 0; }
  constexpr uint32_t bits() const { return bits_; }

 private:
  static constexpr uint32_t Bit(Optimisation member) {
    return uint32_t{1} << static_cast<unsigned>(member);
  }
  uint32_t bits_ = 0;
};

// kInvalidArgument: a name that is none; the message lists all.
absl::StatusOr<OptimisationSet> ParseOptimisations(const std::vector<std::string>& names);

namespace internal {
inline std::atomic<uint32_t> switched_off{0};
}

// For the whole process, whose threads share what is remembered. Not while a chain executes.
inline void SwitchOff(OptimisationSet set) { internal::switched_off.store(set.bits()); }

inline bool IsOn(Optimisation optimisation) {
  return (internal::switched_off.load(std::memory_order_relaxed) >>
              static_cast<unsigned>(optimisation) &
          1U) == 0;
}

}  // namespace blockreplay::keeper
