#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cosmos/store/snapshots/v1/snapshot.pb.h"

namespace blockreplay::storage::snapshot {

using ::cosmos::store::snapshots::v1::SnapshotItem;

// The format that cosmossdk.io/store v1.1 writes, and its limit on the size of an item.
inline constexpr uint32_t kFormat = 3;
inline constexpr uint64_t kMaxItemBytes = 64'000'000;

// Compressed bytes, piece by piece.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // The next piece, valid until the next call; empty at the end.
  virtual absl::StatusOr<std::string_view> Next() = 0;
  // Where the last piece came from, for error messages: a file and an offset, say.
  virtual std::string Position() const = 0;
};

// Reads the items of a snapshot: a zlib stream of SnapshotItem messages, each behind its length.
// The bytes are untrusted. Memory is bounded by the largest item that is really there, not by what
// a length claims. One thread.
class ItemReader {
 public:
  // `source` is not owned and must outlive the reader.
  explicit ItemReader(ByteSource* source);
  ~ItemReader();
  ItemReader(const ItemReader&) = delete;
  ItemReader& operator=(const ItemReader&) = delete;

  // The next item, valid until the next call; null at the end. The item has one of the four kinds
  // set. Errors are kDataLoss where the bytes are not a snapshot, or the source's; they name the
  // place. No call may follow an error.
  absl::StatusOr<const SnapshotItem*> Next();

  uint64_t items() const { return items_; }
  // Bytes of the uncompressed stream that the items up to now took.
  uint64_t stream_bytes() const { return stream_bytes_; }

 private:
  // Makes output_ non-empty, or leaves it empty at the end of the stream.
  absl::Status Fill();
  absl::StatusOr<uint64_t> ReadLength(bool* at_end);
  absl::Status Error(const std::string& what) const;

  ByteSource* source_;
  z_stream zlib_{};
  absl::Status init_;
  bool stream_ended_ = false;
  std::unique_ptr<char[]> buffer_;
  std::string_view output_;  // inflated bytes in buffer_ that no item has taken
  std::string item_bytes_;   // an item that did not lie in buffer_ as a whole
  SnapshotItem item_;
  uint64_t items_ = 0;
  uint64_t stream_bytes_ = 0;
};

}  // namespace blockreplay::storage::snapshot
