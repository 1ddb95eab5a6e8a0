#pragma once

// What rocksdb_engine_test.cc and its child process share.

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {

inline std::string Key(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%012llu", static_cast<unsigned long long>(i));
  return key;
}

// Batch number n: a counter and ten keys that say n, old ones deleted.
inline WriteBatch NumberedBatch(uint64_t n) {
  WriteBatch batch;
  batch.Put("counter", std::to_string(n));
  for (uint64_t i = 0; i < 10; ++i) {
    batch.Put("live/" + std::to_string(i), std::to_string(n));
    batch.Put("log/" + Key(n * 10 + i), std::string(200, static_cast<char>('a' + n % 26)));
    if (n > 50) batch.Delete("log/" + Key((n - 50) * 10 + i));
  }
  return batch;
}

inline RocksDbOptions SmallOptions() {
  RocksDbOptions options;
  options.memory_budget_bytes = 4 << 20;
  options.memtable_bytes = 256 << 10;  // flushes and compactions all the time
  return options;
}

// Writes numbered batches with some ballast until one fails. `*written`: the last one that did not.
inline absl::Status WriteUntilError(const std::string& path, uint64_t* written) {
  auto engine = RocksDbEngine::Open(path, SmallOptions());
  if (!engine.ok()) return engine.status();
  for (uint64_t n = 1; n < 100'000; ++n) {
    WriteBatch batch = NumberedBatch(n);
    batch.Put("bulk/" + Key(n), std::string(4000, 'x'));
    const absl::Status status = (*engine)->Write(batch, Durability::kProcessCrash);
    if (status.ok()) {
      *written = n;
      continue;
    }
    // It stays an error, and reads go on.
    if ((*engine)->Write(NumberedBatch(1), Durability::kProcessCrash).ok()) {
      return absl::InternalError("a write after the failed one succeeded");
    }
    std::string value;
    if (!(*engine)->Get("counter", &value).ok() || value != std::to_string(*written)) {
      return absl::InternalError("the last good batch cannot be read");
    }
    return status;
  }
  return absl::InternalError("the disk does not fill");
}

}  // namespace blockreplay::storage
