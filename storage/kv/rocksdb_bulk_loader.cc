#include "storage/kv/rocksdb_bulk_loader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "storage/kv/rocksdb_status.h"

namespace blockreplay::storage {
namespace {

std::string LoadDirectory(const std::string& path) { return path + "/bulk-load"; }

class RocksDbBulkLoader final : public BulkLoader {
 public:
  RocksDbBulkLoader(rocksdb::DB* db, std::string path, size_t memory_bytes)
      : db_(db), path_(std::move(path)), memory_bytes_(memory_bytes) {}
  ~RocksDbBulkLoader() override { RemoveBulkLoadLeftovers(path_); }

  absl::Status Add(const WriteBatch& batch) override {
    bool only_puts = true;
    batch.ForEach([&](WriteBatch::Op op, std::string_view key, std::string_view value) {
      only_puts &= op == WriteBatch::Op::kPut;
      entries_.push_back(
          {bytes_.size(), static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
      bytes_.append(key);
      bytes_.append(value);
    });
    if (!only_puts) {
      return absl::InvalidArgumentError(
          absl::StrCat("bulk load into database ", path_, ": a batch deletes; only puts load"));
    }
    if (bytes_.size() + entries_.size() * sizeof(Entry) < memory_bytes_) return absl::OkStatus();
    return WriteRun();
  }

  absl::Status Finish() override {
    if (absl::Status status = WriteRun(); !status.ok()) return status;
    if (files_.empty()) return absl::OkStatus();
    rocksdb::IngestExternalFileOptions options;
    options.move_files = true;
    options.write_global_seqno = false;  // read by RocksDB from its manifest since 5.16
    return Translate(db_->IngestExternalFile(files_, options));
  }

 private:
  struct Entry {
    size_t offset;
    uint32_t key_size;
    uint32_t value_size;
  };

  absl::Status Translate(const rocksdb::Status& status) const {
    return FromRocksDb(status, "bulk load into", path_);
  }
  std::string_view Key(const Entry& entry) const {
    return std::string_view(bytes_).substr(entry.offset, entry.key_size);
  }

  // Sorts what is collected into tables that do not overlap.
  absl::Status WriteRun() {
    if (entries_.empty()) return absl::OkStatus();
    // Stable: of equal keys the last one added comes last.
    std::stable_sort(entries_.begin(), entries_.end(),
                     [this](const Entry& a, const Entry& b) { return Key(a) < Key(b); });
    std::error_code error;
    std::filesystem::create_directories(LoadDirectory(path_), error);  // the writer will tell
    const rocksdb::Options options = db_->GetOptions();
    std::unique_ptr<rocksdb::SstFileWriter> writer;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const std::string_view key = Key(entries_[i]);
      if (i + 1 < entries_.size() && key == Key(entries_[i + 1])) continue;
      if (writer == nullptr) {
        files_.push_back(absl::StrCat(LoadDirectory(path_), "/", files_.size() + 1, ".sst"));
        writer = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options);
        const rocksdb::Status status = writer->Open(files_.back());
        if (!status.ok()) return Translate(status);
      }
      const Entry& entry = entries_[i];
      const rocksdb::Status status =
          writer->Put({key.data(), key.size()}, {key.data() + entry.key_size, entry.value_size});
      if (!status.ok()) return Translate(status);
      if (writer->FileSize() >= options.target_file_size_base || i + 1 == entries_.size()) {
        const rocksdb::Status finished = writer->Finish();
        if (!finished.ok()) return Translate(finished);
        writer.reset();
      }
    }
    entries_.clear();
    bytes_.clear();
    return absl::OkStatus();
  }

  rocksdb::DB* const db_;
  const std::string path_;
  const size_t memory_bytes_;
  // Keys, each followed by its value.
  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<BulkLoader> MakeRocksDbBulkLoader(rocksdb::DB* db, const std::string& path,
                                                  size_t memory_bytes) {
  return std::make_unique<RocksDbBulkLoader>(db, path, memory_bytes);
}

void RemoveBulkLoadLeftovers(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(LoadDirectory(path), ignored);
}

}  // namespace blockreplay::storage
