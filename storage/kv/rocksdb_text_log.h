#pragma once

#include <cstdarg>
#include <cstddef>
#include <mutex>
#include <string>

#include "rocksdb/env.h"

namespace blockreplay::storage {

// RocksDB's text log, in the file LOG of the database's directory, as RocksDB's own would be. Its
// own aborts the process when an assertion-enabled build (Debian's is one) logs to a full disk;
// this one loses the line. Appends over several runs; beyond 16 MiB the file becomes LOG.old.
class RocksDbTextLog final : public rocksdb::Logger {
 public:
  explicit RocksDbTextLog(const std::string& directory);
  ~RocksDbTextLog() override;

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
  size_t GetLogFileSize() const override;

 private:
  void Open();

  const std::string path_;
  mutable std::mutex mutex_;
  int fd_ = -1;
  size_t size_ = 0;
};

// Forgets everything.
class RocksDbNoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

}  // namespace blockreplay::storage
