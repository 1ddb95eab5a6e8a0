#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

struct ReadOnlyOptions {
  // Reads a LevelDB that a running process holds; see LeveldbSourceOptions.
  bool allow_in_use = false;
  size_t block_cache_bytes = size_t{32} << 20;
  // Of a LevelDB; see LeveldbSourceOptions.
  bool verify_checksums = true;
  // For private copies; empty: the system's directory for temporary files.
  std::string temp_dir;
};

// Opens the database in directory `path`, LevelDB (goleveldb too) or RocksDB, without writing into
// it: not a byte, not a log. Its owner cannot open it meanwhile.
//
// Errors besides LeveldbSource's and RocksDbEngine's:
//   kFailedPrecondition  in use by a process
//   kUnimplemented       PebbleDB, which has no C++ reader; says what to do instead
absl::StatusOr<std::unique_ptr<Reader>> OpenReadOnly(const std::string& path,
                                                     const ReadOnlyOptions& options = {});

// Whether there is a database of a kind that is known, which OpenReadOnly may not be able to read.
bool LooksLikeDatabase(const std::string& path);

}  // namespace blockreplay::storage
