#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "replay/import/data_directory.h"
#include "replay/import/import_source.h"

namespace blockreplay::replay {

// The folder of a gno.land node's databases (with gnolang.db) that `path` is, or has in db/, data/
// or data/db/; nothing if there is none.
std::optional<std::string> FindGnoFolder(const std::string& path);

// What a gno.land node has on disk, its databases as goleveldb (scripts/import/convert-pebble.sh):
// blocks and responses from tm2's stores, the net writes of a block from the difference of the B+
// trees of `main` before and after it. The store `base` keeps no versions, so its writes are not
// among them; they are in no app hash either. The base is the tree before the first block.
//
// Nothing in the directory is written. Errors as those of OpenDataDirectory.
absl::StatusOr<ImportSource> OpenGnoDirectory(const std::string& folder,
                                              const DataDirectoryOptions& options);

}  // namespace blockreplay::replay
