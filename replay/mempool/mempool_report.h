#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// What became of the transactions that CheckTx was asked about.
struct CheckCounts {
  int64_t total = 0;
  int64_t gas_used = 0;                     // of those that pass
  std::map<std::string, int64_t> failures;  // by error

  int64_t failed() const;
};

// What a mempool run has to say besides what any run has.
struct MempoolReport {
  CheckCounts checks;
  CheckCounts rechecks;
  int64_t delivered = 0;
  int64_t delivered_failed = 0;
  int64_t delivered_gas_used = 0;
  int64_t pool_after_fill = 0;
  int64_t pool_at_end = 0;

  // One for each transaction, in microseconds; empty where signatures are verified in batches, so
  // that no single one has a time.
  std::vector<double> check_us;
  std::vector<double> recheck_us;
  // One for each block, in milliseconds: executing and committing, and rechecking.
  std::vector<double> execute_ms;
  std::vector<double> recheck_ms;
  int64_t recheck_cpu_nanos = 0;  // of the driving thread
};

// report.json's "mempool". `wall_nanos` is what the blocks took together.
nlohmann::json MempoolToJson(const MempoolReport& report, int64_t wall_nanos);

}  // namespace blockreplay::replay
