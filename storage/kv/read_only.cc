#include "storage/kv/read_only.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "storage/kv/directory_lock.h"
#include "storage/kv/leveldb_source.h"
#include "storage/kv/rocksdb_engine.h"

namespace blockreplay::storage {
namespace {

namespace fs = std::filesystem;

enum class Kind { kNone, kLevelDb, kRocksDb, kPebble };

// PebbleDB and RocksDB both have files OPTIONS-<number>, which name their writer at the top.
bool IsWrittenByPebble(const fs::path& options) {
  std::ifstream file(options);
  std::string text(512, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return absl::StrContains(text, "pebble_version");
}

Kind KindOf(const std::string& path) {
  Kind kind = Kind::kNone;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (absl::StartsWith(name, "marker.manifest.")) return Kind::kPebble;
    if (absl::StartsWith(name, "OPTIONS-")) {
      if (IsWrittenByPebble(it->path())) return Kind::kPebble;
      kind = Kind::kRocksDb;
    } else if (name == "CURRENT" && kind == Kind::kNone) {
      kind = Kind::kLevelDb;
    }
  }
  return kind;
}

class LockedRocksDb final : public Reader {
 public:
  LockedRocksDb(DirectoryLock lock, std::unique_ptr<RocksDbEngine> engine)
      : lock_(std::move(lock)), engine_(std::move(engine)) {}

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override {
    return engine_->Get(key, value);
  }
  absl::StatusOr<bool> Has(std::string_view key) const override { return engine_->Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return engine_->NewIterator(range, direction);
  }

 private:
  const DirectoryLock lock_;
  const std::unique_ptr<RocksDbEngine> engine_;
};

absl::StatusOr<std::unique_ptr<Reader>> OpenRocksDb(const std::string& path,
                                                    const ReadOnlyOptions& options) {
  absl::StatusOr<DirectoryLock> lock = DirectoryLock::TakeShared(path);
  if (!lock.ok()) return lock.status();
  RocksDbOptions rocksdb;
  rocksdb.create_if_missing = false;
  rocksdb.read_only = true;
  rocksdb.memory_budget_bytes = options.block_cache_bytes;
  absl::StatusOr<std::unique_ptr<RocksDbEngine>> engine = RocksDbEngine::Open(path, rocksdb);
  if (!engine.ok()) return engine.status();
  return std::make_unique<LockedRocksDb>(*std::move(lock), *std::move(engine));
}

}  // namespace

bool LooksLikeDatabase(const std::string& path) { return KindOf(path) != Kind::kNone; }

absl::StatusOr<std::unique_ptr<Reader>> OpenReadOnly(const std::string& path,
                                                     const ReadOnlyOptions& options) {
  switch (KindOf(path)) {
    case Kind::kPebble:
      return absl::UnimplementedError(
          absl::StrCat(path,
                       " is a PebbleDB database, which only Go programs can read: copy the node's "
                       "databases with "
                       "scripts/import/convert-pebble.sh (docs/record-your-node.md)"));
    case Kind::kRocksDb:
      return OpenRocksDb(path, options);
    case Kind::kLevelDb:
    case Kind::kNone:
      break;
  }
  LeveldbSourceOptions leveldb;
  leveldb.allow_in_use = options.allow_in_use;
  leveldb.temp_dir = options.temp_dir;
  leveldb.block_cache_bytes = options.block_cache_bytes;
  leveldb.verify_checksums = options.verify_checksums;
  absl::StatusOr<std::unique_ptr<LeveldbSource>> source = LeveldbSource::Open(path, leveldb);
  if (!source.ok()) return source.status();
  return *std::move(source);
}

}  // namespace blockreplay::storage
