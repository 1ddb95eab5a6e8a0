#include "replay/engine/verify_executor.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "keeper/sdk/store.h"
#include "profiling/thread_clock.h"
#include "replay/native/chain_spec.h"

namespace blockreplay::replay {
namespace {

constexpr int kKeysShown = 10;

keeper::PhaseVerifier::Options VerifierOptions(const Manifest& manifest, ExecutionMode mode,
                                               keeper::PhaseObserver* observer) {
  keeper::PhaseVerifier::Options options;
  options.observer = observer;
  options.keep_native_writes = mode == ExecutionMode::kNative;
  options.compare_writes = !manifest.StreamFiles("phases").empty();
  return options;
}

}  // namespace

absl::StatusOr<std::unique_ptr<VerifyExecutor>> VerifyExecutor::Create(
    const std::string& recording_dir, const Manifest& manifest, ExecutionMode mode,
    storage::WorkerPool* workers) {
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(manifest));
  if (!chain.ok()) return chain.status();
  if (const std::vector<std::string> missing = (*chain)->missing_phases();
      mode == ExecutionMode::kNative && !missing.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("this version has no native code of ", manifest.application_name, " ",
                     manifest.application_version, " for: ", absl::StrJoin(missing, ", "),
                     "; use --exec verify, which executes the phases that it has code for"));
  }
  if (mode == ExecutionMode::kVerify && manifest.StreamFiles("phases").empty()) {
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
  if (workers != nullptr) (*chain)->UseWorkers(workers);
  return std::unique_ptr<VerifyExecutor>(
      new VerifyExecutor(recording_dir, manifest, mode, *std::move(chain)));
}

VerifyExecutor::VerifyExecutor(const std::string& recording_dir, const Manifest& manifest,
                               ExecutionMode mode, std::unique_ptr<keeper::Chain> chain)
    : recording_dir_(recording_dir),
      manifest_(manifest),
      mode_(mode),
      chain_(std::move(chain)),
      verifier_(chain_.get(), VerifierOptions(manifest, mode, this)),
      state_(chain_->store_names()) {}

void VerifyExecutor::StartPass(storage::Multistore* multistore, PhaseClock* clock) {
  multistore_ = multistore;
  clock_ = clock;
  reader_.reset();
  if (!manifest_.StreamFiles("phases").empty()) reader_.emplace(recording_dir_, manifest_);
  phases_.Clear();
}

absl::Status VerifyExecutor::ReadPhasesOf(int64_t height) {
  while (reader_.has_value() && phases_.height() < height) {
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
  state_.Start(multistore_, block.has_init_chain());
  chain_->SetCommitted(CommittedStateOf(*multistore_, chain_->store_names()));
  absl::Status status = verifier_.VerifyBlock(block, reader_.has_value() ? &phases_ : nullptr,
                                              state_.block(), state_.genesis());
  clock_->Enter(Phase::kOther);
  digested_height_ = std::max(digested_height_, height_);
  return status;
}

std::string VerifyExecutor::DescribeDifferentWrites(const v1::Block& block) const {
  struct Write {
    std::optional<std::string> recorded;
    std::optional<std::string> native;
  };
  // What becomes of each key, in words.
  std::map<std::pair<std::string, std::string>, Write> writes;
  const auto text = [&](const std::string& store, const std::string& key, std::string_view value,
                        bool deleted) {
    return deleted ? std::string("deleted") : chain_->DescribeValue(store, key, value);
  };
  for (const auto& pair : block.change_set()) {
    writes[{pair.store_key(), pair.key()}].recorded =
        text(pair.store_key(), pair.key(), pair.value(), pair.delete_());
  }
  for (const keeper::sdk::MultiStore* branch : state_.branches()) {
    for (size_t i = 0; i < chain_->store_names().size(); ++i) {
      const std::string& store = chain_->store_names()[i];
      for (const auto& [key, operation] :
           branch->store(static_cast<keeper::sdk::StoreId>(i)).operations()) {
        writes[{store, std::string(key)}].native =
            text(store, std::string(key), operation.value, operation.deleted);
      }
    }
  }
  std::string lines;
  int different = 0;
  for (const auto& [place, write] : writes) {
    if (write.recorded == write.native || ++different > kKeysShown) continue;
    absl::StrAppend(&lines, "    ", place.first, " ",
                    chain_->DescribeKey(place.first, place.second),
                    "\n      recorded: ", write.recorded.value_or("no write"),
                    "\n      native:   ", write.native.value_or("no write"), "\n");
  }
  if (different == 0) return {};
  if (different > kKeysShown) {
    absl::StrAppend(&lines, "    and ", different - kKeysShown, " more\n");
  }
  return absl::StrCat("  writes of the block that differ:\n", lines);
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
