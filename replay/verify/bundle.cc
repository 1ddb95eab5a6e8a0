#include "replay/verify/bundle.h"

#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "replay/recording/file_io.h"
#include "replay/verify/printable.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(message, &text, options).ok()) {
    return absl::InternalError(absl::StrCat("cannot write a ", message.GetTypeName(), " as JSON"));
  }
  return text;
}

// One line per key: what the block did to it, and what the state has before and after.
absl::StatusOr<std::string> KeysOfBlock(const v1::Block& block,
                                        const std::set<std::string>& differing,
                                        storage::Multistore* before) {
  std::string lines;
  for (const cosmos::store::v1beta1::StoreKVPair& write : block.change_set()) {
    json line = {{"store", write.store_key()},
                 {"store_differs", differing.contains(write.store_key())},
                 {"op", write.delete_() ? "delete" : "set"},
                 {"key", absl::BytesToHexString(write.key())},
                 {"key_text", Printable(write.key())},
                 {"before", nullptr},
                 {"after", nullptr}};
    if (!write.delete_()) line["after"] = absl::BytesToHexString(write.value());
    const storage::Store* store = before->store(write.store_key());
    if (store == nullptr) {
      return absl::NotFoundError(absl::StrCat("there is no store ", write.store_key()));
    }
    std::string value;
    const absl::StatusOr<bool> found = store->Get(write.key(), &value);
    if (!found.ok()) return found.status();
    if (*found) line["before"] = absl::BytesToHexString(value);
    absl::StrAppend(&lines, line.dump(-1, ' ', false, json::error_handler_t::replace), "\n");
  }
  return lines;
}

std::string Readme(const Manifest& manifest, const std::string& recording_dir,
                   const AppHashMismatch& mismatch, const v1::Block& block) {
  const int64_t height = mismatch.height;
  return absl::StrCat(
      "Evidence for a difference at block ", height, " of ", manifest.chain_id, " (",
      manifest.application_name, " ", manifest.application_version, ")\n\n",
      DescribeMismatch(mismatch, block), "\n", "recording  ", recording_dir, ", digest ",
      RecordingDigest(manifest), "\n", "database   stays at height ", height - 1,
      ", the last good block\n\n",
      "block.pb                   the recorded block, a blockreplay.v1.Block message\n"
      "block.json                 the same as JSON; bytes in base64\n"
      "commit_info_expected.json  roots of all stores as recorded; absent if the recording has "
      "none\n"
      "commit_info_expected.pb    the same, a cosmos.store.v1beta1.CommitInfo message\n"
      "commit_info_actual.json    roots of all stores as computed from our own trees\n"
      "commit_info_actual.pb      the same\n"
      "keys.jsonl                 a line for each key that the block wrote, in the order of the "
      "writes: store, whether\n"
      "                           the store's root differs, set or delete, key, and the values "
      "before (at height ",
      height - 1, ")\n",
      "                           and after the block; bytes in hex, null where the key is "
      "absent\n\n"
      "To see it again:\n  blockreplay run ",
      recording_dir, " --from ", height, " --to ", height, "\n");
}

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  void Add(const std::string& name, const absl::StatusOr<std::string>& bytes) {
    if (!status_.ok()) return;
    status_ =
        bytes.ok() ? WriteFileAtomically(absl::StrCat(path_, "/", name), *bytes) : bytes.status();
  }
  const absl::Status& status() const { return status_; }

 private:
  std::string path_;
  absl::Status status_;
};

}  // namespace

absl::Status WriteBundle(const std::string& dir, const Manifest& manifest,
                         const std::string& recording_dir, const AppHashMismatch& mismatch,
                         const v1::Block& block, const storage::CommitInfo& actual,
                         storage::Multistore* before) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return ErrnoStatus(error.value(), "create folder", dir);

  std::set<std::string> differing;
  for (const RootDifference& store : mismatch.stores) differing.insert(store.store);
  const cosmos::store::v1beta1::CommitInfo actual_message = RecordedCommitInfo(actual);

  Folder folder(dir);
  folder.Add("block.pb", block.SerializeAsString());
  folder.Add("block.json", ToJson(block));
  if (block.has_commit_info()) {
    folder.Add("commit_info_expected.pb", block.commit_info().SerializeAsString());
    folder.Add("commit_info_expected.json", ToJson(block.commit_info()));
  }
  folder.Add("commit_info_actual.pb", actual_message.SerializeAsString());
  folder.Add("commit_info_actual.json", ToJson(actual_message));
  folder.Add("keys.jsonl", KeysOfBlock(block, differing, before));
  folder.Add("README.txt", Readme(manifest, recording_dir, mismatch, block));
  return folder.status();
}

}  // namespace blockreplay::replay
