#include "replay/mempool/mempool_report.h"

#include <algorithm>

#include "replay/stats/distribution.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

json DistributionOrNull(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  const Distribution d = DistributionOf(values);
  return {{"p50", d.p50},   {"p90", d.p90},       {"p99", d.p99},
          {"mean", d.mean}, {"stddev", d.stddev}, {"max", d.max}};
}

json CountsToJson(const CheckCounts& counts) {
  return {{"total", counts.total},
          {"failed", counts.failed()},
          {"failures", counts.failures},
          {"gas_used", counts.gas_used}};
}

}  // namespace

int64_t CheckCounts::failed() const {
  int64_t sum = 0;
  for (const auto& [error, count] : failures) sum += count;
  return sum;
}

json MempoolToJson(const MempoolReport& report, int64_t wall_nanos) {
  const double seconds = std::max(1e-9, static_cast<double>(wall_nanos) / 1e9);
  return {{"checks", CountsToJson(report.checks)},
          {"rechecks", CountsToJson(report.rechecks)},
          {"checktx_gas_used", report.checks.gas_used + report.rechecks.gas_used},
          {"checktx_failures", report.checks.failed() + report.rechecks.failed()},
          {"delivered", report.delivered},
          {"delivered_failed", report.delivered_failed},
          {"delivertx_gas_used", report.delivered_gas_used},
          {"pool_after_fill", report.pool_after_fill},
          {"pool_at_end", report.pool_at_end},
          {"txs_per_s", static_cast<double>(report.delivered) / seconds},
          {"rechecks_per_s", static_cast<double>(report.rechecks.total) / seconds},
          {"check_us", DistributionOrNull(report.check_us)},
          {"recheck_us", DistributionOrNull(report.recheck_us)},
          {"execute_ms", DistributionOrNull(report.execute_ms)},
          {"recheck_ms", DistributionOrNull(report.recheck_ms)},
          {"recheck_cpu_s", static_cast<double>(report.recheck_cpu_nanos) / 1e9}};
}

}  // namespace blockreplay::replay
