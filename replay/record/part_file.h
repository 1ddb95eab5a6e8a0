#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "replay/recording/byte_source.h"

// One part of a stream of blocks while it is being recorded: `blocks-<first height>.zst`, each
// block a zstd frame of its own (one Block behind its length), so that everything up to the last
// complete frame can be read whatever happened to the writer.
namespace blockreplay::replay {

struct ZstdContextDeleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Reads such a part frame by frame. Memory grows with what the frames really hold, up to the
// largest message of a recording. Not thread-safe.
class PartReader {
 public:
  // `name` stands for the file in errors.
  PartReader(std::unique_ptr<ByteSource> source, std::string name);
  static absl::StatusOr<std::unique_ptr<PartReader>> Open(const std::string& path);

  // The next block into `*block`; false at the end of the file. kOutOfRange if the file ends inside
  // a frame, as after kill -9; kDataLoss if what comes next is not a frame of one block. After an
  // error there is nothing more to read.
  absl::StatusOr<bool> Next(v1::Block* block);

  // Offsets in the file at which the frame of the last block begins and ends.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

 private:
  // One whole frame into content_, and its size in the file; 0 at the end of the file.
  absl::StatusOr<uint64_t> ReadFrame();
  absl::Status DataLoss(std::string_view problem) const;

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::unique_ptr<ZSTD_DCtx, ZstdContextDeleter> context_;
  std::string input_;
  ZSTD_inBuffer next_{nullptr, 0, 0};
  std::string content_;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

// Appends to such a part. Not thread-safe.
class PartWriter {
 public:
  // Goes on after the first `size` bytes of the file, which is created if it isn't there; what it
  // has beyond is cut off.
  static absl::StatusOr<std::unique_ptr<PartWriter>> Open(const std::string& path, uint64_t size,
                                                          int compression_level);
  ~PartWriter();
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  // Appends a frame of one delimited message, which then survives the end of this process, with
  // `sync` that of the machine too. After an error the file is as before; where even that fails,
  // the next call cuts it first.
  absl::Status Append(std::string_view message, bool sync);
  absl::Status Sync();

  uint64_t size() const { return size_; }

 private:
  PartWriter(int fd, std::string path, uint64_t size);
  absl::Status Write(std::string_view bytes);
  // Cuts off what is beyond size_; false, with errno, if the system won't.
  bool CutTail();

  int fd_;
  std::string path_;
  uint64_t size_;
  bool damaged_tail_ = false;  // there may be a part of a frame beyond size_
  std::unique_ptr<ZSTD_CCtx, ZstdContextDeleter> context_;
  std::string frame_;
};

}  // namespace blockreplay::replay
