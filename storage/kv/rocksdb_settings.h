#pragma once

#include "absl/status/statusor.h"
#include "rocksdb/options.h"
#include "storage/kv/rocksdb_engine.h"

namespace blockreplay::storage {

// Our choice of RocksDB's options, each with its reason in the .cc file. Listeners and statistics
// are left to the engine.
absl::StatusOr<rocksdb::Options> MakeRocksDbSettings(const RocksDbOptions& options);

}  // namespace blockreplay::storage
