#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/chain.h"
#include "replay/engine/native_state.h"
#include "replay/engine/options.h"
#include "replay/recording/checktx_log.h"
#include "replay/recording/manifest.h"
#include "replay/recording/recording_reader.h"
#include "replay/report/checktx_report.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::replay {

keeper::TxCheckOptions TxCheckOptionsOf(const RunOptions& options);

// `--checktx`: after each commit asks the chain's CheckTx what the recorded node was asked then, in
// the same order, and compares the answers. Reads the committed state, writes nothing. To be used
// by one thread.
class CheckTxVerifier {
 public:
  // kNotFound: the recording has no results of CheckTx, or there is no native code for its
  // application. kUnimplemented: the chain has no CheckTx. `workers` may be null, must outlive it.
  static absl::StatusOr<std::unique_ptr<CheckTxVerifier>> Create(
      const std::string& recording_dir, const Manifest& manifest,
      const keeper::TxCheckOptions& options, storage::WorkerPool* workers);

  // From the beginning; `multistore` must outlive the pass.
  absl::Status StartPass(storage::Multistore* multistore);

  // The multistore has committed `height`: the checks that follow it. Those of heights left out are
  // skipped. A difference is no error.
  absl::Status Committed(int64_t height);

  // Of all passes so far.
  const CheckTxReport& report() const { return report_; }

 private:
  CheckTxVerifier(std::string recording_dir, Manifest manifest,
                  std::unique_ptr<keeper::Chain> chain, std::unique_ptr<keeper::TxChecker> checker);

  absl::Status ReadBlocksTo(int64_t height);
  absl::Status Compare(const RecordedCheck& recorded, std::string_view tx);

  const std::string recording_dir_;
  const Manifest manifest_;
  const std::unique_ptr<keeper::Chain> chain_;
  const std::unique_ptr<keeper::TxChecker> checker_;
  CheckTxReport report_;

  storage::Multistore* multistore_ = nullptr;
  NativeState state_;
  std::unique_ptr<CheckTxLog> log_;
  bool has_next_ = false;
  RecordedCheck next_;
  std::unique_ptr<BlockReader> blocks_;
  v1::Block block_;
  int64_t last_read_ = 0;
  std::unordered_map<int64_t, std::vector<std::string>> txs_;  // by height, above the last commit
};

}  // namespace blockreplay::replay
