#pragma once

#include <string>

#include "absl/status/status.h"
#include "rocksdb/status.h"

namespace blockreplay::storage {

// Translates RocksDB's verdict on an operation on the database in directory `path`; `doing` says
// what was being done, as in "open" or "write to". Codes as in rocksdb_engine.h.
absl::Status FromRocksDb(const rocksdb::Status& status, const std::string& doing,
                         const std::string& path);

}  // namespace blockreplay::storage
