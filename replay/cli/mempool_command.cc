#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/engine/interrupt.h"
#include "replay/mempool/mempool_run.h"
#include "replay/recording/file_io.h"
#include "replay/report/report.h"
#include "replay/stats/distribution.h"

namespace blockreplay::replay {
namespace {

struct Ending {
  int exit_status;
  const char* name;  // report.json's "outcome"
};

Ending EndingOf(const MempoolResult& result) {
  if (!result.mismatch.empty()) return {kExitAppHashMismatch, "app_hash_mismatch"};
  if (!result.error.ok()) return {kExitError, "error"};
  if (result.signal != 0) {
    return {result.signal == SIGTERM ? kExitTerminated : kExitInterrupted, "interrupted"};
  }
  if (!result.problems.empty()) return {kExitError, "error"};
  return {kExitOk, "completed"};
}

std::string DistributionLine(const std::vector<double>& values, const char* unit) {
  const Distribution d = DistributionOf(values);
  return absl::StrFormat("p50 %.3f %s, p90 %.3f, p99 %.3f, mean %.3f, stddev %.3f", d.p50, unit,
                         d.p90, d.p99, d.mean, d.stddev);
}

double Seconds(int64_t nanos) { return static_cast<double>(nanos) / 1e9; }

void PrintHeader(const MempoolOptions& options, const RunPlan& plan, const std::string& host) {
  std::printf("recording   %s: %s, %s %s\n", options.run.recording.c_str(),
              plan.manifest.chain_id.c_str(), plan.manifest.application_name.c_str(),
              plan.manifest.application_version.c_str());
  std::printf("digest      %s\n", plan.digest.c_str());
  std::printf("mempool     depth %lld, %lld transactions a block, %lld blocks%s\n",
              static_cast<long long>(options.depth), static_cast<long long>(options.block_txs),
              static_cast<long long>(options.blocks),
              options.refill ? ", filled up again after each" : "");
  std::printf("CheckTx     not remembered: %s; signature cache %lld\n",
              options.run.no_memo.empty() ? "nothing" : options.run.no_memo.c_str(),
              static_cast<long long>(options.run.signature_cache));
  std::printf("host        %s; %d threads used\n\n", host.c_str(), plan.threads);
  std::fflush(stdout);
}

void PrintSummary(const MempoolResult& result) {
  const MempoolReport& mempool = result.mempool;
  const RunStatistics& s = result.statistics;
  std::printf("app hash    %s\n", absl::BytesToHexString(result.facts.app_hash).c_str());
  std::printf("chain       %s (SHA-256 of the app hashes of %lld blocks)\n",
              absl::BytesToHexString(result.facts.app_hash_chain).c_str(),
              static_cast<long long>(result.facts.blocks_verified));
  std::printf("DeliverTx   %lld transactions, %lld failed, gas used %lld\n",
              static_cast<long long>(mempool.delivered),
              static_cast<long long>(mempool.delivered_failed),
              static_cast<long long>(mempool.delivered_gas_used));
  std::printf("CheckTx     %lld checks, %lld rechecks, %lld failures, gas used %lld\n",
              static_cast<long long>(mempool.checks.total),
              static_cast<long long>(mempool.rechecks.total),
              static_cast<long long>(mempool.checks.failed() + mempool.rechecks.failed()),
              static_cast<long long>(mempool.checks.gas_used + mempool.rechecks.gas_used));
  std::printf("pool        %lld after filling, %lld at the end\n",
              static_cast<long long>(mempool.pool_after_fill),
              static_cast<long long>(mempool.pool_at_end));
  if (s.block_ms.empty()) return;
  std::printf("block       %s\n", DistributionLine(s.block_ms, "ms").c_str());
  std::printf("  execute   %s\n", DistributionLine(mempool.execute_ms, "ms").c_str());
  std::printf("  recheck   %s\n", DistributionLine(mempool.recheck_ms, "ms").c_str());
  if (!mempool.recheck_us.empty()) {
    std::printf("one recheck %s\n", DistributionLine(mempool.recheck_us, "µs").c_str());
    std::printf("one check   %s\n", DistributionLine(mempool.check_us, "µs").c_str());
  }
  const double wall = std::max(1e-9, Seconds(s.wall_nanos));
  std::printf("rate        %.1f transactions/s, %.1f rechecks/s\n",
              static_cast<double>(mempool.delivered) / wall,
              static_cast<double>(mempool.rechecks.total) / wall);
  std::printf(
      "CPU         process %.3f s = execution %.3f (rechecking %.3f) + commit %.3f + compaction "
      "%.3f + flush %.3f + other %.3f\n",
      Seconds(s.cpu.process), Seconds(s.cpu.execution), Seconds(mempool.recheck_cpu_nanos),
      Seconds(s.cpu.commit), Seconds(s.cpu.compaction), Seconds(s.cpu.flush),
      Seconds(s.cpu.other()));
}

int Execute(const MempoolOptions& options, const std::string& command_line,
            const profiling::InstructionCounter* instructions) {
  const absl::StatusOr<RunPlan> plan = PlanMempool(options);
  if (!plan.ok()) return ReportError(plan.status());
  HostRecord host;
  const InterruptGuard interrupts;
  if (!options.run.quiet) PrintHeader(options, *plan, host.OneLine());
  MempoolResult result = RunMempool(options, *plan, command_line, instructions);
  host.Finish();

  if (!options.run.report.empty() && result.started) {
    const Ending ending = EndingOf(result);
    result.facts.outcome = ending.name;
    result.facts.exit_status = ending.exit_status;
    nlohmann::json json = ReportToJson(result.facts, result.statistics, host);
    json["mempool"] = MempoolToJson(result.mempool, result.statistics.wall_nanos);
    if (absl::Status status = WriteFileAtomically(options.run.report, json.dump(1) + "\n");
        !status.ok()) {
      result.problems.push_back(std::string(status.message()));
    }
  }
  if (!options.run.quiet && result.facts.blocks_verified > 0) PrintSummary(result);
  std::fflush(stdout);
  if (!result.mismatch.empty()) {
    std::fprintf(stderr, "blockreplay: mismatch: %s", result.mismatch.c_str());
  } else if (!result.error.ok()) {
    ReportError(result.error);
  } else if (result.signal != 0) {
    std::fprintf(stderr, "blockreplay: interrupted after height %lld\n",
                 static_cast<long long>(result.facts.last_height));
  }
  for (const std::string& problem : result.problems) ReportError(absl::UnknownError(problem));
  return EndingOf(result).exit_status;
}

void AddOptions(CLI::App* command, MempoolOptions* options) {
  constexpr int64_t kMost = int64_t{1} << 30;
  command->add_option("RECORDING", options->run.recording, "Folder of the recording")->required();
  command->add_option("--depth", options->depth, "Transactions in the pool before the first block")
      ->check(CLI::Range(int64_t{1}, kMost).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--block-txs", options->block_txs, "Transactions that a block takes")
      ->check(CLI::Range(int64_t{0}, kMost).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--blocks", options->blocks, "Blocks to make")
      ->check(CLI::Range(int64_t{1}, kMost).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_flag("--refill", options->refill,
                    "Fill the pool up again after each block, outside of its time");
  AddCheckTxOptions(command, &options->run.no_memo, &options->run.signature_cache);
  options->run.threads = 1;
  command
      ->add_option("--threads", options->run.threads,
                   "Threads: above 1, signatures are verified in batches")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--cache-mb", options->run.cache_mb,
                   "Memory for trees and database caches, in MiB")
      ->check(CLI::Range(int64_t{8}, int64_t{1} << 24).description(""))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--cpu-profile", options->run.cpu_profile, "Write a CPU profile (pprof)")
      ->type_name("FILE");
  command->add_option("--heap-profile", options->run.heap_profile, "Write a heap profile (pprof)")
      ->type_name("FILE");
  command->add_option("--report", options->run.report, "Write the measurements as JSON")
      ->type_name("FILE");
  command->add_option("--csv", options->run.csv, "Write a row for each block as CSV")
      ->type_name("FILE");
  command->add_flag("--quiet", options->run.quiet, "Print errors only");
}

}  // namespace

void AddMempoolCommand(CLI::App* app, const std::string& command_line,
                       const profiling::InstructionCounter* instructions, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "mempool", "Drives a node's mempool over a recording: CheckTx, blocks, rechecks");
  auto options = std::make_shared<MempoolOptions>();
  AddOptions(command, options.get());
  command->callback(
      [=] { *selected = [=] { return Execute(*options, command_line, instructions); }; });
}

}  // namespace blockreplay::replay
