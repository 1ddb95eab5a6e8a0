#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "storage/kv/rocksdb_engine.h"

namespace blockreplay::storage {

// Writes tables beside the database, in `path`/bulk-load, and ingests them in Finish.
std::unique_ptr<BulkLoader> MakeRocksDbBulkLoader(rocksdb::DB* db, const std::string& path,
                                                  size_t memory_bytes);

// Removes what a load that was killed has left.
void RemoveBulkLoadLeftovers(const std::string& path);

}  // namespace blockreplay::storage
