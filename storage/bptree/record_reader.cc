#include "storage/bptree/record_reader.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::storage::bptree {

absl::StatusOr<std::string_view> RecordReader::Read(const std::string& key,
                                                    std::string* record) const {
  const absl::StatusOr<bool> found = database_.Get(prefix_ + key, record);
  if (!found.ok()) return found.status();
  if (!*found) return Located(key, absl::DataLossError("is missing"));
  absl::StatusOr<std::string_view> payload = Unseal(*record);
  return payload.ok() ? payload : Located(key, payload.status());
}

absl::StatusOr<Ref<Node>> RecordReader::ReadNode(RecordKey name, std::optional<int> height) const {
  const std::string key = KeyOf(kNodeRecord, name);
  std::string record;
  const absl::StatusOr<std::string_view> payload = Read(key, &record);
  if (!payload.ok()) return payload.status();
  absl::StatusOr<Ref<Node>> node = ParseNode(name, *payload, height);
  return node.ok() ? std::move(node) : Located(key, node.status());
}

absl::StatusOr<RootRecord> RecordReader::ReadRoot(int64_t version) const {
  const std::string key = KeyOf(kRootRecord, version);
  const absl::StatusOr<bool> found = database_.Has(prefix_ + key);
  if (!found.ok()) return found.status();
  if (!*found) {
    return absl::NotFoundError(absl::StrCat("the tree has no version ", version, " (any more)"));
  }
  std::string record;
  const absl::StatusOr<std::string_view> payload = Read(key, &record);
  if (!payload.ok()) return payload.status();
  absl::StatusOr<RootRecord> root = ParseRoot(*payload);
  return root.ok() ? root : Located(key, root.status());
}

absl::Status RecordReader::Located(const std::string& key, const absl::Status& status) const {
  return absl::Status(status.code(), absl::StrCat("tree record ", absl::CHexEscape(prefix_ + key),
                                                  ": ", status.message()));
}

}  // namespace blockreplay::storage::bptree
