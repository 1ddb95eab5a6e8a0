#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "google/protobuf/repeated_field.h"
#include "replay/recording/byte_source.h"

namespace blockreplay::replay {

// Change sets as cronos' `changeset dump` writes them (crypto-org-chain/cronos,
// versiondb/client/changeset.go): a folder per store, in it files `block-<first version>` or, zlib
// compressed, `block-<first version>.zz`. A file is a sequence of versions:
//   version  8 bytes, little endian
//   size     8 bytes, little endian: of what follows for this version
//   writes   delete (1 byte, 0 or 1), key's length (varint), key, and if it is no delete the
//   value's
//            length (varint) and the value
// Keys ascend within a version. The differences of trees: sets of unchanged values are in there,
// deletes of absent keys are not (they change no tree). Nothing says what a block was asked, what
// it answered, or its app hash.

// One store's versions. Not thread-safe.
class ChangeSetReader {
 public:
  using Writes = google::protobuf::RepeatedPtrField<cosmos::store::v1beta1::StoreKVPair>;

  // `files` in the order of their versions; they are opened as they come.
  ChangeSetReader(std::string store, std::vector<std::string> files);

  // The next version's number; 0 after the last one. Versions must ascend.
  absl::StatusOr<int64_t> NextVersion();
  // Appends the writes of the version that NextVersion returned.
  absl::Status ReadWrites(Writes* writes);
  // Passes over them.
  absl::Status SkipWrites();

 private:
  absl::Status ReadPair(uint64_t end, cosmos::store::v1beta1::StoreKVPair* pair);
  absl::StatusOr<bool> AtEnd();
  // `size` bytes into `*bytes`; memory grows as they arrive.
  absl::Status ReadBytes(uint64_t size, std::string* bytes);
  absl::StatusOr<uint64_t> ReadVarint();
  absl::Status Damaged(const std::string& problem) const;

  std::string store_;
  std::vector<std::string> files_;
  size_t opened_ = 0;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  size_t position_ = 0;  // in buffer_
  uint64_t offset_ = 0;  // of position_ in the uncompressed file
  int64_t version_ = 0;
  uint64_t size_ = 0;  // of the version's writes, not read yet
};

// A folder of stores. Not thread-safe.
class ChangeSetFiles {
 public:
  // kNotFound if there are none.
  static absl::StatusOr<ChangeSetFiles> Open(const std::string& dir);

  // Names of the stores, ascending.
  std::vector<std::string> stores() const;
  // The lowest version of any store.
  absl::StatusOr<int64_t> FirstVersion();
  // Appends the writes of `version` to `*writes`, stores by name. Versions are asked for in
  // ascending order; what lies before is passed over. A store that has nothing for the version
  // wrote nothing, if it has later versions; kOutOfRange once no store has any more.
  absl::Status Read(int64_t version, ChangeSetReader::Writes* writes);

 private:
  struct Store {
    std::string name;
    ChangeSetReader reader;
    int64_t next_version = -1;  // -1: not asked yet; 0: at its end
  };

  explicit ChangeSetFiles(std::string dir) : dir_(std::move(dir)) {}

  std::string dir_;
  std::vector<Store> stores_;
};

}  // namespace blockreplay::replay
