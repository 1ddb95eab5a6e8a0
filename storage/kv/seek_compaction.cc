#include "storage/kv/seek_compaction.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace blockreplay::storage {
namespace {

constexpr size_t kMaxLevels = 8;
// LevelDB's kReadBytesPeriod: a sample's distance is uniform in [0, 2 MiB).
constexpr size_t kSamplePeriod = size_t{1} << 20;

// The per-level counters of this thread that a Get moves.
struct LevelCounters {
  uint64_t found = 0;         // keys returned
  uint64_t filter_no = 0;     // tables that the filter excluded
  uint64_t filter_yes = 0;    // tables that it did not exclude
  uint64_t filter_right = 0;  // of those, with the key or its tombstone
  uint64_t blocks = 0;        // blocks looked at
};
using Counters = std::array<LevelCounters, kMaxLevels>;

Counters ReadCounters(const rocksdb::PerfContext& perf) {
  Counters counters{};
  for (const auto& [level, by_level] : *perf.level_to_perf_context) {
    if (level >= kMaxLevels) continue;
    counters[level] = {by_level.user_key_return_count, by_level.bloom_filter_useful,
                       by_level.bloom_filter_full_positive,
                       by_level.bloom_filter_full_true_positive,
                       by_level.block_cache_hit_count + by_level.block_cache_miss_count};
  }
  return counters;
}

SeekAllowances::Outcome OutcomeOf(const Counters& before, const Counters& after) {
  SeekAllowances::Outcome outcome;
  bool touched = false;
  for (size_t level = 0; level < kMaxLevels; ++level) {
    const LevelCounters& a = before[level];
    const LevelCounters& b = after[level];
    touched |= b.found != a.found || b.filter_no != a.filter_no || b.filter_yes != a.filter_yes ||
               b.blocks != a.blocks;
    if (level == 0) {
      outcome.missed_in_level0 = b.filter_no != a.filter_no ||
                                 b.filter_yes - a.filter_yes > b.filter_right - a.filter_right;
    }
    if (b.found != a.found || b.filter_right != a.filter_right) {
      outcome.found = SeekAllowances::Outcome::Found::kLevel;
      outcome.level = static_cast<int>(level);
      return outcome;
    }
  }
  outcome.found = touched ? SeekAllowances::Outcome::Found::kNowhere
                          : SeekAllowances::Outcome::Found::kMemtable;
  return outcome;
}

// Counts on this thread while it lives.
class CountingScope {
 public:
  CountingScope() : level_(rocksdb::GetPerfLevel()) {
    rocksdb::SetPerfLevel(std::max(level_, rocksdb::PerfLevel::kEnableCount));
    rocksdb::get_perf_context()->EnablePerLevelPerfContext();
  }
  ~CountingScope() { rocksdb::SetPerfLevel(level_); }
  CountingScope(const CountingScope&) = delete;
  CountingScope& operator=(const CountingScope&) = delete;

 private:
  const rocksdb::PerfLevel level_;
};

}  // namespace

int64_t AllowedSeeks(uint64_t table_bytes) {
  return std::max<int64_t>(100, static_cast<int64_t>(table_bytes / 16384));
}

void SeekAllowances::SetTables(const std::vector<Table>& tables) {
  std::vector<std::vector<Entry>> levels;
  for (const Table& table : tables) {
    const auto level = static_cast<size_t>(table.level);
    if (level >= levels.size()) levels.resize(level + 1);
    int64_t seeks_left = AllowedSeeks(table.bytes);
    if (level < levels_.size()) {
      for (const Entry& old : levels_[level]) {
        if (old.table.number == table.number) seeks_left = old.seeks_left;
      }
    }
    levels[level].push_back({table, seeks_left});
  }
  for (size_t level = 0; level < levels.size(); ++level) {
    std::sort(levels[level].begin(), levels[level].end(), [level](const Entry& a, const Entry& b) {
      return level == 0 ? a.table.largest_sequence > b.table.largest_sequence
                        : a.table.smallest < b.table.smallest;
    });
  }
  levels_ = std::move(levels);
}

SeekAllowances::Entry* SeekAllowances::FirstOfTwo(std::string_view key) {
  Entry* first = nullptr;
  for (size_t level = 0; level < levels_.size(); ++level) {
    std::vector<Entry>& entries = levels_[level];
    // Below level 0 tables do not overlap: only the first that does not end before the key.
    auto it = level == 0 ? entries.begin()
                         : std::lower_bound(entries.begin(), entries.end(), key,
                                            [](const Entry& entry, std::string_view k) {
                                              return entry.table.largest < k;
                                            });
    const auto end = level == 0 || it == entries.end() ? entries.end() : std::next(it);
    for (; it != end; ++it) {
      if (key < it->table.smallest || key > it->table.largest) continue;
      if (first != nullptr) return first;
      first = &*it;
    }
  }
  return nullptr;
}

std::optional<uint64_t> SeekAllowances::Charge(Entry* entry) {
  --entry->seeks_left;
  if (entry->seeks_left > 0) return std::nullopt;
  return entry->table.number;
}

std::optional<uint64_t> SeekAllowances::OnGet(std::string_view key, const Outcome& outcome) {
  if (outcome.found == Outcome::Found::kMemtable) return std::nullopt;
  Entry* first = FirstOfTwo(key);
  if (first == nullptr) return std::nullopt;
  if (outcome.found == Outcome::Found::kLevel) {
    // Found in the first table? Then no second one was looked into.
    if (outcome.level < first->table.level) return std::nullopt;
    if (outcome.level == first->table.level && (outcome.level > 0 || !outcome.missed_in_level0)) {
      return std::nullopt;
    }
  }
  return Charge(first);
}

std::optional<uint64_t> SeekAllowances::OnIteratorSample(std::string_view key) {
  Entry* first = FirstOfTwo(key);
  if (first == nullptr) return std::nullopt;
  return Charge(first);
}

std::optional<int64_t> SeekAllowances::SeeksLeft(uint64_t number) const {
  for (const auto& level : levels_) {
    for (const Entry& entry : level) {
      if (entry.table.number == number) return entry.seeks_left;
    }
  }
  return std::nullopt;
}

std::optional<int> SeekAllowances::OutputLevel(uint64_t number, int last_level) const {
  for (size_t level = 0; level < levels_.size(); ++level) {
    for (const Entry& entry : levels_[level]) {
      if (entry.table.number != number) continue;
      for (size_t next = level + 1; next < levels_.size(); ++next) {
        if (!levels_[next].empty()) return static_cast<int>(next);
      }
      return last_level;
    }
  }
  return std::nullopt;
}

SeekCompactor::SeekCompactor(rocksdb::DB* db, const std::atomic<uint64_t>* table_changes)
    : db_(db), table_changes_(table_changes), thread_([this] { Run(); }) {}

SeekCompactor::~SeekCompactor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  db_->DisableManualCompaction();  // also one that is running
  thread_.join();
}

rocksdb::Status SeekCompactor::Get(const rocksdb::Slice& key, rocksdb::PinnableSlice* value) {
  const CountingScope counting;
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  const Counters before = ReadCounters(perf);
  rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), key, value);
  if (!status.ok() && !status.IsNotFound()) return status;
  const SeekAllowances::Outcome outcome = OutcomeOf(before, ReadCounters(perf));
  if (outcome.found != SeekAllowances::Outcome::Found::kMemtable) {
    const std::lock_guard lock(mutex_);
    RefreshTables();
    Request(allowances_.OnGet({key.data(), key.size()}, outcome));
  }
  return status;
}

SeekCompactor::Sampler::Sampler(SeekCompactor* compactor)
    : compactor_(compactor),
      // LevelDB seeds its iterators one after the other, too: runs repeat.
      random_(0x9e3779b97f4a7c15ull * (compactor->samplers_.fetch_add(1) + 1)),
      bytes_left_(NextPeriod()) {}

size_t SeekCompactor::Sampler::NextPeriod() {
  // xorshift64
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ % (2 * kSamplePeriod);
}

void SeekCompactor::Sampler::OnElement(const rocksdb::Slice& key, size_t value_size) {
  const size_t bytes = key.size() + value_size;
  while (bytes_left_ < bytes) {
    bytes_left_ += NextPeriod();
    const std::lock_guard lock(compactor_->mutex_);
    compactor_->RefreshTables();
    compactor_->Request(compactor_->allowances_.OnIteratorSample({key.data(), key.size()}));
  }
  bytes_left_ -= bytes;
}

void SeekCompactor::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !due_ || stop_; });
}

void SeekCompactor::RefreshTables() {
  const uint64_t changes = table_changes_->load(std::memory_order_acquire);
  if (tables_known_ && changes == tables_seen_) return;
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::vector<SeekAllowances::Table> tables;
  tables.reserve(files.size());
  for (rocksdb::LiveFileMetaData& file : files) {
    tables.push_back({file.file_number, file.level, file.size, std::move(file.smallestkey),
                      std::move(file.largestkey), file.largest_seqno});
  }
  allowances_.SetTables(tables);
  tables_seen_ = changes;
  tables_known_ = true;
}

void SeekCompactor::Request(std::optional<uint64_t> table) {
  // LevelDB remembers one table; the others come back with their next charge.
  if (!table || due_ || stop_) return;
  due_ = table;
  changed_.notify_all();
}

void SeekCompactor::Run() {
  pthread_setname_np(pthread_self(), "seek-compact");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || due_; });
    if (stop_) return;
    RefreshTables();
    const uint64_t number = *due_;
    const std::optional<int> output = allowances_.OutputLevel(number, db_->NumberLevels() - 1);
    lock.unlock();
    if (output) CompactTable(number, *output);
    lock.lock();
    due_.reset();
    changed_.notify_all();
  }
}

void SeekCompactor::CompactTable(uint64_t number, int output_level) {
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // as in other compactions
  options.output_file_size_limit = db_->GetOptions().target_file_size_base;
  // RocksDB adds the tables of the next level that overlap and, from level 0, the older ones.
  const rocksdb::Status status =
      db_->CompactFiles(options, {absl::StrCat("/", number, ".sst")}, output_level);
  // Not possible while RocksDB itself compacts the table, which then is as good.
  if (status.ok()) compactions_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace blockreplay::storage
