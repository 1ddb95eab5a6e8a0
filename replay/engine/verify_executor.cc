#include "replay/engine/verify_executor.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "keeper/sdk/store.h"
#include "profiling/thread_clock.h"
#include "replay/native/chain_spec.h"

namespace blockreplay::replay {
namespace {

keeper::PhaseVerifier::Options VerifierOptions(keeper::PhaseObserver* observer) {
  keeper::PhaseVerifier::Options options;
  options.observer = observer;
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerifyExecutor>> VerifyExecutor::Create(
    const std::string& recording_dir, const Manifest& manifest) {
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(manifest));
  if (!chain.ok()) return chain.status();
  if (manifest.StreamFiles("phases").empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(recording_dir,
                     " has no phases.zst, so there is nothing to compare the execution of single "
                     "phases with: use --exec apply, or record with phases"));
  }
  std::vector<std::string> stores = manifest.stores;
  std::sort(stores.begin(), stores.end());
  if (stores != (*chain)->store_names()) {
    return absl::InvalidArgumentError(absl::StrCat(
        recording_dir, ": manifest.json lists the stores ", absl::StrJoin(stores, " "),
        ", but native code of ", manifest.application_name, " ", manifest.application_version,
        " is for ", absl::StrJoin((*chain)->store_names(), " ")));
  }
  return std::unique_ptr<VerifyExecutor>(
      new VerifyExecutor(recording_dir, manifest, *std::move(chain)));
}

VerifyExecutor::VerifyExecutor(const std::string& recording_dir, const Manifest& manifest,
                               std::unique_ptr<keeper::Chain> chain)
    : recording_dir_(recording_dir),
      manifest_(manifest),
      chain_(std::move(chain)),
      verifier_(chain_.get(), VerifierOptions(this)) {}

void VerifyExecutor::StartPass(storage::Multistore* multistore, PhaseClock* clock) {
  multistore_ = multistore;
  clock_ = clock;
  reader_.emplace(recording_dir_, manifest_);
  phases_.Clear();
}

absl::Status VerifyExecutor::ReadPhasesOf(int64_t height) {
  while (phases_.height() < height) {
    const absl::StatusOr<bool> more = reader_->Next(&phases_);
    if (!more.ok()) return more.status();
    if (!*more) {
      return absl::DataLossError(absl::StrCat("phases.zst ends before height ", height));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyExecutor::Verify(const v1::Block& block) {
  static const profiling::LabelId kDecode = profiling::InternLabel("decode");
  static const profiling::LabelId kVerify = profiling::InternLabel("verify");
  height_ = block.height();
  {
    const profiling::ScopedLabel label(profiling::LabelKey::kPhase, kDecode);
    clock_->Enter(Phase::kDecode);
    absl::Status status = ReadPhasesOf(height_);
    clock_->Enter(Phase::kApply);
    if (!status.ok()) return status;
  }
  const profiling::ScopedLabel label(profiling::LabelKey::kPhase, kVerify);
  // They remember what they read, so they are for the state before this block only.
  std::vector<std::unique_ptr<keeper::sdk::ReaderStore>> readers;
  std::vector<keeper::sdk::BaseStore*> stores;
  for (const std::string& name : chain_->store_names()) {
    readers.push_back(std::make_unique<keeper::sdk::ReaderStore>(multistore_->store(name)));
    stores.push_back(readers.back().get());
  }
  keeper::sdk::MultiStore state(stores);
  absl::Status status = verifier_.VerifyBlock(block, &phases_, &state);
  clock_->Enter(Phase::kOther);
  digested_height_ = std::max(digested_height_, height_);
  return status;
}

void VerifyExecutor::OnStart(keeper::PhaseKind kind, int /*index*/, const std::string& name) {
  kind_since_ = profiling::MonotonicNanos();
  running_kind_ = &kind_nanos_[name];
  static const profiling::LabelId kBeginBlock = profiling::InternLabel("begin_block");
  static const profiling::LabelId kDeliverTx = profiling::InternLabel("deliver_tx");
  static const profiling::LabelId kEndBlock = profiling::InternLabel("end_block");
  switch (kind) {
    case keeper::PhaseKind::kTx: {
      kind_name_ = name;
      phase_label_.emplace(profiling::LabelKey::kPhase, kDeliverTx);
      const auto [known, added] = kind_labels_.try_emplace(name);
      if (added) known->second = profiling::InternLabel(name);
      kind_label_.emplace(profiling::LabelKey::kMsgType, known->second);
      clock_->Enter(Phase::kDeliverTx);
      return;
    }
    case keeper::PhaseKind::kEndBlock:
      phase_label_.emplace(profiling::LabelKey::kPhase, kEndBlock);
      clock_->Enter(Phase::kEndBlock);
      return;
    case keeper::PhaseKind::kInitChain:
    case keeper::PhaseKind::kBeginBlock:
      phase_label_.emplace(profiling::LabelKey::kPhase, kBeginBlock);
      clock_->Enter(Phase::kBeginBlock);
      return;
  }
}

void VerifyExecutor::OnFinish(keeper::PhaseKind kind, int index,
                              const keeper::PhaseResult* result) {
  clock_->Enter(Phase::kApply);
  *running_kind_ += profiling::MonotonicNanos() - kind_since_;
  kind_label_.reset();
  phase_label_.reset();
  if (height_ <= digested_height_) return;
  digester_.Add(height_, kind, index, result);
  if (results_ != nullptr) {
    results_->Append(ResultLine(height_, kind, index, kind_name_, result));
  }
}

}  // namespace blockreplay::replay
