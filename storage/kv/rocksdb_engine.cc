#include "storage/kv/rocksdb_engine.h"

#include <ctime>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#include "storage/kv/rocksdb_bulk_loader.h"
#include "storage/kv/rocksdb_settings.h"
#include "storage/kv/rocksdb_status.h"
#include "storage/kv/rocksdb_text_log.h"
#include "storage/kv/seek_compaction.h"

namespace blockreplay::storage {
namespace {

rocksdb::Slice ToSlice(std::string_view view) { return {view.data(), view.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

uint64_t ThreadCpuMicros() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

std::string_view CompactionReasonName(rocksdb::CompactionReason reason) {
  switch (reason) {
    case rocksdb::CompactionReason::kLevelL0FilesNum:
      return "level 0 file count";
    case rocksdb::CompactionReason::kLevelMaxLevelSize:
      return "level size";
    case rocksdb::CompactionReason::kManualCompaction:
      return "manual";
    case rocksdb::CompactionReason::kFilesMarkedForCompaction:
      return "marked files";
    case rocksdb::CompactionReason::kBottommostFiles:
      return "bottommost files";
    case rocksdb::CompactionReason::kExternalSstIngestion:
      return "ingestion";
    default:
      return "other";
  }
}

std::string_view FlushReasonName(rocksdb::FlushReason reason) {
  switch (reason) {
    case rocksdb::FlushReason::kShutDown:
      return "shutdown";
    case rocksdb::FlushReason::kExternalFileIngestion:
      return "ingestion";
    case rocksdb::FlushReason::kManualCompaction:
      return "manual compaction";
    case rocksdb::FlushReason::kManualFlush:
      return "manual";
    case rocksdb::FlushReason::kGetLiveFiles:
      return "checkpoint";
    case rocksdb::FlushReason::kWriteBufferManager:
      return "memory budget";
    case rocksdb::FlushReason::kWriteBufferFull:
      return "memtable full";
    case rocksdb::FlushReason::kWalFull:
      return "write-ahead log full";
    default:
      return "other";
  }
}

// Keeps the counters that RocksDB's statistics do not have, and passes beginnings on.
class JobListener final : public rocksdb::EventListener {
 public:
  explicit JobListener(std::vector<std::function<void(const BackgroundJob&)>> callbacks)
      : callbacks_(std::move(callbacks)) {}

  void OnFlushBegin(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& info) override {
    flush_start_micros_ = ThreadCpuMicros();
    Notify({BackgroundJob::Kind::kFlush, FlushReasonName(info.flush_reason)});
  }
  // On the thread of OnFlushBegin.
  void OnFlushCompleted(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*info*/) override {
    flush_cpu_micros.fetch_add(ThreadCpuMicros() - flush_start_micros_, std::memory_order_relaxed);
    table_changes.fetch_add(1, std::memory_order_release);
  }
  void OnCompactionBegin(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& info) override {
#if BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS
    if (info.compaction_reason == rocksdb::CompactionReason::kReadTriggered) {
      read_triggered.fetch_add(1, std::memory_order_relaxed);
    }
#endif
    Notify({BackgroundJob::Kind::kCompaction, CompactionReasonName(info.compaction_reason)});
  }
  void OnCompactionCompleted(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& info) override {
    compaction_cpu_micros.fetch_add(info.stats.cpu_micros, std::memory_order_relaxed);
    table_changes.fetch_add(1, std::memory_order_release);
  }
  void OnExternalFileIngested(rocksdb::DB* /*db*/,
                              const rocksdb::ExternalFileIngestionInfo& /*info*/) override {
    table_changes.fetch_add(1, std::memory_order_release);
  }
  void OnStallConditionsChanged(const rocksdb::WriteStallInfo& info) override {
    if (info.condition.prev == rocksdb::WriteStallCondition::kNormal) {
      stalls.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::atomic<uint64_t> flush_cpu_micros{0};
  std::atomic<uint64_t> compaction_cpu_micros{0};
  std::atomic<uint64_t> stalls{0};
  std::atomic<uint64_t> table_changes{0};
  std::atomic<uint64_t> read_triggered{0};

 private:
  void Notify(const BackgroundJob& job) {
    for (const auto& callback : callbacks_) callback(job);
  }

  const std::vector<std::function<void(const BackgroundJob&)>> callbacks_;
  static thread_local uint64_t flush_start_micros_;
};

thread_local uint64_t JobListener::flush_start_micros_ = 0;

class RocksDbIterator final : public Iterator {
 public:
  // `seek` may be null.
  RocksDbIterator(rocksdb::DB* db, SeekCompactor* seek, const std::string& path,
                  const KeyRange& range, Direction direction)
      : path_(path), start_(range.start), end_(range.end.value_or("")), direction_(direction) {
    if (range.end && end_ <= start_) return;  // empty; RocksDB wants ordered bounds
    rocksdb::ReadOptions options;
    // The iterator keeps pointers to the bounds.
    lower_ = ToSlice(start_);
    upper_ = ToSlice(end_);
    if (!start_.empty()) options.iterate_lower_bound = &lower_;
    if (range.end) options.iterate_upper_bound = &upper_;
    it_.reset(db->NewIterator(options));
    if (direction_ == Direction::kForward) {
      it_->Seek(lower_);
    } else {
      it_->SeekToLast();  // to the last key below the upper bound
    }
    if (seek != nullptr) sampler_.emplace(seek);
    Sample();
  }

  bool Valid() const override { return it_ != nullptr && it_->Valid(); }
  void Next() override {
    if (direction_ == Direction::kForward) {
      it_->Next();
    } else {
      it_->Prev();
    }
    Sample();
  }
  std::string_view key() const override { return ToView(it_->key()); }
  std::string_view value() const override { return ToView(it_->value()); }
  absl::Status status() const override {
    if (it_ == nullptr) return absl::OkStatus();
    return FromRocksDb(it_->status(), "iterate over", path_);
  }

 private:
  void Sample() {
    if (sampler_ && it_->Valid()) sampler_->OnElement(it_->key(), it_->value().size());
  }

  const std::string& path_;
  const std::string start_;
  const std::string end_;
  const Direction direction_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> it_;
  std::optional<SeekCompactor::Sampler> sampler_;
};

// RocksDB takes every directory with a file CURRENT for its own, and one without CURRENT for an
// empty one: LevelDB's would abort the process, and tables of a damaged one would be deleted.
absl::Status CheckDirectory(const std::string& path, const RocksDbOptions& options) {
  std::error_code error;
  bool current = false;
  bool rocksdb_file = false;
  bool data = false;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name == "CURRENT") current = true;
    if (name == "IDENTITY" || absl::StartsWith(name, "OPTIONS-")) rocksdb_file = true;
    if (absl::StartsWith(name, "MANIFEST-") || absl::EndsWith(name, ".sst") ||
        absl::EndsWith(name, ".ldb")) {
      data = true;
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    const std::string message = absl::StrCat("cannot open database ", path, ": ", error.message());
    if (error == std::errc::permission_denied) {
      return absl::PermissionDeniedError(
          absl::StrCat(message, "; make the directory readable for this user"));
    }
    if (error == std::errc::not_a_directory) {
      return absl::FailedPreconditionError(absl::StrCat(message, "; name a directory"));
    }
    return absl::UnavailableError(message);
  }
  if (current && !rocksdb_file) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot open database ", path,
                     ": not written by RocksDB (no IDENTITY or OPTIONS file; a LevelDB directory "
                     "looks like this); import it instead"));
  }
  if (!current && data) {
    return absl::DataLossError(
        absl::StrCat("cannot open database ", path,
                     ": its file CURRENT is missing but data files are there; restore the file or "
                     "use another directory"));
  }
  if (!current && (options.read_only || !options.create_if_missing)) {
    return absl::NotFoundError(
        absl::StrCat("cannot open database ", path, ": there is none; check the path"));
  }
  if (current && options.error_if_exists && !options.read_only) {
    return absl::AlreadyExistsError(absl::StrCat(
        "cannot create database ", path, ": it exists; use another directory or resume it"));
  }
  return absl::OkStatus();
}

}  // namespace

class RocksDbEngine::Impl {
 public:
  std::string path;
  std::shared_ptr<JobListener> listener;
  std::shared_ptr<rocksdb::Statistics> statistics;
  std::shared_ptr<rocksdb::Cache> cache;
  std::unique_ptr<rocksdb::DB> db;
  std::unique_ptr<SeekCompactor> seek;  // null when off

  rocksdb::Status Get(std::string_view key, rocksdb::PinnableSlice* value) const {
    if (seek != nullptr) return seek->Get(ToSlice(key), value);
    return db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), ToSlice(key), value);
  }

  uint64_t IntProperty(const std::string& name) const {
    uint64_t value = 0;
    db->GetIntProperty(name, &value);
    return value;
  }

  // Live write-ahead logs.
  uint64_t WalBytes() const {
    uint64_t bytes = 0;
    std::error_code error;
    for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() != ".log") continue;
      std::error_code gone;
      const auto size = it->file_size(gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }
};

RocksDbEngine::RocksDbEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RocksDbEngine::~RocksDbEngine() = default;

absl::StatusOr<std::unique_ptr<RocksDbEngine>> RocksDbEngine::Open(const std::string& path,
                                                                   const RocksDbOptions& options) {
  if (absl::Status status = CheckDirectory(path, options); !status.ok()) return status;
  absl::StatusOr<rocksdb::Options> settings = MakeRocksDbSettings(options);
  if (!settings.ok()) return settings.status();

  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->listener = std::make_shared<JobListener>(options.background_job_listeners);
  impl->statistics = rocksdb::CreateDBStatistics();
  // Counters only: histograms and timers would read the clock on every operation.
  impl->statistics->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  impl->cache = settings->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache;
  settings->listeners.push_back(impl->listener);
  settings->statistics = impl->statistics;

  rocksdb::DB* db = nullptr;
  rocksdb::Status status;
  if (options.read_only) {
    settings->info_log = std::make_shared<RocksDbNoLog>();
    status = rocksdb::DB::OpenForReadOnly(*settings, path, &db);
  } else {
    std::error_code error;
    std::filesystem::create_directories(path, error);  // RocksDB's error is the clearer one
    settings->info_log = std::make_shared<RocksDbTextLog>(path);
    status = rocksdb::DB::Open(*settings, path, &db);
    if (status.ok()) RemoveBulkLoadLeftovers(path);  // the lock is ours now
  }
  if (!status.ok()) return FromRocksDb(status, "open", path);
  impl->db.reset(db);
  if (absl::Status off = VerifyReadsTriggerNothing(db->GetOptions()); !off.ok()) return off;
  if (options.seek_compaction && !options.read_only) {
    impl->seek = std::make_unique<SeekCompactor>(db, &impl->listener->table_changes);
  }
  return std::unique_ptr<RocksDbEngine>(new RocksDbEngine(std::move(impl)));
}

absl::StatusOr<bool> RocksDbEngine::Get(std::string_view key, std::string* value) const {
  // A pinned block is copied once, into *value; a memtable entry lands there directly.
  rocksdb::PinnableSlice slice(value);
  const rocksdb::Status status = impl_->Get(key, &slice);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return FromRocksDb(status, "read from", impl_->path);
  if (slice.IsPinned()) value->assign(slice.data(), slice.size());
  return true;
}

absl::StatusOr<bool> RocksDbEngine::Has(std::string_view key) const {
  rocksdb::PinnableSlice slice;
  const rocksdb::Status status = impl_->Get(key, &slice);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return FromRocksDb(status, "read from", impl_->path);
  return true;
}

std::unique_ptr<Iterator> RocksDbEngine::NewIterator(const KeyRange& range,
                                                     Direction direction) const {
  return std::make_unique<RocksDbIterator>(impl_->db.get(), impl_->seek.get(), impl_->path, range,
                                           direction);
}

absl::Status RocksDbEngine::Set(std::string_view key, std::string_view value) {
  return FromRocksDb(impl_->db->Put(rocksdb::WriteOptions(), ToSlice(key), ToSlice(value)),
                     "write to", impl_->path);
}

absl::Status RocksDbEngine::Delete(std::string_view key) {
  return FromRocksDb(impl_->db->Delete(rocksdb::WriteOptions(), ToSlice(key)), "write to",
                     impl_->path);
}

absl::Status RocksDbEngine::Write(const WriteBatch& batch, Durability durability) {
  rocksdb::WriteBatch rocks_batch(batch.byte_size());
  rocksdb::Status status;
  batch.ForEach([&](WriteBatch::Op op, std::string_view key, std::string_view value) {
    if (!status.ok()) return;
    switch (op) {
      case WriteBatch::Op::kPut:
        status = rocks_batch.Put(ToSlice(key), ToSlice(value));
        break;
      case WriteBatch::Op::kDelete:
        status = rocks_batch.Delete(ToSlice(key));
        break;
      case WriteBatch::Op::kDeleteRange:
        // RocksDB calls an inverted range an error; to us it is empty.
        if (key < value) status = rocks_batch.DeleteRange(ToSlice(key), ToSlice(value));
        break;
    }
  });
  if (!status.ok()) return FromRocksDb(status, "write to", impl_->path);
  rocksdb::WriteOptions options;
  options.sync = durability == Durability::kPowerLoss;
  return FromRocksDb(impl_->db->Write(options, &rocks_batch), "write to", impl_->path);
}

Engine::Stats RocksDbEngine::stats() const {
  using Properties = rocksdb::DB::Properties;
  Stats stats = counters();
  stats.db_bytes = impl_->IntProperty(Properties::kLiveSstFilesSize) + impl_->WalBytes();
  // The cache contains the indexes, the filters and the charge for the memtables.
  stats.memory_bytes =
      impl_->cache->GetUsage() + impl_->IntProperty(Properties::kEstimateTableReadersMem);
  return stats;
}

Engine::Stats RocksDbEngine::counters() const {
  const auto ticker = [this](uint32_t type) { return impl_->statistics->getTickerCount(type); };
  Stats stats;
  stats.bytes_written = ticker(rocksdb::FLUSH_WRITE_BYTES) + ticker(rocksdb::COMPACT_WRITE_BYTES) +
                        ticker(rocksdb::WAL_FILE_BYTES);
  stats.compaction_bytes =
      ticker(rocksdb::COMPACT_READ_BYTES) + ticker(rocksdb::COMPACT_WRITE_BYTES);
  stats.compaction_cpu_micros = impl_->listener->compaction_cpu_micros;
  stats.flush_cpu_micros = impl_->listener->flush_cpu_micros;
  stats.stall_micros = ticker(rocksdb::STALL_MICROS);
  stats.stalls = impl_->listener->stalls;
  if (impl_->seek != nullptr) stats.seek_compactions = impl_->seek->compactions();
  std::string level0;
  if (impl_->db->GetProperty(rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &level0)) {
    stats.level0_files = std::stoull(level0);
  }
  return stats;
}

std::unique_ptr<BulkLoader> RocksDbEngine::NewBulkLoader(size_t memory_bytes) {
  return MakeRocksDbBulkLoader(impl_->db.get(), impl_->path, memory_bytes);
}

absl::Status RocksDbEngine::Flush() {
  return FromRocksDb(impl_->db->Flush(rocksdb::FlushOptions()), "flush", impl_->path);
}

absl::Status RocksDbEngine::CompactAll() {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  return FromRocksDb(impl_->db->CompactRange(options, nullptr, nullptr), "compact", impl_->path);
}

absl::Status RocksDbEngine::WaitForBackgroundWork() {
  using Properties = rocksdb::DB::Properties;
  if (impl_->seek != nullptr) impl_->seek->WaitUntilIdle();
  // RocksDB 7 has no call for it.
  while (impl_->IntProperty(Properties::kMemTableFlushPending) != 0 ||
         impl_->IntProperty(Properties::kNumRunningFlushes) != 0 ||
         impl_->IntProperty(Properties::kCompactionPending) != 0 ||
         impl_->IntProperty(Properties::kNumRunningCompactions) != 0) {
    if (impl_->IntProperty(Properties::kBackgroundErrors) != 0) {
      return absl::UnavailableError(
          absl::StrCat("database ", impl_->path,
                       ": a background job failed; see the file LOG in that directory"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return absl::OkStatus();
}

absl::Status RocksDbEngine::Checkpoint(const std::string& dir) {
  rocksdb::Checkpoint* raw = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(impl_->db.get(), &raw);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  if (status.ok()) status = checkpoint->CreateCheckpoint(dir);
  return FromRocksDb(status, absl::StrCat("make a checkpoint at ", dir, " of"), impl_->path);
}

std::string RocksDbEngine::SeekCompactionDescription() const {
  const std::string version =
      absl::StrCat("RocksDB ", ROCKSDB_MAJOR, ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH);
#if BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS
  const std::string own =
      absl::StrCat(version, " with read_triggered_compaction_threshold=0, ",
                   impl_->listener->read_triggered.load(), " read-triggered jobs");
#else
  const std::string own = absl::StrCat(version, " has no read-triggered compaction");
#endif
  if (impl_->seek == nullptr) return absl::StrCat("off (", own, ")");
  return absl::StrCat("on (LevelDB's rule emulated: max(100, bytes/16384) seeks per table; ", own,
                      ")");
}

const std::string& RocksDbEngine::path() const { return impl_->path; }

}  // namespace blockreplay::storage
