#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/chain.h"
#include "keeper/verify/phase_verifier.h"
#include "profiling/labels.h"
#include "replay/engine/native_state.h"
#include "replay/engine/options.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"
#include "replay/report/execution_digests.h"
#include "replay/report/results_file.h"
#include "replay/stats/phases.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::replay {

// `--exec verify` and `native`: executes the phases of each block that have native code and
// compares them with the recording. With `verify` each phase starts from the recorded writes of
// those before it, and nothing is written to the multistore; with `native` from what was executed,
// and nothing recorded reaches the state. To be used by one thread.
class VerifyExecutor : private keeper::PhaseObserver {
 public:
  // kNotFound: there is no native code for the recording's application. kFailedPrecondition: the
  // recording has no phases (which `native` can do without). kInvalidArgument: its stores are not
  // those of the chain, or its version is unknown. kUnimplemented: kinds of phases that `native`
  // needs have no code. `workers` share work of phases; may be null, must outlive it.
  static absl::StatusOr<std::unique_ptr<VerifyExecutor>> Create(const std::string& recording_dir,
                                                                const Manifest& manifest,
                                                                ExecutionMode mode,
                                                                storage::WorkerPool* workers);

  // From the block after the multistore's version on. `multistore` and `clock` must outlive the
  // pass; the clock is told what executes.
  void StartPass(storage::Multistore* multistore, PhaseClock* clock);

  // Executes `block` on branches of the multistore, which must be at the state before it. Called
  // again with the same block, executes it again. A difference is no error.
  absl::Status Verify(const v1::Block& block);

  // From now on each phase's answer goes there too, once for each block. Must outlive the
  // executor's use.
  void WriteResultsTo(ResultsFile* results) { results_ = results; }

  bool native() const { return mode_ == ExecutionMode::kNative; }
  // `native`: puts what the last verified block wrote into the multistore, in the order in which
  // the chain's own node does.
  absl::Status ApplyWrites() { return state_.Apply(); }
  // The first keys that it wrote in another way than the recorded change set; several lines, empty
  // if there are none.
  std::string DescribeDifferentWrites(const v1::Block& block) const;

  // Of all blocks so far, counted as often as they were executed.
  const keeper::Coverage& coverage() const { return verifier_.coverage(); }
  // Of each block's first execution. To be called once, at the end.
  ExecutionDigests FinishDigests() { return digester_.Finish(); }
  // Wall time of native code by the kind of phase or transaction, of all blocks so far.
  const std::map<std::string, int64_t>& kind_nanos() const { return kind_nanos_; }

 private:
  VerifyExecutor(const std::string& recording_dir, const Manifest& manifest, ExecutionMode mode,
                 std::unique_ptr<keeper::Chain> chain);

  absl::Status ReadPhasesOf(int64_t height);
  void OnStart(keeper::PhaseKind kind, int index, const std::string& name) override;
  void OnFinish(keeper::PhaseKind kind, int index, const keeper::PhaseResult* result) override;

  const std::string recording_dir_;
  const Manifest manifest_;
  const ExecutionMode mode_;
  const std::unique_ptr<keeper::Chain> chain_;
  keeper::PhaseVerifier verifier_;
  ExecutionDigester digester_;
  ResultsFile* results_ = nullptr;
  std::string kind_name_;  // of the transaction at hand
  std::unordered_map<std::string, profiling::LabelId> kind_labels_;
  std::map<std::string, int64_t> kind_nanos_;
  int64_t* running_kind_ = nullptr;  // into kind_nanos_, of the phase that executes
  int64_t kind_since_ = 0;

  storage::Multistore* multistore_ = nullptr;
  PhaseClock* clock_ = nullptr;
  std::optional<PhasesReader> reader_;
  v1::BlockPhases phases_;
  NativeState state_;            // of the block at hand
  int64_t height_ = 0;           // of the block at hand
  int64_t digested_height_ = 0;  // up to here the digests have everything
  // Of the phase that executes, the later one inside the earlier one.
  std::optional<profiling::ScopedLabel> phase_label_;
  std::optional<profiling::ScopedLabel> kind_label_;
};

}  // namespace blockreplay::replay
