#include "storage/kv/rocksdb_settings.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rocksdb/write_buffer_manager.h"

// The load that these numbers are for, below prefixes `s/k:<store>/`:
//   'n'/'s' nodes: written once, in ascending (version, nonce) order within a store; read by exact
//           key, and nearly always present; deleted by pruning, oldest first.
//   'f'     fast nodes: overwritten at random; read by exact key; scanned in order.
//   writes: one batch per block.

namespace blockreplay::storage {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t MemtableBytes(const RocksDbOptions& options) {
  if (options.memtable_bytes != 0) return options.memtable_bytes;
  // Larger memtables mean fewer and larger level-0 files and so less compaction; beyond 64 MiB
  // the skip list misses the CPU caches and gains nothing. An eighth leaves room for three of
  // them and half of the budget for blocks.
  return std::clamp(options.memory_budget_bytes / 8, 4 * kMiB, 64 * kMiB);
}

}  // namespace

absl::StatusOr<rocksdb::Options> MakeRocksDbSettings(const RocksDbOptions& options) {
  rocksdb::Options out;

  // --- memory ---
  // One cache holds data blocks, indexes, filters and, through the write buffer manager, the size
  // of the memtables, so that the budget bounds their sum.
  const auto cache = rocksdb::NewLRUCache(options.memory_budget_bytes);
  out.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(options.memory_budget_bytes / 2, cache);
  out.write_buffer_size = MemtableBytes(options);
  // One filling and two being flushed: a burst (a pruning run) does not stall behind one flush.
  // More than 3 would make RocksDB slow writes down before it stops them.
  out.max_write_buffer_number = 3;
  // Handles of open tables; below the usual soft limit of 1,024 descriptors. 512 tables of 64 MiB
  // are 32 GiB, beyond which opening a table again is small change.
  out.max_open_files = 512;

  // --- reads ---
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // Point reads of scattered nodes: a read costs decompressing and checking one block, so small
  // blocks; 4 KiB is also the page size below.
  table.block_size = 4 << 10;
  // 9.9 bits a key: 1 % false positives. Misses come from fast nodes of absent keys and from upper
  // levels passed on the way to a node.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(9.9));
  table.optimize_filters_for_memory = true;
  // Nodes that are asked for exist, so a filter at the last level would say yes all the time: 90 %
  // of the filter memory saved. An absent fast key costs one block read there.
  out.optimize_filters_for_hits = true;
  // Indexes and filters in the cache, or they grow with the database and without bound; split in
  // parts, so that a part and not a whole table's index comes and goes; the level-0 and top-level
  // ones stay, for every read needs them.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.pin_top_level_index_and_filter = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.metadata_block_size = 4 << 10;
  table.format_version = 5;         // the newest that RocksDB 6.6 to 8.x all read and write
  table.checksum = rocksdb::kXXH3;  // cheapest per byte of those that RocksDB 7 knows

  // --- compaction ---
  out.compaction_style = rocksdb::kCompactionStyleLevel;
  // Stated because its default changed in RocksDB 8.4: sizes levels from the last one up, so that a
  // small database has two levels (0 and the last) and bytes are rewritten fewer times.
  out.level_compaction_dynamic_level_bytes = true;
  // Twice RocksDB's default. A merge rewrites the level below it, so merging half as often halves
  // that; most reads end in the trees' memory, and level 0's filters are pinned.
  out.level0_file_num_compaction_trigger = 8;
  out.level0_slowdown_writes_trigger = 20;
  out.level0_stop_writes_trigger = 36;
  // Level 1 as large as the level 0 that is merged into it, so that the merge is about 1:1.
  out.max_bytes_for_level_base = 8 * out.write_buffer_size;
  // 64 MiB tables: a 10 GiB database has 160 of them.
  out.target_file_size_base = 64 * kMiB;
  out.max_background_jobs = options.background_threads;
  out.max_subcompactions = 1;  // one job, one thread: CPU is charged to the right one
  // Without it, buffered compaction reads are one system call per 4 KiB block.
  out.compaction_readahead_size = 2 * kMiB;
  // Upper levels are rewritten soon, so no codec pays for its CPU there. The last level holds most
  // of the bytes: LZ4 takes 0.1 us a key (a tenth of what compacting it costs) and saves a third
  // of the space, since keys and values share text although hashes do not compress.
  out.compression_per_level.clear();
  out.compression = rocksdb::kNoCompression;
  out.bottommost_compression = rocksdb::kLZ4Compression;
  // Nothing of what follows may start on a timer: runs must compare.
  out.periodic_compaction_seconds = 0;
  out.ttl = 0;
  out.stats_dump_period_sec = 0;
  out.stats_persist_period_sec = 0;

  // --- durability ---
  // One batch per block into the write-ahead log. It reaches the kernel with each batch (so it
  // survives the process) and the disk when the caller asks for it. After a crash the log counts up
  // to the first record that is not whole: what is left is a prefix of whole batches.
  out.manual_wal_flush = false;
  out.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // Never write in a half-failed state: an error is an error until the database is opened again.
  out.max_bgerror_resume_count = 0;

  // --- the rest ---
  out.create_if_missing = options.create_if_missing;
  out.error_if_exists = options.error_if_exists;
  out.skip_stats_update_on_db_open = true;  // would read each table's properties at open

  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

#if BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS
  // Set by name: whether and how the member exists depends on the version. 0 is off.
  rocksdb::ColumnFamilyOptions with_reads_off;
  const rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromString(
      rocksdb::ConfigOptions(), rocksdb::ColumnFamilyOptions(out),
      "read_triggered_compaction_threshold=0", &with_reads_off);
  if (!status.ok()) {
    return absl::InternalError("RocksDB refuses read_triggered_compaction_threshold=0: " +
                               status.ToString());
  }
  static_cast<rocksdb::ColumnFamilyOptions&>(out) = with_reads_off;
#endif
  return out;
}

absl::Status VerifyReadsTriggerNothing(const rocksdb::Options& options) {
#if BLOCKREPLAY_ROCKSDB_CAN_COMPACT_ON_READS
  std::string text;
  const rocksdb::Status status =
      rocksdb::GetStringFromColumnFamilyOptions(&text, rocksdb::ColumnFamilyOptions(options));
  const std::string name = "read_triggered_compaction_threshold=";
  const size_t at = text.find(name);
  if (!status.ok() || at == std::string::npos ||
      std::strtod(text.c_str() + at + name.size(), nullptr) != 0) {
    return absl::InternalError(
        "cannot verify that RocksDB's read-triggered compaction is off; report this with the "
        "version of RocksDB");
  }
#else
  (void)options;  // by construction: there is no such option
#endif
  return absl::OkStatus();
}

}  // namespace blockreplay::storage
