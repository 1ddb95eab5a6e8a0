#include "storage/kv/leveldb_source.h"

#include <fcntl.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "storage/kv/directory_lock.h"

#if defined(__SANITIZE_ADDRESS__)
#define BLOCKREPLAY_LEAKS_ARE_CHECKED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCKREPLAY_LEAKS_ARE_CHECKED
#endif
#endif
#ifdef BLOCKREPLAY_LEAKS_ARE_CHECKED
// LevelDB 1.23 leaks some 100 bytes for a table that a manifest names twice, and goleveldb writes
// such manifests.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libleveldb.so\n"; }
#endif

namespace blockreplay::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCopyBytes = size_t{1} << 17;

leveldb::Slice ToSlice(std::string_view view) { return {view.data(), view.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

absl::Status ErrnoStatus(int error, const std::string& message) {
  const std::string text = absl::StrCat(message, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(absl::StrCat(text, "; free space there"));
    default:
      return absl::UnavailableError(text);
  }
}

absl::Status FromLevelDb(const leveldb::Status& status, const std::string& doing,
                         const std::string& path) {
  if (status.ok()) return absl::OkStatus();
  const std::string text =
      absl::StrCat("cannot ", doing, " LevelDB database ", path, ": ", status.ToString());
  if (status.IsCorruption()) {
    return absl::DataLossError(absl::StrCat(text, "; repair it with its node or use a backup"));
  }
  if (status.IsInvalidArgument()) return absl::FailedPreconditionError(text);
  if (absl::StrContains(text, "No space left on device")) {
    return absl::ResourceExhaustedError(
        absl::StrCat(text, "; free space in the directory for temporary files"));
  }
  return absl::UnavailableError(text);
}

bool IsTable(const std::string& name) {
  return absl::EndsWith(name, ".ldb") || absl::EndsWith(name, ".sst");
}

// What LevelDB sees: the files of the private directory and, for the tables in `borrowed`, those of
// the source. All writes go to the private directory.
class PrivateEnv final : public leveldb::EnvWrapper {
 public:
  PrivateEnv(std::string private_dir, std::string source_dir, std::set<std::string> borrowed)
      : EnvWrapper(leveldb::Env::Default()),
        private_dir_(std::move(private_dir)),
        source_dir_(std::move(source_dir)),
        borrowed_(std::move(borrowed)) {}

  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** result) override {
    return target()->NewSequentialFile(Resolve(name), result);
  }
  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** result) override {
    return target()->NewRandomAccessFile(Resolve(name), result);
  }
  leveldb::Status NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** result) override {
    // Opening for writing truncates. The name may be a hard link to a table of the source that no
    // manifest knows (its node was killed), whose number LevelDB takes to be free.
    unlink(name.c_str());
    return target()->NewWritableFile(name, result);
  }
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** result) override {
    return NewWritableFile(name, result);
  }
  bool FileExists(const std::string& name) override { return target()->FileExists(Resolve(name)); }
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override {
    return target()->GetFileSize(Resolve(name), size);
  }
  leveldb::Status GetChildren(const std::string& dir, std::vector<std::string>* result) override {
    const leveldb::Status status = target()->GetChildren(dir, result);
    if (status.ok() && dir == private_dir_) {
      const std::set<std::string> own(result->begin(), result->end());
      for (const std::string& name : borrowed_) {
        if (!own.contains(name)) result->push_back(name);
      }
    }
    return status;
  }
  leveldb::Status RemoveFile(const std::string& name) override {
    if (Resolve(name) != name) return leveldb::Status::OK();  // not ours
    return target()->RemoveFile(name);
  }

  // Compactions are the only thing that LevelDB schedules. A reader wants none, but the destructor
  // of the database waits for the one it asked for: so keep it until then, when it finds that
  // the database is being closed and returns.
  void Schedule(void (*function)(void*), void* argument) override {
    const std::lock_guard lock(mutex_);
    scheduled_.emplace_back(function, argument);
    changed_.notify_one();
  }
  // Destroys the database.
  void Close(std::unique_ptr<leveldb::DB> db) {
    std::thread background([this] {
      std::unique_lock lock(mutex_);
      for (;;) {
        changed_.wait(lock, [this] { return closed_ || !scheduled_.empty(); });
        if (scheduled_.empty()) return;
        const auto [function, argument] = scheduled_.front();
        scheduled_.pop_front();
        lock.unlock();
        function(argument);
        lock.lock();
      }
    });
    db.reset();
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      changed_.notify_one();
    }
    background.join();
  }

 private:
  std::string Resolve(const std::string& name) const {
    const size_t slash = name.rfind('/');
    if (slash == std::string::npos) return name;
    const std::string base = name.substr(slash + 1);
    if (!borrowed_.contains(base) || target()->FileExists(name)) return name;
    return absl::StrCat(source_dir_, "/", base);
  }

  const std::string private_dir_;
  const std::string source_dir_;
  const std::set<std::string> borrowed_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<void (*)(void*), void*>> scheduled_;
  bool closed_ = false;
};

class LeveldbIterator final : public Iterator {
 public:
  LeveldbIterator(leveldb::DB* db, const std::string& path, bool verify_checksums,
                  const KeyRange& range, Direction direction)
      : path_(path), range_(range), direction_(direction) {
    leveldb::ReadOptions options;
    options.verify_checksums = verify_checksums;
    it_.reset(db->NewIterator(options));
    if (range_.end && *range_.end <= range_.start) return;
    if (direction_ == Direction::kForward) {
      it_->Seek(ToSlice(range_.start));
    } else if (range_.end) {
      it_->Seek(ToSlice(*range_.end));
      if (it_->Valid()) {
        it_->Prev();
      } else if (it_->status().ok()) {
        it_->SeekToLast();
      }
    } else {
      it_->SeekToLast();
    }
    CheckBound();
  }

  bool Valid() const override { return valid_; }
  void Next() override {
    if (direction_ == Direction::kForward) {
      it_->Next();
    } else {
      it_->Prev();
    }
    CheckBound();
  }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override { return ToView(it_->value()); }
  absl::Status status() const override { return FromLevelDb(it_->status(), "iterate over", path_); }

 private:
  void CheckBound() { valid_ = it_->Valid() && range_.Contains(key()); }

  const std::string& path_;
  const KeyRange range_;
  const Direction direction_;
  std::unique_ptr<leveldb::Iterator> it_;
  bool valid_ = false;
};

absl::StatusOr<std::set<std::string>> ListDirectory(const std::string& path) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.insert(it->path().filename().string());
  }
  if (error) {
    return ErrnoStatus(error.value(), absl::StrCat("cannot open LevelDB database ", path));
  }
  return names;
}

// The manifest's name in the file CURRENT.
absl::StatusOr<std::string> ReadCurrent(const std::string& path) {
  std::ifstream file(path + "/CURRENT");
  std::string name;
  char text[64];
  file.read(text, sizeof(text));
  name.assign(text, static_cast<size_t>(file.gcount()));
  constexpr std::string_view kPrefix = "MANIFEST-";
  const bool ends_line = !name.empty() && name.back() == '\n';
  if (ends_line) name.pop_back();
  if (!ends_line || !name.starts_with(kPrefix) || name.size() == kPrefix.size() ||
      name.find_first_not_of("0123456789", kPrefix.size()) != std::string::npos) {
    return absl::DataLossError(absl::StrCat("cannot open LevelDB database ", path,
                                            ": its file CURRENT does not name a manifest; repair "
                                            "it with its node or use a backup"));
  }
  return name;
}

// Not with std::filesystem::copy_file, which calls a full disk an input/output error.
absl::Status CopyFile(const std::string& from, const std::string& to) {
  const auto failed = [&](int error) {
    return ErrnoStatus(error, absl::StrCat("cannot copy ", from, " to ", to));
  };
  const int in = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return failed(errno);
  const absl::Cleanup close_in = [in] { close(in); };
  const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return failed(errno);
  absl::Cleanup close_out = [out] { close(out); };
  std::vector<char> buffer(kCopyBytes);
  for (;;) {
    const ssize_t count = read(in, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(errno);
    if (count == 0) break;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written = write(out, buffer.data() + done, static_cast<size_t>(count - done));
      if (written < 0 && errno != EINTR) return failed(errno);
      if (written > 0) done += written;
    }
  }
  // Some file systems tell only here that there was no room.
  std::move(close_out).Cancel();
  return close(out) == 0 ? absl::OkStatus() : failed(errno);
}

// Gives the private directory a name of its own for a table that its owner may delete.
absl::Status LinkOrCopyTable(const std::string& from, const std::string& to) {
  std::error_code error;
  if (fs::exists(to, error)) return absl::OkStatus();
  fs::create_hard_link(from, to, error);
  if (!error) return absl::OkStatus();
  const absl::Status status = CopyFile(from, to);
  // Deleted in the meantime: no table of a consistent state, or the caller's check finds out.
  if (absl::IsNotFound(status)) return absl::OkStatus();
  return status;
}

absl::Status RefuseOtherDatabases(const std::string& path, const std::set<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "IDENTITY" || absl::StartsWith(name, "OPTIONS-")) {
      return absl::FailedPreconditionError(absl::StrCat("cannot open LevelDB database ", path,
                                                        ": it was written by RocksDB (has ", name,
                                                        "); open it as such"));
    }
  }
  if (!names.contains("CURRENT")) {
    return absl::NotFoundError(absl::StrCat("cannot open LevelDB database ", path,
                                            ": there is none (no file CURRENT); check the path"));
  }
  return absl::OkStatus();
}

absl::Status CopyState(const std::string& source, const std::string& manifest,
                       const std::set<std::string>& names, const std::string& to) {
  for (const std::string& name : names) {
    if (name != "CURRENT" && name != manifest && !absl::EndsWith(name, ".log")) continue;
    const absl::Status status =
        CopyFile(absl::StrCat(source, "/", name), absl::StrCat(to, "/", name));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// As CopyState with the tables, from under a process that goes on writing. All journals and tables
// of a state are there as long as the manifest has not grown or been replaced since it was read.
absl::Status CopyLiveState(const std::string& source, const std::string& to) {
  constexpr int kAttempts = 5;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // Tables that were linked stay; the rest is of another state.
    const absl::StatusOr<std::set<std::string>> stale = ListDirectory(to);
    if (!stale.ok()) return stale.status();
    for (const std::string& name : *stale) {
      if (!IsTable(name)) unlink(absl::StrCat(to, "/", name).c_str());
    }
    const absl::StatusOr<std::string> manifest = ReadCurrent(source);
    if (!manifest.ok()) return manifest.status();
    std::error_code gone;
    const auto size_before = fs::file_size(absl::StrCat(source, "/", *manifest), gone);
    if (gone) continue;
    const absl::StatusOr<std::set<std::string>> names = ListDirectory(source);
    if (!names.ok()) return names.status();
    absl::Status status = CopyState(source, *manifest, *names, to);
    for (const std::string& name : *names) {
      if (!status.ok()) break;
      if (!IsTable(name)) continue;
      status = LinkOrCopyTable(absl::StrCat(source, "/", name), absl::StrCat(to, "/", name));
    }
    if (absl::IsNotFound(status)) continue;  // a journal was deleted
    if (!status.ok()) return status;
    const absl::StatusOr<std::string> manifest_after = ReadCurrent(source);
    const auto size_after = fs::file_size(absl::StrCat(source, "/", *manifest), gone);
    if (!gone && manifest_after.ok() && *manifest_after == *manifest && size_after == size_before) {
      return absl::OkStatus();
    }
  }
  return absl::AbortedError(
      absl::StrCat("cannot copy LevelDB database ", source,
                   ": the process that has it open writes too fast; try again, or stop it"));
}

}  // namespace

class LeveldbSource::Impl {
 public:
  ~Impl() {
    if (db != nullptr) env->Close(std::move(db));
    if (!private_dir.empty()) {
      std::error_code ignored;
      fs::remove_all(private_dir, ignored);
    }
  }

  std::string path;
  std::string private_dir;
  bool verify_checksums = true;
  DirectoryLock lock;
  std::unique_ptr<PrivateEnv> env;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<leveldb::DB> db;
};

LeveldbSource::LeveldbSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LeveldbSource::~LeveldbSource() = default;

absl::StatusOr<std::unique_ptr<LeveldbSource>> LeveldbSource::Open(
    const std::string& path, const LeveldbSourceOptions& options) {
  absl::StatusOr<std::set<std::string>> names = ListDirectory(path);
  if (!names.ok()) return names.status();
  if (absl::Status status = RefuseOtherDatabases(path, *names); !status.ok()) return status;

  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->verify_checksums = options.verify_checksums;
  if (!options.allow_in_use) {
    absl::StatusOr<DirectoryLock> lock = DirectoryLock::TakeShared(path);
    if (!lock.ok()) return lock.status();
    impl->lock = std::move(*lock);
  }

  std::error_code error;
  const fs::path temp =
      options.temp_dir.empty() ? fs::temp_directory_path(error) : fs::path(options.temp_dir);
  std::string dir = (temp / "blockreplay-leveldb-XXXXXX").string();
  if (error || mkdtemp(dir.data()) == nullptr) {
    return ErrnoStatus(error ? error.value() : errno,
                       absl::StrCat("cannot make a temporary directory ", dir));
  }
  impl->private_dir = dir;

  std::set<std::string> borrowed;
  if (options.allow_in_use) {
    if (absl::Status status = CopyLiveState(path, dir); !status.ok()) return status;
  } else {
    names = ListDirectory(path);  // again, now that it is locked
    if (!names.ok()) return names.status();
    const absl::StatusOr<std::string> manifest = ReadCurrent(path);
    if (!manifest.ok()) return manifest.status();
    if (!names->contains(*manifest)) {
      return absl::DataLossError(absl::StrCat("cannot open LevelDB database ", path, ": ",
                                              *manifest,
                                              ", which its file CURRENT names, is missing; repair "
                                              "it with its node or use a backup"));
    }
    if (absl::Status status = CopyState(path, *manifest, *names, dir); !status.ok()) return status;
    for (const std::string& name : *names) {
      if (IsTable(name)) borrowed.insert(name);
    }
  }

  impl->env = std::make_unique<PrivateEnv>(dir, path, std::move(borrowed));
  impl->cache.reset(leveldb::NewLRUCache(options.block_cache_bytes));
  leveldb::Options leveldb_options;
  leveldb_options.env = impl->env.get();
  leveldb_options.block_cache = impl->cache.get();
  leveldb_options.create_if_missing = false;
  // A record that is not whole ends the journal, as after a kill; a record with a wrong checksum is
  // an error, where the default is to drop it silently.
  leveldb_options.paranoid_checks = true;
  leveldb::DB* db = nullptr;
  const leveldb::Status status = leveldb::DB::Open(leveldb_options, dir, &db);
  if (!status.ok()) return FromLevelDb(status, "open", path);
  impl->db.reset(db);
  return std::unique_ptr<LeveldbSource>(new LeveldbSource(std::move(impl)));
}

absl::StatusOr<bool> LeveldbSource::Get(std::string_view key, std::string* value) const {
  leveldb::ReadOptions options;
  options.verify_checksums = impl_->verify_checksums;
  const leveldb::Status status = impl_->db->Get(options, ToSlice(key), value);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return FromLevelDb(status, "read from", impl_->path);
  return true;
}

absl::StatusOr<bool> LeveldbSource::Has(std::string_view key) const {
  std::string value;
  return Get(key, &value);
}

std::unique_ptr<Iterator> LeveldbSource::NewIterator(const KeyRange& range,
                                                     Direction direction) const {
  return std::make_unique<LeveldbIterator>(impl_->db.get(), impl_->path, impl_->verify_checksums,
                                           range, direction);
}

const std::string& LeveldbSource::path() const { return impl_->path; }

}  // namespace blockreplay::storage
