#include "replay/engine/checktx_verifier.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiling/labels.h"
#include "profiling/thread_clock.h"
#include "replay/native/chain_spec.h"

namespace blockreplay::replay {
namespace {

std::string Outcome(std::string_view codespace, int64_t gas_wanted, int64_t gas_used) {
  return absl::StrCat(codespace.empty() ? "passes" : std::string(codespace), ", gas wanted ",
                      gas_wanted, ", gas used ", gas_used);
}

}  // namespace

keeper::TxCheckOptions TxCheckOptionsOf(const RunOptions& options) {
  const bool params = options.no_memo != "all" && options.no_memo != "params";
  return {.memo_params = params,
          .memo_fee_collector = params && options.no_memo != "fee-collector",
          .signature_cache = static_cast<size_t>(options.signature_cache)};
}

absl::StatusOr<std::unique_ptr<CheckTxVerifier>> CheckTxVerifier::Create(
    const std::string& recording_dir, const Manifest& manifest,
    const keeper::TxCheckOptions& options, storage::WorkerPool* workers) {
  absl::StatusOr<std::unique_ptr<keeper::Chain>> chain = keeper::NewChain(ChainSpecOf(manifest));
  if (!chain.ok()) return chain.status();
  if (workers != nullptr) (*chain)->UseWorkers(workers);
  absl::StatusOr<std::unique_ptr<keeper::TxChecker>> checker = (*chain)->NewTxChecker(options);
  if (!checker.ok()) return checker.status();
  if (absl::Status status = CheckTxLog::Open(recording_dir, manifest).status(); !status.ok()) {
    return status;
  }
  return std::unique_ptr<CheckTxVerifier>(
      new CheckTxVerifier(recording_dir, manifest, *std::move(chain), *std::move(checker)));
}

CheckTxVerifier::CheckTxVerifier(std::string recording_dir, Manifest manifest,
                                 std::unique_ptr<keeper::Chain> chain,
                                 std::unique_ptr<keeper::TxChecker> checker)
    : recording_dir_(std::move(recording_dir)),
      manifest_(std::move(manifest)),
      chain_(std::move(chain)),
      checker_(std::move(checker)),
      state_(chain_->store_names()) {}

absl::Status CheckTxVerifier::StartPass(storage::Multistore* multistore) {
  multistore_ = multistore;
  absl::StatusOr<std::unique_ptr<CheckTxLog>> log = CheckTxLog::Open(recording_dir_, manifest_);
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  blocks_ = std::make_unique<BlockReader>(recording_dir_, manifest_);
  last_read_ = 0;
  txs_.clear();
  const absl::StatusOr<bool> more = log_->Next(&next_);
  if (!more.ok()) return more.status();
  has_next_ = *more;
  return absl::OkStatus();
}

absl::Status CheckTxVerifier::ReadBlocksTo(int64_t height) {
  while (last_read_ < height) {
    const absl::StatusOr<bool> more = blocks_->Next(&block_);
    if (!more.ok()) return more.status();
    if (!*more) {
      return absl::DataLossError(absl::StrCat(kCheckTxFile, " names block ", height,
                                              ", which the recording does not have"));
    }
    last_read_ = block_.height();
    auto* const txs = block_.mutable_request()->mutable_txs();
    std::vector<std::string>& kept = txs_[last_read_];
    for (std::string& tx : *txs) kept.push_back(std::move(tx));
  }
  return absl::OkStatus();
}

absl::Status CheckTxVerifier::Committed(int64_t height) {
  static const profiling::LabelId kCheckTx = profiling::InternLabel("check_tx");
  const profiling::ScopedLabel label(profiling::LabelKey::kPhase, kCheckTx);
  std::erase_if(txs_, [&](const auto& block) { return block.first <= height; });
  std::vector<RecordedCheck> checks;
  std::vector<std::string_view> txs;
  while (has_next_ && next_.state_height <= height) {
    if (next_.state_height == height) {
      if (absl::Status status = ReadBlocksTo(next_.block); !status.ok()) return status;
      const std::vector<std::string>& of_block = txs_[next_.block];
      if (static_cast<size_t>(next_.tx) >= of_block.size()) {
        return absl::DataLossError(absl::StrCat(kCheckTxFile, " names transaction ", next_.tx,
                                                " of block ", next_.block, ", which has ",
                                                of_block.size()));
      }
      txs.push_back(of_block[static_cast<size_t>(next_.tx)]);
      checks.push_back(next_);
    }
    const absl::StatusOr<bool> more = log_->Next(&next_);
    if (!more.ok()) return more.status();
    has_next_ = *more;
  }
  if (checks.empty()) return absl::OkStatus();
  state_.Start(multistore_, /*genesis=*/false);
  if (absl::Status status = checker_->Committed(
          CommittedStateOf(*multistore_, chain_->store_names()), state_.stores());
      !status.ok()) {
    return status;
  }
  const int64_t start = profiling::MonotonicNanos();
  checker_->Announce(txs);
  for (size_t i = 0; i < checks.size(); ++i) {
    if (absl::Status status = Compare(checks[i], txs[i]); !status.ok()) return status;
  }
  report_.wall_nanos += profiling::MonotonicNanos() - start;
  return absl::OkStatus();
}

absl::Status CheckTxVerifier::Compare(const RecordedCheck& recorded, std::string_view tx) {
  const absl::StatusOr<keeper::PhaseResult> result = checker_->CheckTx(tx);
  const auto where = [&] {
    return absl::StrCat(recorded.recheck ? "recheck" : "check", " at height ",
                        recorded.state_height, " of block ", recorded.block, ", transaction ",
                        recorded.tx);
  };
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat(where(), ": ", result.status().message()));
  }
  CheckTxOutcomes& outcomes = recorded.recheck ? report_.rechecks : report_.checks;
  if (result->codespace != recorded.error ||
      (!recorded.error.empty() && result->gas_wanted != recorded.gas_wanted)) {
    ++outcomes.failed;
  } else if (!recorded.error.empty()) {
    // Its gas used is a running total of the check state, which says nothing about it.
    ++outcomes.skipped_failed;
    return absl::OkStatus();
  } else if (result->gas_wanted != recorded.gas_wanted || result->gas_used != recorded.gas_used) {
    ++outcomes.ok_gas_differs;
  } else {
    ++outcomes.ok;
    report_.gas_used += result->gas_used;
    return absl::OkStatus();
  }
  if (report_.first_difference.empty()) {
    report_.first_difference = absl::StrCat(
        where(),
        ":\n    recorded: ", Outcome(recorded.error, recorded.gas_wanted, recorded.gas_used),
        "\n    native:   ", Outcome(result->codespace, result->gas_wanted, result->gas_used), "\n");
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
