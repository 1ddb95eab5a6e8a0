#pragma once

// Compares what a chain's native code does in a phase with what was recorded. The chain sees the
// request and a branch of the true state only; what was recorded stays on this side.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/chain.h"

namespace blockreplay::keeper {

// Net writes of a phase: the last one per key of each store.
class RecordedWrites {
 public:
  struct Write {
    std::string_view value;
    bool deleted;
  };
  using Store = std::map<std::string_view, Write>;

  // `phase` must outlive this; null stands for a phase without writes. Writes to stores that the
  // chain doesn't have are an error.
  static absl::StatusOr<RecordedWrites> From(const v1::Phase* phase,
                                             const std::vector<std::string>& store_names);

  const std::vector<Store>& stores() const { return stores_; }
  int64_t count() const { return count_; }
  // Puts them on a branch, in key order.
  void ApplyTo(sdk::MultiStore* state) const;

 private:
  std::vector<Store> stores_;
  int64_t count_ = 0;
};

struct PhaseDifference {
  int64_t height = 0;
  int tx_index = -1;
  std::string text;  // what, expected and actual; several lines
};

struct KindCoverage {
  int64_t phases = 0;
  int64_t executed = 0;
  int64_t matched = 0;
  int64_t writes = 0;                        // recorded
  int64_t matched_writes = 0;                // of matched phases
  std::vector<PhaseDifference> differences;  // the first ones
  std::string not_native;                    // why, of the first phase that has no native code
};

struct Coverage {
  // Begin block, end block, kinds of transactions.
  std::map<std::string, KindCoverage> by_kind;
  // Genesis, which is no phase of a block: not in the total. Counted only where it was executed.
  KindCoverage genesis;
  KindCoverage Total() const;
  // What was executed, genesis included, did what is recorded.
  bool AllMatched() const;
  void Add(const Coverage& other);
  // For people: a table by kind with what has no native code, and the first differences.
  std::string TableToString() const;
  std::string DifferencesToString() const;
};

// Told when native code runs, for clocks and profiles, and what it answered.
class PhaseObserver {
 public:
  virtual ~PhaseObserver() = default;
  // `index` is the transaction's, -1 for other phases; `name` the kind of phase or transaction.
  virtual void OnStart(PhaseKind kind, int index, const std::string& name) = 0;
  // Null: the phase has no native code, or broke off.
  virtual void OnFinish(PhaseKind kind, int index, const PhaseResult* result) = 0;
};

// Not thread-safe.
class PhaseVerifier {
 public:
  struct Options {
    // Differences kept per kind.
    size_t keep_differences = 1;
    // Only kinds that contain one of these; empty: all.
    std::vector<std::string> only_kinds;
    // May be null; must outlive the verifier.
    PhaseObserver* observer = nullptr;
    // The state goes on with what phases wrote natively, not with their recorded writes. Nothing
    // recorded reaches it then, and a phase without native code is an error (kUnimplemented).
    bool keep_native_writes = false;
    // There are recorded writes to compare with.
    bool compare_writes = true;
  };

  // `chain` must outlive it.
  PhaseVerifier(Chain* chain, Options options) : chain_(chain), options_(std::move(options)) {}

  // Verifies all phases of a block. `state` is a branch of the state before the block; afterwards
  // it holds the recorded writes of all phases, or the native ones. `phases` may be null (a block
  // without recorded writes). `genesis` is for a block with a genesis: the parent of `state`, where
  // those writes go that Chain::InitChain makes at once; null: genesis is not executed. Errors: the
  // state can't be read or a recording contradicts itself; a difference is none.
  absl::Status VerifyBlock(const v1::Block& block, const v1::BlockPhases* phases,
                           sdk::MultiStore* state, sdk::MultiStore* genesis = nullptr);

  const Coverage& coverage() const { return coverage_; }

 private:
  struct Expected;
  absl::Status VerifyGenesis(const v1::Block& block, const v1::Phase* phase, sdk::MultiStore* state,
                             sdk::MultiStore* genesis);
  absl::Status VerifyPhase(PhaseKind kind, int index, const std::string& name,
                           const Expected& expected, sdk::MultiStore* state);
  std::string Compare(const PhaseResult& actual, const Expected& expected,
                      const sdk::MultiStore& branch, const sdk::MultiStore& state) const;
  bool Wanted(std::string_view kind) const;

  Chain* chain_;
  Options options_;
  Coverage coverage_;
  int64_t height_ = 0;
};

}  // namespace blockreplay::keeper
