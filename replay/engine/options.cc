#include "replay/engine/options.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

json OrNull(const std::optional<int64_t>& value) { return value ? json(*value) : json(nullptr); }
json OrNull(const std::string& path) { return path.empty() ? json(nullptr) : json(path); }

}  // namespace

const char* NameOf(ExecutionMode mode) {
  switch (mode) {
    case ExecutionMode::kApply:
      return "apply";
    case ExecutionMode::kVerify:
      return "verify";
    case ExecutionMode::kNative:
      return "native";
  }
  return "";
}

const char* NameOf(storage::Persistence persistence) {
  return persistence == storage::Persistence::kEvery ? "every" : "deferred";
}

json OptionsToJson(const RunOptions& options) {
  return {
      {"recording", options.recording},
      {"db", OrNull(options.db)},
      {"resume", options.resume},
      {"from", OrNull(options.from)},
      {"to", OrNull(options.to)},
      {"exec", NameOf(options.exec)},
      {"persist", NameOf(options.persist)},
      {"keep_recent", options.KeepRecent()},
      {"seek_compaction", options.seek_compaction ? "on" : "off"},
      {"threads", options.threads},
      {"passes", options.passes},
      {"repeat_block", options.repeat_block},
      {"pace", options.pace},
      {"cache_mb", options.cache_mb},
      {"checktx", options.checktx},
      {"no_memo", OrNull(options.no_memo)},
      {"signature_cache", options.signature_cache},
      {"disable", options.disable},
      {"cpu_profile", OrNull(options.cpu_profile)},
      {"wall_profile", OrNull(options.wall_profile)},
      {"heap_profile", OrNull(options.heap_profile)},
      {"profile_dir", OrNull(options.profile_dir)},
      {"profile_every", options.profile_every},
      {"profile_slower_than_ms", options.profile_slower_than_ms},
      {"pprof_listen", OrNull(options.pprof_listen)},
      {"csv", OrNull(options.csv)},
  };
}

}  // namespace blockreplay::replay
