#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/recording.pb.h"
#include "cosmos/base/store/v1beta1/listening.pb.h"
#include "google/protobuf/repeated_field.h"

namespace blockreplay::replay {

// What the file streaming service of Cosmos SDK 0.46 and 0.47 writes (ADR-038, `streamers.file` in
// app.toml; 0.50 replaced it by a plugin): two files per block, `[<prefix>-]block-<height>-data`
// and, with `output-metadata`, `[<prefix>-]block-<height>-meta`. Each is the length of the rest as
// 8 bytes, big endian, by which a file that was not written to its end is known; then
//   data: StoreKVPair messages, each behind its length as a varint: the net writes in the order in
//         which they reached the trees; those of InitChain with those of the first block;
//   meta: one BlockMetadata.
//
// Two peculiarities. The service never empties its list of transactions: `deliver_txs` has those of
// all blocks since the node was started, this block's at the end. How many are this block's, the
// header's data hash tells. And what InitChain was given is in neither file.

// The file after its length prefix; an error if that is not the length of the rest.
absl::StatusOr<std::string> ReadStreamFile(const std::string& path);

// Appends the writes of a data file's payload. `path` stands for it in messages.
absl::Status ParseStreamData(
    std::string_view payload, const std::string& path,
    google::protobuf::RepeatedPtrField<cosmos::store::v1beta1::StoreKVPair>* writes);

// Sets request, response, header and app hash of `block` from a meta file's payload. The header
// must be of `height`, the transactions' hash its data hash. `*listed_before` is how many
// transactions the meta file before this one has (a guess saves work), and becomes how many this
// one has.
absl::Status ParseStreamMeta(std::string_view payload, const std::string& path, int64_t height,
                             int* listed_before, v1::Block* block);

// A folder of such files. Not thread-safe.
class StreamFiles {
 public:
  // kNotFound if there are none; kInvalidArgument if there are some of several prefixes.
  static absl::StatusOr<StreamFiles> Open(const std::string& dir);

  // Heights whose data files are there, and whether the meta file is there too.
  const std::map<int64_t, bool>& heights() const { return heights_; }

  // The writes of a height, and what the meta file says if there is one. kNotFound if there is no
  // data file. Errors name the file.
  absl::Status Read(int64_t height, v1::Block* block);

 private:
  StreamFiles(std::string dir, std::string prefix) : dir_(std::move(dir)), prefix_(prefix) {}
  std::string Path(int64_t height, std::string_view kind) const;

  std::string dir_;
  std::string prefix_;  // with its '-'
  std::map<int64_t, bool> heights_;
  int listed_transactions_ = 0;  // by the last meta file read
};

}  // namespace blockreplay::replay
