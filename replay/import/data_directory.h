#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "replay/import/import_source.h"

namespace blockreplay::replay {

struct DataDirectoryOptions {
  // The node's home, its `data` folder, or a folder with blockstore.db, state.db and
  // application.db.
  std::string path;
  ImportRange range;
  // The genesis document, for a range that starts with the chain; empty: `config/genesis.json` of
  // the home, or what state.db has.
  std::string genesis;
  // For the databases' caches, all three.
  int64_t cache_mb = 64;
  // Compare the checksums of the trees' blocks. A replay proves more than they do.
  bool verify_checksums = false;
  // Read databases that a running node holds (goleveldb only).
  bool allow_in_use = false;
};

// What a CometBFT node of a Cosmos SDK chain has on disk, running or killed: blocks and responses
// from CometBFT's stores, the net writes of a block from the difference of the IAVL trees before
// and after it, the base from the version before the first block. Nothing in the directory is
// written; private copies of journals go to the folder for temporary files.
//
// kNotFound and kFailedPrecondition say which heights each database has, and which can be imported.
absl::StatusOr<ImportSource> OpenDataDirectory(const DataDirectoryOptions& options);

}  // namespace blockreplay::replay
