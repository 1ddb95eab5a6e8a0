#include "replay/report/report.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "replay/report/version.h"
#include "replay/stats/distribution.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

double Millis(int64_t nanos) { return static_cast<double>(nanos) / 1e6; }
double Seconds(int64_t nanos) { return static_cast<double>(nanos) / 1e9; }

json DistributionToJson(const Distribution& d) {
  return {{"p50", d.p50},   {"p90", d.p90},       {"p99", d.p99},
          {"mean", d.mean}, {"stddev", d.stddev}, {"max", d.max}};
}

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json PerBlock(const std::optional<int64_t>& total, size_t blocks) {
  if (!total || blocks == 0) return nullptr;
  return static_cast<double>(*total) / static_cast<double>(blocks);
}

json HexOrNull(const std::optional<std::string>& raw) {
  return raw ? json(absl::BytesToHexString(*raw)) : json(nullptr);
}

json Share(int64_t part, int64_t whole) {
  return whole == 0 ? json(nullptr) : json(static_cast<double>(part) / static_cast<double>(whole));
}

json CoverageToJson(const keeper::KindCoverage& kind) {
  return {{"phases", kind.phases},
          {"native", kind.executed},
          {"matched", kind.matched},
          {"writes", kind.writes},
          {"matched_writes", kind.matched_writes},
          {"coverage", Share(kind.matched, kind.phases)},
          {"coverage_by_writes", Share(kind.matched_writes, kind.writes)}};
}

json KindToJson(const keeper::KindCoverage& kind) {
  json row = CoverageToJson(kind);
  row["not_native"] = kind.not_native.empty() ? json(nullptr) : json(kind.not_native);
  row["first_difference"] = nullptr;
  if (!kind.differences.empty()) {
    const keeper::PhaseDifference& first = kind.differences.front();
    row["first_difference"] = {
        {"height", first.height},
        {"tx_index", first.tx_index < 0 ? json(nullptr) : json(first.tx_index)},
        {"text", first.text}};
  }
  return row;
}

json ExecutionToJson(const RunFacts& facts) {
  json execution = CoverageToJson({});
  json by_kind = json::object();
  execution["phases"] = facts.phases;
  if (facts.coverage) {
    execution = CoverageToJson(facts.coverage->Total());
    for (const auto& [name, kind] : facts.coverage->by_kind) {
      by_kind[name] = KindToJson(kind);
    }
  }
  execution["by_kind"] = std::move(by_kind);
  json ms_by_kind = json::object();
  for (const auto& [name, nanos] : facts.kind_nanos) ms_by_kind[name] = Millis(nanos);
  execution["ms_by_kind"] = std::move(ms_by_kind);
  execution["genesis"] = nullptr;
  if (facts.coverage && facts.coverage->genesis.phases > 0) {
    execution["genesis"] = KindToJson(facts.coverage->genesis);
  }
  return execution;
}

json StoresToJson(const std::map<std::string, StoreWrites>& stores) {
  json result = json::object();
  for (const auto& [name, writes] : stores) {
    result[name] = {{"sets", writes.sets}, {"deletes", writes.deletes}, {"bytes", writes.bytes}};
  }
  return result;
}

json ChangeSetToJson(const std::map<std::string, StoreWrites>& stores) {
  StoreWrites total;
  for (const auto& [name, writes] : stores) {
    total.sets += writes.sets;
    total.deletes += writes.deletes;
    total.bytes += writes.bytes;
  }
  return {{"sets", total.sets}, {"deletes", total.deletes}, {"bytes", total.bytes}};
}

json PhasesToJson(const PhaseNanos& nanos) {
  json phases = json::object();
  for (size_t i = 0; i < kPhaseCount; ++i) {
    // Only a mempool has it.
    if (i == static_cast<size_t>(Phase::kCheckTx) && nanos[i] == 0) continue;
    phases[kPhaseNames[i]] = Millis(nanos[i]);
  }
  return phases;
}

json SlowestToJson(const std::vector<SlowBlock>& blocks) {
  json result = json::array();
  for (const SlowBlock& block : blocks) {
    result.push_back({{"pass", block.record.pass},
                      {"height", block.record.height},
                      {"block_ms", Millis(block.record.wall_nanos)},
                      {"phase_ms", PhasesToJson(block.record.phase_nanos)},
                      {"txs", block.record.txs},
                      {"transactions", block.transactions},
                      {"stores", StoresToJson(block.stores)}});
  }
  return result;
}

}  // namespace

json ReportToJson(const RunFacts& facts, const RunStatistics& statistics, const HostRecord& host) {
  const CpuSplit& cpu = statistics.cpu;
  return {
      {"tool", {{"version", ToolVersion()}, {"revision", ToolRevision()}}},
      {"recording",
       {{"digest", facts.recording_digest},
        {"chain_id", facts.chain_id},
        {"first", facts.first_height},
        {"last", facts.last_height}}},
      {"base",
       {{"height", facts.base_height},
        {"app_hash", facts.base_app_hash.empty()
                         ? json(nullptr)
                         : json(absl::BytesToHexString(facts.base_app_hash))}}},
      {"host", host.ToJson()},
      {"options", facts.options},
      {"outcome", facts.outcome},
      {"exit_status", facts.exit_status},
      {"blocks_verified", facts.blocks_verified},
      {"blocks_measured", statistics.block_ms.size()},
      {"app_hash", absl::BytesToHexString(facts.app_hash)},
      {"app_hash_chain", absl::BytesToHexString(facts.app_hash_chain)},
      {"digests",
       {{"events", HexOrNull(facts.digests.events)},
        {"gas", HexOrNull(facts.digests.gas)},
        {"codes", HexOrNull(facts.digests.codes)}}},
      {"wall_s", Seconds(statistics.wall_nanos)},
      {"paced_wait_s", Seconds(statistics.paced_nanos)},
      {"restore_s", Seconds(facts.restore_nanos)},
      {"block_ms", DistributionToJson(DistributionOf(statistics.block_ms))},
      {"phase_ms", PhasesToJson(statistics.phase_nanos)},
      {"cpu_s",
       {{"process", Seconds(cpu.process)},
        {"block_execution", Seconds(cpu.execution)},
        {"decode", Seconds(cpu.decode)},
        {"commit", Seconds(cpu.commit)},
        {"compaction", Seconds(cpu.compaction)},
        {"flush", Seconds(cpu.flush)},
        {"other", Seconds(cpu.other())}}},
      {"instructions", OrNull(statistics.instructions)},
      {"peak_rss_bytes", statistics.peak_rss_bytes},
      {"db_bytes", statistics.db_bytes},
      {"bytes_written", statistics.bytes_written},
      {"compaction_bytes", statistics.compaction_bytes},
      {"seek_compactions", statistics.seek_compactions},
      {"allocations_per_block", PerBlock(statistics.allocations, statistics.block_ms.size())},
      {"allocated_bytes_per_block",
       PerBlock(statistics.allocated_bytes, statistics.block_ms.size())},
      {"stalls", statistics.stalls},
      {"stall_ms", static_cast<double>(statistics.stall_micros) / 1e3},
      {"change_set", ChangeSetToJson(facts.stores)},
      {"stores", StoresToJson(facts.stores)},
      {"slowest_blocks", SlowestToJson(facts.slowest_blocks)},
      {"execution", ExecutionToJson(facts)},
      {"checktx", facts.checktx ? CheckTxToJson(*facts.checktx) : json(nullptr)},
  };
}

}  // namespace blockreplay::replay
