#include "storage/bptree/changes.h"

#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "storage/bptree/node.h"
#include "storage/bptree/record_reader.h"

namespace blockreplay::storage::bptree {
namespace {

class ChangeWalk {
 public:
  ChangeWalk(const RecordReader& records, int64_t version) : records_(records), version_(version) {}

  // Every leaf that the version made: what it wrote, and what it kept beside that.
  absl::Status AddNew(RecordKey name, std::optional<int> height) {
    if (name.version > version_) {
      return absl::DataLossError(
          absl::StrCat("version ", version_, " has a node of version ", name.version));
    }
    if (name.version < version_) {
      shared_.insert({name.version, name.nonce});
      return absl::OkStatus();
    }
    const absl::StatusOr<Ref<Node>> read = records_.ReadNode(name, height);
    if (!read.ok()) return read.status();
    const Node& node = **read;
    if (!node.is_leaf()) {
      return ForEachChild(node, [&](RecordKey child, int below) { return AddNew(child, below); });
    }
    for (size_t i = 0; i < node.count; ++i) {
      const Entry& entry = *node.leaf()->entries[i];
      const bool written = entry.value_key.version == version_;
      keys_[std::string(entry.key())] =
          written ? Key{Change::kWritten, entry.value_key} : Key{Change::kKept, {}};
    }
    return absl::OkStatus();
  }

  // Every leaf that the version has no more: a key of it that is in no new leaf is gone.
  absl::Status AddOld(RecordKey name, std::optional<int> height) {
    if (shared_.contains({name.version, name.nonce})) return absl::OkStatus();
    const absl::StatusOr<Ref<Node>> read = records_.ReadNode(name, height);
    if (!read.ok()) return read.status();
    const Node& node = **read;
    if (!node.is_leaf()) {
      return ForEachChild(node, [&](RecordKey child, int below) { return AddOld(child, below); });
    }
    for (size_t i = 0; i < node.count; ++i) {
      keys_.try_emplace(std::string(node.leaf()->entries[i]->key()), Key{Change::kRemoved, {}});
    }
    return absl::OkStatus();
  }

  absl::Status Visit(const ChangeVisitor& visit) const {
    std::string record;
    for (const auto& [key, found] : keys_) {
      if (found.change == Change::kKept) continue;
      std::optional<std::string_view> value;
      if (found.change == Change::kWritten) {
        const absl::StatusOr<std::string_view> payload =
            records_.Read(KeyOf(kValueRecord, found.value), &record);
        if (!payload.ok()) return payload.status();
        value = *payload;
      }
      if (absl::Status status = visit(key, value); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  enum class Change { kWritten, kKept, kRemoved };
  struct Key {
    Change change;
    RecordKey value;
  };

  // A child is one level lower, so the walk ends.
  template <typename Each>
  static absl::Status ForEachChild(const Node& node, Each&& each) {
    for (size_t i = 0; i < node.count; ++i) {
      const absl::Status status = each(node.inner()->children[i].record, node.height - 1);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const RecordReader& records_;
  const int64_t version_;
  absl::flat_hash_set<std::pair<int64_t, uint32_t>> shared_;
  std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace

absl::Status ForEachChange(const Reader& database, std::string_view key_prefix, int64_t version,
                           bool first, const ChangeVisitor& visit) {
  const RecordReader records(database, key_prefix);
  const absl::StatusOr<RootRecord> after = records.ReadRoot(version);
  if (!after.ok()) return after.status();
  ChangeWalk walk(records, version);
  if (after->root.version != 0) {
    if (absl::Status status = walk.AddNew(after->root, std::nullopt); !status.ok()) return status;
  }
  if (!first) {
    const absl::StatusOr<RootRecord> before = records.ReadRoot(version - 1);
    if (!before.ok()) return before.status();
    if (before->root.version != 0) {
      if (absl::Status status = walk.AddOld(before->root, std::nullopt); !status.ok()) {
        return status;
      }
    }
  }
  return walk.Visit(visit);
}

}  // namespace blockreplay::storage::bptree
