#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/inspect/database.h"

namespace blockreplay::replay {

// Writes the state at `height` as one line of JSON per key, {"store", "key", "value"} with key and
// value in hex: stores ascending, keys bytewise. `store` limits it to one; empty: all that have a
// tree (tm2's base store has none). "-" is stdout. Returns the number of keys.
absl::StatusOr<int64_t> ExportJson(const InspectedDatabase& database, int64_t height,
                                   const std::string& store, const std::string& path);

// Writes the state at `height` as a state-sync snapshot into the folder `path`, which must not
// exist.
absl::Status ExportSnapshot(const InspectedDatabase& database, int64_t height,
                            const std::string& path);

// Writes what changed in each version from `since` + 1 to `height` as a recording that `run`
// replays: change sets, store roots and app hashes on a snapshot of `since`, without requests and
// responses. Needs a database that has all these versions. Deletes of keys that were absent leave
// no trace in a tree, so they are not among the writes.
absl::Status ExportChangeSets(const InspectedDatabase& database, int64_t since, int64_t height,
                              const std::string& chain_id, const std::string& path);

}  // namespace blockreplay::replay
