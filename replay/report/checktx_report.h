#pragma once

#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// CheckTx results by what became of them; each is in one class.
struct CheckTxOutcomes {
  int64_t ok = 0;              // passes as recorded, with the recorded gas
  int64_t ok_gas_differs = 0;  // passes as recorded, with other gas
  int64_t failed = 0;          // passes or fails otherwise than recorded
  int64_t skipped_failed = 0;  // fails with the recorded error; its gas is not compared

  int64_t total() const { return ok + ok_gas_differs + failed + skipped_failed; }
  bool AllEqual() const { return ok_gas_differs == 0 && failed == 0; }
};

// What `--checktx` found.
struct CheckTxReport {
  CheckTxOutcomes checks;
  CheckTxOutcomes rechecks;
  int64_t gas_used = 0;          // of those that are `ok`
  int64_t wall_nanos = 0;        // of the calls
  std::string first_difference;  // several lines; empty if there is none

  bool AllEqual() const { return checks.AllEqual() && rechecks.AllEqual(); }
};

// report.json's "checktx".
nlohmann::json CheckTxToJson(const CheckTxReport& report);

}  // namespace blockreplay::replay
