#include "replay/record/recorder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/record/change_set.h"
#include "replay/record/host_log.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::streaming::abci::ListenCommitRequest;
using cosmos::store::streaming::abci::ListenFinalizeBlockRequest;

// What consensus and state decide on. Logs and other texts of results may differ from one execution
// to the next.
bool SameBlock(const v1::Block& a, const v1::Block& b) {
  if (a.app_hash() != b.app_hash() || a.change_set_size() != b.change_set_size() ||
      a.request().SerializeAsString() != b.request().SerializeAsString()) {
    return false;
  }
  for (int i = 0; i < a.change_set_size(); ++i) {
    const auto& x = a.change_set(i);
    const auto& y = b.change_set(i);
    if (x.store_key() != y.store_key() || x.delete_() != y.delete_() || x.key() != y.key() ||
        x.value() != y.value()) {
      return false;
    }
  }
  return true;
}

}  // namespace

Recorder::Recorder(RecorderOptions options) : options_(std::move(options)) {}

void Recorder::Open(absl::Duration patience) {
  const std::lock_guard lock(mutex_);
  if (absl::Status status = OpenLog(patience); !status.ok()) {
    LogToHost(LogLevel::kError,
              absl::StrCat(status.message(),
                           " (tried again at each block; until then nothing is recorded)"));
  }
}

absl::Status Recorder::OpenLog(absl::Duration patience) {
  if (log_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<BlockLog>> log =
      BlockLog::Open(options_.dir, options_.log, patience,
                     [](const std::string& notice) { LogToHost(LogLevel::kWarn, notice); });
  if (!log.ok()) return log.status();
  log_ = *std::move(log);
  const std::vector<StreamRange> ranges = RangesOf(log_->parts());
  LogToHost(LogLevel::kInfo,
            absl::StrCat("recording into ", options_.dir, ", which has ",
                         ranges.empty() ? "no blocks yet" : "blocks " + DescribeRanges(ranges)));
  return absl::OkStatus();
}

absl::Status Recorder::FinalizeBlock(const ListenFinalizeBlockRequest& message) {
  const std::lock_guard lock(mutex_);
  const int64_t height = message.req().height();
  return Answer(height, TakeResults(message));
}

absl::Status Recorder::Commit(const ListenCommitRequest& message) {
  const std::lock_guard lock(mutex_);
  return Answer(message.block_height(), TakeWrites(message));
}

absl::Status Recorder::TakeResults(const ListenFinalizeBlockRequest& message) {
  pending_.reset();
  if (message.req().height() <= 0)
    return absl::InvalidArgumentError("FinalizeBlock without a height");
  if (message.res().app_hash().size() != sizeof(Sha256Digest)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the response has an app hash of ", message.res().app_hash().size(),
                     " bytes: the plugin needs the Cosmos SDK 0.50 or later"));
  }
  if (message.req().txs_size() != message.res().tx_results_size()) {
    return absl::InvalidArgumentError(absl::StrCat(message.req().txs_size(), " transactions, but ",
                                                   message.res().tx_results_size(), " results"));
  }
  v1::Block& block = pending_.emplace();
  block.set_height(message.req().height());
  block.set_app_hash(message.res().app_hash());
  *block.mutable_request() = message.req();
  *block.mutable_response() = message.res();
  return absl::OkStatus();
}

absl::Status Recorder::TakeWrites(const ListenCommitRequest& message) {
  if (!pending_ || pending_->height() != message.block_height()) {
    return absl::FailedPreconditionError(
        "its FinalizeBlock was not received, or could not be used");
  }
  v1::Block block = *std::move(pending_);
  pending_.reset();
  *block.mutable_change_set() = message.change_set();
  NormalizeChangeSet(block.mutable_change_set());
  if (absl::Status status = OpenLog(absl::ZeroDuration()); !status.ok()) return status;
  return Record(block);
}

absl::Status Recorder::Record(const v1::Block& block) {
  const int64_t height = block.height();
  absl::StatusOr<std::optional<v1::Block>> recorded = log_->Find(height);
  if (!recorded.ok()) return recorded.status();
  if (*recorded) {
    if (SameBlock(**recorded, block)) {
      return absl::OkStatus();
    }
    absl::StatusOr<std::string> aside = log_->SetAside(height);
    if (!aside.ok()) return aside.status();
    LogToHost(
        LogLevel::kWarn,
        absl::StrCat("block ", height,
                     " differs from the one recorded before: that one and all above it are in ",
                     *aside, " now"));
  }
  const bool gap = !log_->parts().empty() && FindPart(log_->parts(), height - 1) == nullptr;
  if (absl::Status status = log_->Append(block); !status.ok()) return status;
  if (gap) {
    LogToHost(LogLevel::kWarn,
              absl::StrCat("the block before ", height, " was not recorded: there are blocks ",
                           DescribeRanges(RangesOf(log_->parts()))));
  }
  return absl::OkStatus();
}

absl::Status Recorder::Answer(int64_t height, const absl::Status& status) const {
  if (status.ok()) return status;
  const std::string text = absl::StrCat("block ", height, " is not recorded: ", status.message());
  LogToHost(LogLevel::kError, text);
  return options_.ignore_errors ? absl::OkStatus() : absl::Status(status.code(), text);
}

void Recorder::Close() {
  const std::lock_guard lock(mutex_);
  if (log_ == nullptr) return;
  if (absl::Status status = log_->Close(); !status.ok())
    LogToHost(LogLevel::kError, std::string(status.message()));
  LogToHost(LogLevel::kInfo,
            absl::StrCat("recorded blocks ", DescribeRanges(RangesOf(log_->parts())), " in ",
                         options_.dir));
  log_ = nullptr;
}

}  // namespace blockreplay::replay
