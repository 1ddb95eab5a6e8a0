#include "replay/engine/block_replayer.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/apply_executor.h"
#include "replay/stats/phase_scope.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

AppHashMismatch NotRepeatable(int64_t height, const storage::CommitInfo& first,
                              const storage::CommitInfo& other) {
  AppHashMismatch mismatch;
  mismatch.kind = MismatchKind::kNotRepeatable;
  mismatch.height = height;
  mismatch.expected = storage::ToRaw(storage::AppHash(first));
  mismatch.actual = storage::ToRaw(storage::AppHash(other));
  mismatch.has_recorded_roots = true;
  for (size_t i = 0; i < first.stores.size(); ++i) {
    const storage::Hash& a = first.stores[i].hash;
    const storage::Hash& b = other.stores[i].hash;
    if (a != b) {
      mismatch.stores.push_back({first.stores[i].name, storage::ToRaw(a), storage::ToRaw(b)});
    }
  }
  return mismatch;
}

}  // namespace

BlockReplayer::BlockReplayer(storage::Multistore* multistore, int64_t repeat, PhaseClock* clock,
                             bool genesis_in_recorded_order, VerifyExecutor* verifier)
    : multistore_(multistore),
      repeat_(repeat),
      clock_(clock),
      genesis_in_recorded_order_(genesis_in_recorded_order),
      verifier_(verifier),
      state_(multistore) {}

absl::StatusOr<BlockReplayer::Outcome> BlockReplayer::Replay(const v1::Block& block,
                                                             const std::string* final_app_hash) {
  const auto located = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat("block ", block.height(), ": ", status.message()));
  };
  const storage::BlockTime time{block.request().time().seconds(), block.request().time().nanos()};

  Outcome outcome;
  for (int64_t i = 0; i < repeat_; ++i) {
    if (verifier_ != nullptr) {
      if (absl::Status status = verifier_->Verify(block); !status.ok()) return located(status);
    }
    {
      const PhaseScope phase(clock_, Phase::kApply);
      const bool recorded_order = genesis_in_recorded_order_ && block.has_init_chain();
      const bool native = verifier_ != nullptr && verifier_->native();
      if (absl::Status status = native           ? verifier_->ApplyWrites()
                                : recorded_order ? ApplyInRecordedOrder(block, multistore_)
                                                 : ApplyChangeSet(block, &state_);
          !status.ok()) {
        state_.Discard();
        return status;
      }
      if (absl::Status status = state_.Flush(); !status.ok()) {
        state_.Discard();
        return located(status);
      }
    }
    storage::CommitInfo previous;
    std::swap(previous, outcome.commit_info);
    {
      const PhaseScope phase(clock_, Phase::kHash);
      absl::StatusOr<storage::CommitInfo> info = multistore_->WorkingCommit(time);
      if (!info.ok()) return located(info.status());
      outcome.commit_info = *std::move(info);
      if (i == 0) {
        outcome.app_hash = storage::ToRaw(storage::AppHash(outcome.commit_info));
        outcome.results_hash = RawOf(ResultsHash(block.response()));
      }
    }
    if (i > 0 && outcome.commit_info != previous) {
      outcome.mismatch = NotRepeatable(block.height(), previous, outcome.commit_info);
      return outcome;
    }
    if (i + 1 < repeat_) {
      const PhaseScope phase(clock_, Phase::kCommit);
      if (absl::Status status = multistore_->Rollback(); !status.ok()) return located(status);
    }
  }
  outcome.mismatch = CompareAppHash(block, outcome.commit_info, outcome.app_hash);
  if (!outcome.mismatch && final_app_hash != nullptr && *final_app_hash != outcome.app_hash) {
    outcome.mismatch.emplace();
    outcome.mismatch->kind = MismatchKind::kFinalAppHash;
    outcome.mismatch->height = block.height();
    outcome.mismatch->expected = *final_app_hash;
    outcome.mismatch->actual = outcome.app_hash;
  }
  if (outcome.mismatch) return outcome;
  const PhaseScope phase(clock_, Phase::kCommit);
  if (absl::Status status = multistore_->Commit(); !status.ok()) return located(status);
  return outcome;
}

}  // namespace blockreplay::replay
