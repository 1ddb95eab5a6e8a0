#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"
#include "storage/kv/rocksdb_engine.h"

// Compactions that reads trigger came back in RocksDB 11.2, off by default.
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2)
#define BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS 1
#else
#define BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS 0
#endif

namespace blockreplay::storage {

// Our choice of RocksDB's options, each with its reason in the .cc file. Listeners, statistics
// and log are left to the engine.
absl::StatusOr<rocksdb::Options> MakeRocksDbSettings(const RocksDbOptions& options);

// Whether an open database's options rule compactions out that reads trigger: an error if not.
absl::Status VerifyReadsTriggerNothing(const rocksdb::Options& options);

}  // namespace blockreplay::storage
