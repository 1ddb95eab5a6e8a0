#include "replay/report/checktx_report.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

json OutcomesToJson(const CheckTxOutcomes& outcomes) {
  return {{"total", outcomes.total()},
          {"ok", outcomes.ok},
          {"ok_gas_differs", outcomes.ok_gas_differs},
          {"failed", outcomes.failed},
          {"skipped_failed", outcomes.skipped_failed}};
}

}  // namespace

json CheckTxToJson(const CheckTxReport& report) {
  return {{"checks", OutcomesToJson(report.checks)},
          {"rechecks", OutcomesToJson(report.rechecks)},
          {"gas_used", report.gas_used},
          {"wall_s", static_cast<double>(report.wall_nanos) / 1e9},
          {"first_difference",
           report.first_difference.empty() ? json(nullptr) : json(report.first_difference)}};
}

}  // namespace blockreplay::replay
