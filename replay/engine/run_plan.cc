#include "replay/engine/run_plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "keeper/chain.h"
#include "keeper/optimisations.h"
#include "profiling/pprof_server.h"
#include "profiling/process_stats.h"
#include "profiling/profiler.h"
#include "replay/engine/chain_stores.h"
#include "replay/engine/checktx_verifier.h"
#include "replay/engine/database_dir.h"
#include "replay/engine/pace.h"
#include "replay/engine/verify_executor.h"
#include "replay/recording/check.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

// Versions between two prunings, as the Go node's default.
constexpr int64_t kPruneInterval = 10;
// Of --cache-mb, the share that the database gets for its block cache and memtables; the trees'
// nodes have the rest.
constexpr int64_t kDatabaseShare = 4;

absl::Status Usage(const std::string& problem) { return absl::InvalidArgumentError(problem); }

absl::Status CheckOptions(const RunOptions& options) {
  if (options.resume && options.db.empty()) {
    return Usage("--resume needs --db DIR: a temporary database cannot be resumed");
  }
  if (options.resume && options.passes > 1) {
    return Usage("--resume and --passes exclude each other: a pass starts from the base");
  }
  if (options.persist == storage::Persistence::kDeferred && options.keep_recent == 0) {
    return Usage("--keep-recent 0 keeps every version, which needs --persist every");
  }
  if (!options.results.empty() && options.exec == ExecutionMode::kApply) {
    return Usage("--results needs --exec verify: applying recorded writes executes nothing");
  }
  if (!options.checktx && (!options.no_memo.empty() || options.signature_cache > 0)) {
    return Usage("--no-memo and --signature-cache are about CheckTx: they need --checktx");
  }
  if (absl::StatusOr<keeper::OptimisationSet> set = keeper::ParseOptimisations(options.disable);
      !set.ok()) {
    return Usage(absl::StrCat("--disable: ", std::string(set.status().message())));
  }
  if (!options.disable.empty() && options.exec == ExecutionMode::kApply) {
    return Usage("--disable is about native execution: it needs --exec verify");
  }
  const bool series = options.profile_every > 0 || options.profile_slower_than_ms > 0;
  if (series != !options.profile_dir.empty()) {
    return Usage(series ? "--profile-every and --profile-slower-than need --profile-dir DIR"
                        : "--profile-dir needs --profile-every N or --profile-slower-than MS");
  }
  if (!options.pprof_listen.empty()) {
    if (const auto address = profiling::ParseListenAddress(options.pprof_listen); !address.ok()) {
      return Usage(absl::StrCat("--pprof-listen: ", address.status().message()));
    }
  }
  const bool heap = !options.heap_profile.empty();
  if (heap && !profiling::Profiler::HeapProfilingAvailable()) {
    return absl::UnavailableError(
        "--heap-profile is not available: this program runs without tcmalloc");
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const RunOptions& options) {
  for (const std::string* path :
       {&options.report, &options.html, &options.csv, &options.results, &options.cpu_profile,
        &options.wall_profile, &options.heap_profile}) {
    if (path->empty()) continue;
    if (absl::Status status = CheckWritable(*path); !status.ok()) return status;
  }
  std::error_code error;
  if (!options.profile_dir.empty()) {
    std::filesystem::create_directories(options.profile_dir, error);
    if (error) return ErrnoStatus(error.value(), "create folder", options.profile_dir);
    if (absl::Status status = CheckWritable(options.profile_dir + "/probe"); !status.ok()) {
      return status;
    }
  }
  // The bundle's folder is made only when there is something to put into it.
  if (!options.bundle.empty() && std::filesystem::exists(options.bundle, error) &&
      !std::filesystem::is_empty(options.bundle, error)) {
    return Usage(absl::StrCat("--bundle ", options.bundle,
                              " is there already and not empty: give a new folder"));
  }
  return absl::OkStatus();
}

// What the database takes at least: a lower bound, so that nobody is sent away whose run would have
// gone well.
absl::Status CheckDiskSpace(const RunOptions& options, const Manifest& manifest) {
  uint64_t snapshot_bytes = 0;
  uint64_t block_bytes = 0;
  for (const Manifest::File& file : manifest.files) {
    if (file.name.starts_with("snapshot/")) snapshot_bytes += file.size;
    if (file.name.starts_with("blocks")) block_bytes += file.size;
  }
  const uint64_t needed = 2 * snapshot_bytes +
                          (options.persist == storage::Persistence::kEvery ? 2 * block_bytes : 0) +
                          (uint64_t{1} << 20);
  std::error_code ignored;
  const std::string place =
      options.db.empty() ? std::filesystem::temp_directory_path(ignored).string() : options.db;
  absl::StatusOr<uint64_t> free = FreeDiskBytes(place);
  if (!free.ok()) return free.status();
  if (*free >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the database needs at least ", needed >> 20, " MiB, but the disk of ", place,
                   " has only ", *free >> 20, " MiB free: make room or give --db DIR elsewhere"));
}

// Whether the recording can be executed as asked for.
absl::Status CheckExecution(const RunOptions& options, const Manifest& manifest) {
  if (options.checktx) {
    const absl::Status status =
        CheckTxVerifier::Create(options.recording, manifest, {}, nullptr).status();
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("--checktx is not available: ", status.message()));
    }
  }
  if (options.exec == ExecutionMode::kApply) return absl::OkStatus();
  if (manifest.partial_base && manifest.partial_base->exec == NameOf(ExecutionMode::kApply)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--exec ", NameOf(options.exec), " is not available: ", options.recording,
        " has a partial base with what --exec apply needs, not what execution reads: make it again "
        "with blockreplay minimize --exec ",
        NameOf(options.exec)));
  }
  const absl::Status status =
      VerifyExecutor::Create(options.recording, manifest, options.exec, nullptr).status();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("--exec ", NameOf(options.exec),
                                                  " is not available: ", status.message()));
}

}  // namespace

void ShareCache(int64_t cache_mb, RunPlan* plan) {
  const size_t cache_bytes = static_cast<size_t>(cache_mb) << 20;
  plan->database_memory_bytes = cache_bytes / kDatabaseShare;
  plan->multistore.cache_bytes = cache_bytes - plan->database_memory_bytes;
}

absl::StatusOr<RunPlan> PlanRun(const RunOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  absl::StatusOr<std::optional<double>> pace = Pacer::ParseFactor(options.pace);
  if (!pace.ok()) return pace.status();
  absl::StatusOr<Manifest> manifest = LoadManifest(options.recording);
  if (!manifest.ok()) return manifest.status();

  RunPlan plan;
  plan.options = options;
  plan.manifest = *std::move(manifest);
  plan.pace = *pace;
  plan.from = options.from.value_or(plan.manifest.first_height);
  plan.to = options.to.value_or(plan.manifest.last_height);
  const auto in_recording = [&](int64_t height) {
    return height >= plan.manifest.first_height && height <= plan.manifest.last_height;
  };
  if (!in_recording(plan.from) || !in_recording(plan.to) || plan.from > plan.to) {
    return Usage(absl::StrCat("--from ", plan.from, " --to ", plan.to,
                              " is not a range of the recording, which has heights ",
                              plan.manifest.first_height, " to ", plan.manifest.last_height));
  }
  absl::StatusOr<ChainStores> chain = StoresOf(plan.manifest);
  if (!chain.ok()) return chain.status();
  if (absl::Status status = CheckExecution(options, plan.manifest); !status.ok()) return status;
  if (absl::Status status = CheckOutputs(options); !status.ok()) return status;
  if (absl::Status status = CheckDiskSpace(options, plan.manifest); !status.ok()) return status;
  if (absl::Status status = CheckFilesAndSnapshot(options.recording, plan.manifest); !status.ok()) {
    return status;
  }
  plan.digest = RecordingDigest(plan.manifest);
  plan.threads =
      options.threads > 0 ? options.threads : std::max(1, profiling::GetHostInfo().cores_allowed);

  storage::MultistoreOptions& multistore = plan.multistore;
  multistore.stores = std::move(chain->stores);
  multistore.format = chain->format;
  if (!plan.manifest.base) multistore.initial_version = plan.manifest.first_height;
  multistore.persistence = options.persist;
  const int64_t keep_recent = options.KeepRecent();
  if (options.persist == storage::Persistence::kEvery) {
    multistore.prune_interval = keep_recent > 0 ? kPruneInterval : 0;
  }
  multistore.keep_recent = keep_recent;
  multistore.copy_on_write = options.repeat_block > 1;
  multistore.threads = plan.threads;
  ShareCache(options.cache_mb, &plan);
  return plan;
}

}  // namespace blockreplay::replay
