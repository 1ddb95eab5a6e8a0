#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "keeper/optimisations.h"
#include "profiling/labels.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/cli/progress.h"
#include "replay/engine/interrupt.h"
#include "replay/engine/run.h"
#include "replay/page/page.h"
#include "replay/page/page_files.h"
#include "replay/recording/file_io.h"
#include "replay/report/report.h"
#include "replay/report/version.h"
#include "replay/stats/distribution.h"

namespace blockreplay::replay {
namespace {

struct Ending {
  int exit_status;
  const char* name;  // report.json's "outcome"
};

Ending EndingOf(const RunResult& result) {
  switch (result.outcome) {
    case RunOutcome::kVerified:
      if (!result.problems.empty()) return {kExitError, "error"};
      return {kExitOk, "verified"};
    case RunOutcome::kError:
      return {kExitError, "error"};
    case RunOutcome::kAppHashMismatch:
      return {kExitAppHashMismatch, "app_hash_mismatch"};
    case RunOutcome::kResultsMismatch:
      return {kExitResultsMismatch, "results_hash_mismatch"};
    case RunOutcome::kExecutionDiffers:
      return {kExitExecutionDiffers, "execution_differs"};
    case RunOutcome::kInterrupted:
      return {result.signal == SIGTERM ? kExitTerminated : kExitInterrupted, "interrupted"};
  }
  return {kExitError, "error"};
}

double Millis(int64_t nanos) { return static_cast<double>(nanos) / 1e6; }
double Seconds(int64_t nanos) { return static_cast<double>(nanos) / 1e9; }
double Megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

// Phases that took any time, with their share.
std::string PhaseLine(const RunStatistics& statistics) {
  std::string line;
  for (size_t i = 0; i < kPhaseCount; ++i) {
    const int64_t nanos = statistics.phase_nanos[i];
    if (nanos == 0) continue;
    absl::StrAppendFormat(&line, "%s%s %.1f ms (%.1f %%)", line.empty() ? "" : ", ", kPhaseNames[i],
                          Millis(nanos),
                          100 * Millis(nanos) / std::max(1e-9, Millis(statistics.wall_nanos)));
  }
  return line;
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void PrintCoverage(const keeper::Coverage& coverage) {
  const keeper::KindCoverage total = coverage.Total();
  std::printf(
      "native      %lld of %lld phases executed, %lld matched: coverage %.2f %% of phases, %.2f %% "
      "of recorded writes\n\n%s\n",
      static_cast<long long>(total.executed), static_cast<long long>(total.phases),
      static_cast<long long>(total.matched), Percent(total.matched, total.phases),
      Percent(total.matched_writes, total.writes), coverage.TableToString().c_str());
}

void PrintCheckTx(const CheckTxReport& report) {
  const auto sum = [&](int64_t CheckTxOutcomes::* outcome) {
    return static_cast<long long>(report.checks.*outcome + report.rechecks.*outcome);
  };
  std::printf(
      "CheckTx     %lld results (%lld checks, %lld rechecks): ok %lld, ok_gas_differs %lld, failed "
      "%lld, skipped_failed %lld; %.1f µs each\n",
      static_cast<long long>(report.checks.total() + report.rechecks.total()),
      static_cast<long long>(report.checks.total()),
      static_cast<long long>(report.rechecks.total()), sum(&CheckTxOutcomes::ok),
      sum(&CheckTxOutcomes::ok_gas_differs), sum(&CheckTxOutcomes::failed),
      sum(&CheckTxOutcomes::skipped_failed),
      static_cast<double>(report.wall_nanos) / 1e3 /
          static_cast<double>(
              std::max<int64_t>(1, report.checks.total() + report.rechecks.total())));
}

void PrintCheckTxDifferences(const CheckTxReport& report) {
  if (report.AllEqual()) return;
  std::fprintf(stderr,
               "blockreplay: mismatch: %lld of %lld results of CheckTx differ from the recording; "
               "the first:\n%s",
               static_cast<long long>(report.checks.failed + report.checks.ok_gas_differs +
                                      report.rechecks.failed + report.rechecks.ok_gas_differs),
               static_cast<long long>(report.checks.total() + report.rechecks.total()),
               report.first_difference.c_str());
}

// What differs in native phases, whatever else the run ended with.
void PrintDifferences(const keeper::Coverage& coverage) {
  if (coverage.AllMatched()) return;
  const keeper::KindCoverage total = coverage.Total();
  std::fprintf(stderr,
               "blockreplay: mismatch: %lld of %lld natively executed phases differ from the "
               "recording; the first of each kind:\n%s",
               static_cast<long long>(total.executed - total.matched),
               static_cast<long long>(total.executed), coverage.DifferencesToString().c_str());
}

void PrintSummary(const RunPlan& plan, const RunResult& result) {
  const RunStatistics& s = result.statistics;
  const size_t blocks = s.block_ms.size();
  std::printf("\nverified    %lld blocks", static_cast<long long>(result.facts.blocks_verified));
  if (result.outcome == RunOutcome::kVerified) std::printf(", all equal to the recording");
  if (result.outcome == RunOutcome::kExecutionDiffers) {
    std::printf(", all app hashes equal to the recording");
  }
  std::printf("\napp hash    %s\n", absl::BytesToHexString(result.facts.app_hash).c_str());
  std::printf("chain       %s (SHA-256 of the app hashes of all blocks)\n",
              absl::BytesToHexString(result.facts.app_hash_chain).c_str());
  if (blocks > 0) {
    const Distribution ms = DistributionOf(s.block_ms);
    std::printf(
        "time        %.3f s for %zu blocks, %.1f blocks/s; block p50 %.3f ms, p90 %.3f, p99 %.3f, "
        "max %.3f\n",
        Seconds(s.wall_nanos), blocks,
        static_cast<double>(blocks) / std::max(1e-9, Seconds(s.wall_nanos)), ms.p50, ms.p90, ms.p99,
        ms.max);
    std::printf("phases      %s\n", PhaseLine(s).c_str());
    std::printf(
        "CPU         process %.3f s = execution %.3f (decoding %.3f) + commit %.3f + compaction "
        "%.3f + flush %.3f + other %.3f\n",
        Seconds(s.cpu.process), Seconds(s.cpu.execution), Seconds(s.cpu.decode),
        Seconds(s.cpu.commit), Seconds(s.cpu.compaction), Seconds(s.cpu.flush),
        Seconds(s.cpu.other()));
    std::printf("memory      peak %.0f MB\n", Megabytes(s.peak_rss_bytes));
    std::printf("disk        database %.1f MB, written %.1f MB, compactions %.1f MB, %llu stalls\n",
                static_cast<double>(s.db_bytes) / 1e6, static_cast<double>(s.bytes_written) / 1e6,
                static_cast<double>(s.compaction_bytes) / 1e6,
                static_cast<unsigned long long>(s.stalls));
  }
  if (result.facts.coverage) PrintCoverage(*result.facts.coverage);
  if (result.facts.checktx) PrintCheckTx(*result.facts.checktx);
  const RunOptions& options = plan.options;
  if (!options.report.empty()) std::printf("report      %s\n", options.report.c_str());
  if (!options.html.empty()) std::printf("page        %s\n", options.html.c_str());
  if (!options.csv.empty()) std::printf("CSV         %s\n", options.csv.c_str());
  if (!options.results.empty()) std::printf("results     %s\n", options.results.c_str());
  for (const std::string& file : result.profiles) {
    std::printf("profile     %s  (go tool pprof -http=: %s)\n", file.c_str(), file.c_str());
  }
}

// The page of --html; one file, or an error.
absl::Status WritePage(const RunOptions& options, const nlohmann::json& report,
                       const std::string& csv) {
  PageRun run;
  run.name = std::filesystem::path(options.recording).lexically_normal().filename().string();
  if (run.name.empty()) run.name = options.recording;
  run.report = report;
  run.csv = csv;
  std::vector<std::string> ignored;
  if (absl::Status status = AddProfiles("", &run, &ignored); !status.ok()) return status;
  absl::StatusOr<std::string> page =
      RenderPage({run}, std::nullopt, {{"version", ToolVersion()}, {"revision", ToolRevision()}});
  if (!page.ok()) return page.status();
  return WriteFileAtomically(options.html, *page);
}

void WriteReports(const RunOptions& options, const HostRecord& host, RunResult* result) {
  if (options.report.empty() && options.html.empty()) return;
  const Ending ending = EndingOf(*result);
  result->facts.outcome = ending.name;
  result->facts.exit_status = ending.exit_status;
  const nlohmann::json report = ReportToJson(result->facts, result->statistics, host);
  if (!options.report.empty()) {
    if (absl::Status status = WriteFileAtomically(
            options.report,
            report.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
        !status.ok()) {
      result->problems.push_back(std::string(status.message()));
    }
  }
  if (!options.html.empty()) {
    if (absl::Status status = WritePage(options, report, result->csv); !status.ok()) {
      result->problems.push_back(absl::StrCat("--html ", options.html, ": ", status.message()));
    }
  }
}

int Execute(const RunOptions& options, const std::string& command_line,
            const profiling::InstructionCounter* instructions) {
  absl::StatusOr<RunPlan> plan = PlanRun(options);
  if (!plan.ok()) return ReportError(plan.status());
  HostRecord host;
  const InterruptGuard interrupts;
  RunProgress progress(*plan, host.OneLine());
  RunResult result = ExecuteRun(*plan, command_line, instructions, &progress);
  progress.Finish();
  host.Finish();

  if (result.started) WriteReports(options, host, &result);
  const bool has_summary = result.outcome != RunOutcome::kError || result.facts.blocks_verified > 0;
  if (!options.quiet && has_summary) PrintSummary(*plan, result);
  std::fflush(stdout);

  if (result.facts.coverage) PrintDifferences(*result.facts.coverage);
  if (result.facts.checktx) PrintCheckTxDifferences(*result.facts.checktx);
  switch (result.outcome) {
    case RunOutcome::kVerified:
    case RunOutcome::kExecutionDiffers:
      break;
    case RunOutcome::kError:
      ReportError(result.error);
      break;
    case RunOutcome::kAppHashMismatch:
    case RunOutcome::kResultsMismatch:
      std::fprintf(stderr, "blockreplay: mismatch: %s", result.mismatch.c_str());
      if (!options.db.empty()) {
        std::fprintf(stderr, "  the database %s stays at height %lld\n", options.db.c_str(),
                     static_cast<long long>(result.paused_at));
      }
      if (!result.bundle.empty()) std::fprintf(stderr, "  evidence in %s\n", result.bundle.c_str());
      break;
    case RunOutcome::kInterrupted:
      std::fprintf(stderr, "blockreplay: interrupted after height %lld%s\n",
                   static_cast<long long>(result.paused_at),
                   options.db.empty() ? "" : "; go on with --resume");
      break;
  }
  for (const std::string& problem : result.problems) ReportError(absl::UnknownError(problem));
  return EndingOf(result).exit_status;
}

// An option that is one of a few words, the first of them by default.
template <typename T>
void AddChoice(CLI::App* command, const std::string& name, const std::string& description,
               const std::vector<std::pair<std::string, T>>& choices, T* value) {
  std::vector<std::string> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  command
      ->add_option_function<std::string>(
          name,
          [choices, value](const std::string& word) {
            for (const auto& choice : choices) {
              if (choice.first == word) *value = choice.second;
            }
          },
          description)
      ->check(CLI::IsMember(words).description(""))
      ->type_name(absl::StrJoin(words, "|"))
      ->default_str(words.front());
}

void AddOptions(CLI::App* command, RunOptions* options) {
  command->add_option("RECORDING", options->recording, "Folder of the recording")->required();
  command
      ->add_option(
          "--db", options->db,
          "Keep the database in this folder, which must not exist (default: a temporary one)")
      ->type_name("DIR");
  command->add_flag(
      "--resume", options->resume,
      "Go on with the database of --db after its last block; begin where there is none");
  command
      ->add_option("--from", options->from,
                   "Measure from this height on; blocks before are replayed and verified only")
      ->type_name("H");
  command->add_option("--to", options->to, "Stop after this height")->type_name("H");

  AddExecOption(command,
                "apply recorded net writes; verify: also execute natively and compare each phase; "
                "native: execute only, where there is code for every kind of phase",
                &options->exec);
  AddChoice(
      command, "--persist",
      "Keep trees in memory with a write-ahead log, or write every version as the Go node does",
      {{"deferred", storage::Persistence::kDeferred}, {"every", storage::Persistence::kEvery}},
      &options->persist);
  command
      ->add_option("--keep-recent", options->keep_recent,
                   "Keep the last N versions (default: 1 deferred, all with --persist every)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40).description(""))
      ->type_name("N");
  AddChoice(command, "--seek-compaction", "Emulate LevelDB's compactions after seeks",
            {{"off", false}, {"on", true}}, &options->seek_compaction);
  command->add_option("--threads", options->threads, "Threads for hashing (default: all cores)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command->add_option("--passes", options->passes, "Replay the range N times, each from the base")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30).description(""))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--repeat-block", options->repeat_block,
                   "Execute each block N times from the same state, to catch nondeterminism")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30).description(""))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--pace", options->pace,
                   "Start blocks at the intervals of their times, FACTOR times as fast")
      ->type_name("max|original|FACTOR")
      ->capture_default_str();
  command
      ->add_option("--cache-mb", options->cache_mb, "Memory for trees and database caches, in MiB")
      ->check(CLI::Range(int64_t{8}, int64_t{1} << 24).description(""))
      ->type_name("N")
      ->capture_default_str();

  command->add_flag("--checktx", options->checktx,
                    "Ask CheckTx what the recorded node was asked after each commit, and compare");
  AddCheckTxOptions(command, &options->no_memo, &options->signature_cache);
  const std::vector<std::string> optimisations(keeper::kOptimisationNames.begin(),
                                               keeper::kOptimisationNames.end());
  command
      ->add_option("--disable", options->disable,
                   "Execute natively without these optimisations, to see what each is worth: " +
                       absl::StrJoin(optimisations, ", "))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");

  command->add_option("--cpu-profile", options->cpu_profile, "Write a CPU profile (pprof)")
      ->type_name("FILE");
  command
      ->add_option("--wall-profile", options->wall_profile,
                   "Write a profile of wall time, waiting included (pprof)")
      ->type_name("FILE");
  command->add_option("--heap-profile", options->heap_profile, "Write a heap profile (pprof)")
      ->type_name("FILE");
  command
      ->add_option("--profile-dir", options->profile_dir,
                   "Folder for profiles of parts of the range: see the next two")
      ->type_name("DIR");
  command
      ->add_option("--profile-every", options->profile_every, "A CPU and heap pair every N blocks")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40).description(""))
      ->type_name("N");
  command
      ->add_option("--profile-slower-than", options->profile_slower_than_ms,
                   "A pair for each block that takes more than MS milliseconds")
      ->check(CLI::Range(0.001, 1e9).description(""))
      ->type_name("MS");

  command
      ->add_option("--pprof-listen", options->pprof_listen,
                   "Serve profiles over HTTP while the run lasts, for go tool pprof http://…; "
                   "without HOST on 127.0.0.1 only")
      ->type_name("[HOST]:PORT");

  command->add_option("--report", options->report, "Write the measurements as JSON")
      ->type_name("FILE");
  command
      ->add_option(
          "--html", options->html,
          "Write a page to look at, with plots, and flame graphs of the profiles asked for")
      ->type_name("FILE");
  command->add_option("--csv", options->csv, "Write a row for each block as CSV")
      ->type_name("FILE");
  command
      ->add_option("--results", options->results,
                   "Write what native code answered, a JSON line for each phase")
      ->type_name("FILE");
  command
      ->add_option("--bundle", options->bundle, "On a mismatch, put the evidence into this folder")
      ->type_name("DIR");
  command->add_flag("--quiet", options->quiet, "Print errors and mismatches only");
}

}  // namespace

void AddExecOption(CLI::App* command, const std::string& description, ExecutionMode* mode) {
  AddChoice(command, "--exec", description,
            {{"apply", ExecutionMode::kApply},
             {"verify", ExecutionMode::kVerify},
             {"native", ExecutionMode::kNative}},
            mode);
}

void AddCheckTxOptions(CLI::App* command, std::string* no_memo, int64_t* signature_cache) {
  command
      ->add_flag("--no-memo{all}", *no_memo,
                 "CheckTx: decode parameters for each transaction; --no-memo=params is the same, "
                 "--no-memo=fee-collector decodes the fee collector only")
      ->check(CLI::IsMember({"all", "params", "fee-collector"}).description(""));
  command
      ->add_option("--signature-cache", *signature_cache,
                   "CheckTx: remember N signatures that were found valid")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 30).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void AddRunCommand(CLI::App* app, const std::string& command_line,
                   const profiling::InstructionCounter* instructions, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "run", "Replays a recording and compares every app hash; exit status 2 if one differs");
  auto options = std::make_shared<RunOptions>();
  AddOptions(command, options.get());
  command->callback(
      [=] { *selected = [=] { return Execute(*options, command_line, instructions); }; });
}

}  // namespace blockreplay::replay
