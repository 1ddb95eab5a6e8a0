#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "storage/multistore/tree_kind.h"

namespace blockreplay::replay {

enum class ExecutionMode {
  kApply,   // the recorded net writes are applied
  kVerify,  // phases with native code are executed and compared, the recorded writes are committed
  kNative,  // nothing recorded but the requests
};

// What `blockreplay run` was asked to do. docs/command-line.md describes each.
struct RunOptions {
  std::string recording;
  std::string db;  // empty: a temporary one
  bool resume = false;
  std::optional<int64_t> from;
  std::optional<int64_t> to;
  ExecutionMode exec = ExecutionMode::kApply;
  storage::Persistence persist = storage::Persistence::kDeferred;
  // How many of the last versions stay readable. Deferred: at least 1. Every: 0 keeps all.
  std::optional<int64_t> keep_recent;
  bool seek_compaction = false;
  int threads = 0;  // 0: as many as this process may use
  int64_t passes = 1;
  int64_t repeat_block = 1;
  std::string pace = "max";
  int64_t cache_mb = 256;
  // Compare the recorded results of CheckTx, and how CheckTx is done then: what it does not
  // remember ("all", "params", "fee-collector", or nothing), how many signatures it does.
  bool checktx = false;
  std::string no_memo;
  int64_t signature_cache = 0;
  // Names of optimisations of native execution that are switched off.
  std::vector<std::string> disable;

  std::string cpu_profile;
  std::string wall_profile;
  std::string heap_profile;
  std::string profile_dir;
  int64_t profile_every = 0;
  double profile_slower_than_ms = 0;

  std::string pprof_listen;  // [HOST]:PORT; empty: no listener

  std::string report;
  std::string html;
  std::string csv;
  std::string results;
  std::string bundle;
  bool quiet = false;

  // With the defaults filled in.
  int64_t KeepRecent() const {
    return keep_recent.value_or(persist == storage::Persistence::kDeferred ? 1 : 0);
  }
};

const char* NameOf(ExecutionMode mode);
const char* NameOf(storage::Persistence persistence);
// report.json's "options".
nlohmann::json OptionsToJson(const RunOptions& options);

}  // namespace blockreplay::replay
