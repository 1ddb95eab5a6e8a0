#include "storage/multistore/node_reader.h"

#include <utility>

namespace blockreplay::storage {
namespace {

constexpr std::string_view kStores = "s/k:";
// Behind a store's prefix: 's', version (8 bytes), nonce (4 bytes, big endian).
constexpr size_t kVersionSize = 8;
constexpr size_t kNonceSize = 4;
constexpr size_t kNodeKeySize = 1 + kVersionSize + kNonceSize;
// What a kept node takes besides its bytes, about.
constexpr size_t kEntryOverhead = 120;

// The part of a node's key that is the store's; nothing if it is no node's key.
std::optional<std::string_view> StoreOf(std::string_view key) {
  if (key.size() <= kStores.size() + kNodeKeySize || key.substr(0, kStores.size()) != kStores) {
    return std::nullopt;
  }
  const std::string_view store = key.substr(0, key.size() - kNodeKeySize);
  if (store.back() != '/' || key[store.size()] != 's') return std::nullopt;
  return store;
}

// The key of the node with the next number in the same version.
void Increment(std::string* key) {
  for (size_t i = key->size(); i-- > key->size() - kNonceSize;) {
    if (static_cast<unsigned char>(++(*key)[i]) != 0) return;
  }
}

}  // namespace

absl::StatusOr<bool> NodeReader::Get(std::string_view key, std::string* value) const {
  const std::optional<std::string_view> store = StoreOf(key);
  if (!store) return db_->Get(key, value);
  auto found = cursors_.find(*store);
  if (found == cursors_.end()) found = cursors_.emplace(std::string(*store), Cursor{}).first;
  Cursor* const cursor = &found->second;

  if (cursor->iterator != nullptr && key == cursor->iterator_next_key) {
    absl::StatusOr<bool> ahead = Ahead(key, cursor, value);
    if (!ahead.ok() || *ahead) return ahead;
  } else if (TakeKept(key, value)) {
    return true;
  } else if (key == cursor->next_key) {
    // The second in a row: a walk. Another one's iterator has come to its end, or is interrupted.
    cursor->iterator = db_->NewIterator({std::string(key), std::nullopt}, Direction::kForward);
    absl::StatusOr<bool> ahead = Ahead(key, cursor, value);
    if (!ahead.ok() || *ahead) return ahead;
  }
  cursor->next_key.assign(key);
  Increment(&cursor->next_key);
  absl::StatusOr<bool> got = db_->Get(key, value);
  if (got.ok() && *got) Keep(key, *value, cursor);
  return got;
}

void NodeReader::Keep(std::string_view key, const std::string& value, Cursor* cursor) const {
  if (cache_bytes_ == 0) return;
  const std::string_view version = key.substr(key.size() - kNonceSize - kVersionSize, kVersionSize);
  if (version < cursor->newest) return;
  cursor->newest.assign(version);
  const size_t bytes = key.size() + value.size() + kEntryOverhead;
  if (recent_bytes_ + bytes > cache_bytes_ / 2) {
    older_ = std::move(recent_);
    recent_.clear();
    recent_bytes_ = 0;
  }
  recent_bytes_ += bytes;
  recent_.insert_or_assign(std::string(key), value);
}

bool NodeReader::TakeKept(std::string_view key, std::string* value) const {
  for (Nodes* nodes : {&recent_, &older_}) {
    if (nodes->empty()) continue;
    const auto found = nodes->find(std::string(key));
    if (found == nodes->end()) continue;
    *value = std::move(found->second);
    nodes->erase(found);
    ++cached_;
    return true;
  }
  return false;
}

// True if the iterator stands at `key`; it is gone if not.
absl::StatusOr<bool> NodeReader::Ahead(std::string_view key, Cursor* cursor,
                                       std::string* value) const {
  Iterator* const it = cursor->iterator.get();
  if (!it->Valid() || it->key() != key) {
    const absl::Status status = it->status();
    cursor->iterator.reset();
    if (!status.ok()) return status;
    return false;
  }
  value->assign(it->value());
  cursor->iterator_next_key.assign(key);
  Increment(&cursor->iterator_next_key);
  it->Next();
  ++sequential_;
  Keep(key, *value, cursor);
  return true;
}

}  // namespace blockreplay::storage
