#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "keeper/verify/phase_verifier.h"
#include "nlohmann/json.hpp"
#include "replay/recording/manifest.h"
#include "replay/report/checktx_report.h"
#include "replay/report/contents_recorder.h"
#include "replay/report/execution_digests.h"
#include "replay/report/host.h"
#include "replay/stats/run_statistics.h"

namespace blockreplay::replay {

// What a run has to say about itself besides its measurements.
struct RunFacts {
  std::string recording_digest;
  std::string chain_id;
  // Heights that were measured; 0 if no block was.
  int64_t first_height = 0;
  int64_t last_height = 0;
  nlohmann::json options;
  // "verified", "app_hash_mismatch", …: how the run ended, with the exit status that says it.
  std::string outcome;
  int exit_status = 0;
  // The state that the first pass started from; height 0 and no hash for an empty one.
  int64_t base_height = 0;
  std::string base_app_hash;  // raw
  int64_t blocks_verified = 0;
  std::string app_hash;        // raw, of the last verified block
  std::string app_hash_chain;  // raw: SHA-256 of the verified blocks' app hashes, concatenated
  int64_t phases = 0;          // one begin, one end and one per transaction of the verified blocks
  // What native execution did; nothing where none was asked for.
  std::optional<keeper::Coverage> coverage;
  ExecutionDigests digests;
  // Wall time of native execution by the kind of phase or transaction.
  std::map<std::string, int64_t> kind_nanos;
  // Of the measured blocks.
  std::map<std::string, StoreWrites> stores;
  std::vector<SlowBlock> slowest_blocks;
  // Nothing without --checktx.
  std::optional<CheckTxReport> checktx;
  int64_t restore_nanos = 0;  // making the base state, not part of the measured time
};

// report.json, as docs/reports.md describes it.
nlohmann::json ReportToJson(const RunFacts& facts, const RunStatistics& statistics,
                            const HostRecord& host);

}  // namespace blockreplay::replay
