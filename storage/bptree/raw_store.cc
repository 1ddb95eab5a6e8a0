#include "storage/bptree/raw_store.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace blockreplay::storage::bptree {
namespace {

// Over entries that were collected when it was made.
class CollectedIterator final : public Iterator {
 public:
  CollectedIterator(std::vector<std::pair<std::string, std::string>> entries, absl::Status status)
      : entries_(std::move(entries)), status_(std::move(status)) {}
  bool Valid() const override { return status_.ok() && position_ < entries_.size(); }
  void Next() override { ++position_; }
  std::string_view key() const override { return entries_[position_].first; }
  std::string_view value() const override { return entries_[position_].second; }
  absl::Status status() const override { return status_; }

 private:
  const std::vector<std::pair<std::string, std::string>> entries_;
  const absl::Status status_;
  size_t position_ = 0;
};

}  // namespace

RawStore::RawStore(const Reader* database, Options options, int64_t version)
    : database_(database), options_(std::move(options)), version_(version) {}

absl::StatusOr<bool> RawStore::Get(std::string_view key, std::string* value) const {
  for (const Changes* changes : {&changes_, &unflushed_, &in_flight_}) {
    const auto found = changes->find(key);
    if (found == changes->end()) continue;
    if (!found->second.has_value()) return false;
    value->assign(*found->second);
    return true;
  }
  return database_->Get(options_.key_prefix + std::string(key), value);
}

absl::StatusOr<bool> RawStore::Has(std::string_view key) const {
  std::string value;
  return Get(key, &value);
}

std::unique_ptr<Iterator> RawStore::NewIterator(const KeyRange& range, Direction direction) const {
  std::map<std::string, std::string> merged;
  KeyRange below;
  below.start = options_.key_prefix + range.start;
  below.end = range.end.has_value() ? std::optional(options_.key_prefix + *range.end)
                                    : KeyRange::Prefix(options_.key_prefix).end;
  const std::unique_ptr<Iterator> it = database_->NewIterator(below, Direction::kForward);
  for (; it->Valid(); it->Next())
    merged[std::string(it->key().substr(options_.key_prefix.size()))] = it->value();
  for (const Changes* changes : {&in_flight_, &unflushed_, &changes_}) {
    for (const auto& [key, value] : *changes) {
      if (!range.Contains(key)) continue;
      if (value.has_value()) {
        merged[key] = *value;
      } else {
        merged.erase(key);
      }
    }
  }
  std::vector<std::pair<std::string, std::string>> entries(merged.begin(), merged.end());
  if (direction == Direction::kReverse) std::reverse(entries.begin(), entries.end());
  return std::make_unique<CollectedIterator>(std::move(entries), it->status());
}

absl::Status RawStore::Set(std::string_view key, std::string_view value) {
  changes_.insert_or_assign(std::string(key), std::string(value));
  return absl::OkStatus();
}

absl::Status RawStore::Delete(std::string_view key) {
  changes_.insert_or_assign(std::string(key), std::nullopt);
  return absl::OkStatus();
}

int64_t RawStore::next_version() const {
  return version_ == 0 ? std::max<int64_t>(options_.initial_version, 1) : version_ + 1;
}

absl::StatusOr<Hash> RawStore::Commit(WriteBatch* batch) {
  version_ = next_version();
  for (auto& [key, value] : changes_) unflushed_.insert_or_assign(key, std::move(value));
  changes_.clear();
  if (options_.write_on_commit) {
    const absl::Status status = Flush(batch);
    if (!status.ok()) return status;
  }
  return Hash{};
}

absl::Status RawStore::Flush(WriteBatch* batch) {
  for (const auto& [key, value] : unflushed_) {
    if (value.has_value()) {
      batch->Put(options_.key_prefix, key, *value);
    } else {
      batch->Delete(options_.key_prefix, key);
    }
  }
  // The batch of the last Flush has been written by now; those of the last commits perhaps not.
  if (!options_.write_on_commit) in_flight_.clear();
  for (auto& [key, value] : unflushed_) in_flight_.insert_or_assign(key, std::move(value));
  unflushed_.clear();
  return absl::OkStatus();
}

absl::Status RawStore::Rollback() {
  changes_.clear();
  return absl::OkStatus();
}

size_t RawStore::memory_bytes() const {
  size_t bytes = 0;
  for (const Changes* changes : {&changes_, &unflushed_, &in_flight_}) {
    for (const auto& [key, value] : *changes) bytes += key.size() + (value ? value->size() : 0);
  }
  return bytes;
}

}  // namespace blockreplay::storage::bptree
