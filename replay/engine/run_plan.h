#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/options.h"
#include "replay/recording/manifest.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// A run that can be started: its recording is whole, its options fit it, its output can be written.
struct RunPlan {
  RunOptions options;
  Manifest manifest;
  std::string digest;
  // Blocks before `from` are replayed and verified, but not measured; `to` is the last one.
  int64_t from = 0;
  int64_t to = 0;
  int threads = 1;
  std::optional<double> pace;
  storage::MultistoreOptions multistore;
  size_t database_memory_bytes = 0;
};

// Checks everything that can be checked before anything is touched: options, manifest against files
// and snapshot, output paths, disk space.
absl::StatusOr<RunPlan> PlanRun(const RunOptions& options);

// Divides --cache-mb between the plan's database and the nodes that its trees keep in memory.
void ShareCache(int64_t cache_mb, RunPlan* plan);

}  // namespace blockreplay::replay
