#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cosmos/store/snapshots/v1/snapshot.pb.h"
#include "storage/snapshot/item_reader.h"
#include "storage/snapshot/item_writer.h"

namespace blockreplay::storage::snapshot {

using ::cosmos::store::snapshots::v1::Snapshot;

// A snapshot on disk, in one of the layouts that exist:
// * archive: `_snapshot` (a Snapshot message) beside the chunks `0`, `1`, …, as `snapshots dump`
// packs it and recordings
//   have it;
// * node: `<height>/<format>/0`, … below a node's data/snapshots. The Snapshot message is in the
// goleveldb
//   `metadata.db` beside the heights, which is read without being changed. Where there is none, or
//   it is another kind of database, the chunks are read without hashes to compare.
class SnapshotDir {
 public:
  // `path` is a folder with chunks, or in the node layout also one of a height or of all heights,
  // which stands for the highest. Errors: kNotFound (no snapshot, or a chunk is missing),
  // kFailedPrecondition (another format, or the node does not know it as finished), kDataLoss (the
  // message and the files do not fit together).
  static absl::StatusOr<SnapshotDir> Open(const std::string& path);

  // Without hashes (node layout without a message) `hash` and `metadata` are empty.
  const Snapshot& metadata() const { return metadata_; }
  bool has_hashes() const { return !metadata_.hash().empty(); }
  const std::vector<std::string>& chunks() const { return chunks_; }
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  Snapshot metadata_;
  std::vector<std::string> chunks_;
  uint64_t total_bytes_ = 0;
};

// The chunks of a snapshot as one stream. Every chunk is hashed as a whole before its first byte is
// given out, and with the last one the whole snapshot: nothing unverified reaches the reader, at
// the price of reading each file twice. Errors: kDataLoss (a hash differs; names the chunk),
// kNotFound and kUnavailable for files that cannot be read.
class ChunkSource : public ByteSource {
 public:
  explicit ChunkSource(SnapshotDir dir);
  ~ChunkSource() override;

  absl::StatusOr<std::string_view> Next() override;
  std::string Position() const override;
  // Compressed bytes given out.
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Hasher;
  absl::Status OpenChunk();

  SnapshotDir dir_;
  size_t next_chunk_ = 0;
  std::FILE* file_ = nullptr;
  uint64_t chunk_offset_ = 0;
  uint64_t bytes_read_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::unique_ptr<Hasher> whole_;
};

// Writes a snapshot in the archive layout. The folder appears under its name only when it is whole.
class SnapshotDirWriter {
 public:
  static constexpr uint64_t kChunkBytes = 10'000'000;  // as cosmossdk.io/store v1.1 cuts

  // Error kAlreadyExists if there is something at `path`.
  static absl::StatusOr<std::unique_ptr<SnapshotDirWriter>> Create(
      const std::string& path, uint64_t height, int compression_level = kNodeCompressionLevel);
  // Removes what is there unless Finish succeeded.
  ~SnapshotDirWriter();

  absl::Status Add(const SnapshotItem& item);
  absl::StatusOr<Snapshot> Finish();

 private:
  struct Hashers;
  SnapshotDirWriter(std::string path, uint64_t height, int compression_level);
  absl::Status Write(std::string_view bytes);
  absl::Status CloseChunk();

  std::string path_;
  std::string partial_path_;
  Snapshot metadata_;
  std::FILE* file_ = nullptr;
  std::string file_path_;
  uint64_t chunk_bytes_ = 0;
  std::unique_ptr<Hashers> hashers_;
  std::unique_ptr<ItemWriter> items_;
  bool finished_ = false;
};

}  // namespace blockreplay::storage::snapshot
