#include "storage/multistore/node_reader.h"

#include <utility>

namespace blockreplay::storage {
namespace {

constexpr std::string_view kStores = "s/k:";
// Behind a store's prefix: 's', version (8 bytes), nonce (4 bytes, big endian).
constexpr size_t kVersionSize = 8;
constexpr size_t kNonceSize = 4;
constexpr size_t kNodeKeySize = 1 + kVersionSize + kNonceSize;

// The part of a node's key that is the store's; nothing if it is no node's key.
std::optional<std::string_view> StoreOf(std::string_view key) {
  if (key.size() <= kStores.size() + kNodeKeySize || key.substr(0, kStores.size()) != kStores) {
    return std::nullopt;
  }
  const std::string_view store = key.substr(0, key.size() - kNodeKeySize);
  if (store.back() != '/' || key[store.size()] != 's') return std::nullopt;
  return store;
}

std::string_view VersionOf(std::string_view key) {
  return key.substr(key.size() - kNonceSize - kVersionSize, kVersionSize);
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
  } else if (key == cursor->next_key && IsOfWalk(key, *cursor)) {
    // The second in a row: a walk. Another one's iterator has come to its end, or is interrupted.
    cursor->iterator = db_->NewIterator({std::string(key), std::nullopt}, Direction::kForward);
    ++iterators_;
    absl::StatusOr<bool> ahead = Ahead(key, cursor, value);
    if (!ahead.ok() || *ahead) return ahead;
  }
  if (walk_ == Walk::kNewVersion && VersionOf(key) > cursor->newest) {
    cursor->newest.assign(VersionOf(key));
  }
  cursor->next_key.assign(key);
  Increment(&cursor->next_key);
  return db_->Get(key, value);
}

bool NodeReader::IsOfWalk(std::string_view key, const Cursor& cursor) const {
  return walk_ == Walk::kTree || VersionOf(key) >= cursor.newest;
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
  return true;
}

}  // namespace blockreplay::storage
