#include "storage/bptree/node.h"

#include <cstring>
#include <new>

#include "storage/sha256.h"

namespace blockreplay::storage::bptree {

Ref<SharedKey> SharedKey::Make(std::string_view bytes) {
  void* const memory = ::operator new(sizeof(SharedKey) + bytes.size());
  auto* const key = new (memory) SharedKey;
  key->size = static_cast<uint32_t>(bytes.size());
  if (!bytes.empty()) std::memcpy(key + 1, bytes.data(), bytes.size());
  return Ref<SharedKey>(key);
}

void SharedKey::Destroy(SharedKey* key) {
  key->~SharedKey();
  ::operator delete(key);
}

Ref<Entry> Entry::Make(std::string_view key, std::string_view value) {
  void* const memory = ::operator new(sizeof(Entry) + key.size() + value.size());
  auto* const entry = new (memory) Entry;
  entry->key_size = static_cast<uint32_t>(key.size());
  entry->value_size = static_cast<uint32_t>(value.size());
  char* const to = reinterpret_cast<char*>(entry + 1);
  if (!key.empty()) std::memcpy(to, key.data(), key.size());
  if (!value.empty()) std::memcpy(to + key.size(), value.data(), value.size());
  return Ref<Entry>(entry);
}

void Entry::Destroy(Entry* entry) {
  entry->~Entry();
  ::operator delete(entry);
}

Ref<Entry> Entry::WithValue(const Entry& entry, std::string_view value) {
  Ref<Entry> loaded = Make(entry.key(), value);
  loaded->value_key = entry.value_key;
  loaded->value_hashed = entry.value_hashed;
  loaded->slot_hashed = entry.slot_hashed;
  loaded->value_hash = entry.value_hash;
  loaded->slot_hash = entry.slot_hash;
  return loaded;
}

Ref<Entry> Entry::Unloaded(std::string_view key, const Hash& value_hash, RecordKey value_key) {
  Ref<Entry> entry = Make(key, {});
  entry->has_value = false;
  entry->value_key = value_key;
  entry->value_hash = value_hash;
  entry->value_hashed = true;
  return entry;
}

const Hash& Entry::ValueHash() {
  if (!value_hashed) {
    Sha256(value(), value_hash.data());
    value_hashed = true;
  }
  return value_hash;
}

const Hash& Entry::SlotHash() {
  if (!slot_hashed) {
    slot_hash = LeafSlotHash(key(), ValueHash());
    slot_hashed = true;
  }
  return slot_hash;
}

int64_t Node::size() const {
  if (is_leaf()) return count;
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += inner()->children[static_cast<size_t>(i)].size;
  return sum;
}

size_t Node::memory_bytes() const {
  if (!is_leaf()) return sizeof(InnerNode);
  size_t sum = sizeof(LeafNode);
  for (int i = 0; i < count; ++i) sum += leaf()->entries[static_cast<size_t>(i)]->memory_bytes();
  return sum;
}

const Hash& Node::UpdateHash() {
  if (hash_valid) return hash;
  // Which of the children changed is known from the walk itself: a child that was changed has no
  // valid hash.
  Hash* slots[kBranching];
  if (is_leaf()) {
    for (int i = 0; i < count; ++i) {
      Entry& entry = *leaf()->entries[static_cast<size_t>(i)];
      if (stale_slots >> i & 1) entry.SlotHash();
      slots[i] = &entry.slot_hash;
    }
  } else {
    for (int i = 0; i < count; ++i) {
      Child& child = inner()->children[static_cast<size_t>(i)];
      if (child.node && (stale_slots >> i & 1)) child.hash = child.node->UpdateHash();
      slots[i] = &child.hash;
    }
  }

  const Hash& empty = EmptySlotHash();
  // Bottom-up by levels. `stale` has one bit per node of the level below, `used` says how many of
  // them hold anything: everything behind is empty, and a pair of two empty ones is empty too.
  uint32_t stale = stale_slots;
  int used = count;
  for (int width = kBranching / 2; width >= 1; width /= 2) {
    uint32_t parents = 0;
    for (int i = 0; i < width; ++i) {
      if ((stale >> (2 * i) & 3) == 0) continue;
      parents |= uint32_t{1} << i;
      const int left = 2 * i;
      Hash& to = pairs[static_cast<size_t>(width + i)];
      if (left >= used) {
        to = empty;
        continue;
      }
      const bool at_slots = width == kBranching / 2;
      const auto below = [&](int position) -> const Hash& {
        if (position >= used) return empty;
        return at_slots ? *slots[position] : pairs[static_cast<size_t>(2 * width + position)];
      };
      to = PairHash(below(left), below(left + 1));
    }
    stale = parents;
    used = (used + 1) / 2;
  }
  stale_slots = 0;
  hash = pairs[1];
  hash_valid = true;
  return hash;
}

void Node::Destroy(Node* node) {
  if (node->is_leaf()) {
    delete node->leaf();
  } else {
    delete node->inner();
  }
}

std::pair<int, bool> LeafNode::Find(std::string_view key) const {
  const uint64_t prefix = KeyPrefix(key);
  int position = 0;
  for (int i = 0; i < count; ++i) position += prefixes[static_cast<size_t>(i)] < prefix ? 1 : 0;
  for (; position < count && prefixes[static_cast<size_t>(position)] == prefix; ++position) {
    const int order = entries[static_cast<size_t>(position)]->key().compare(key);
    if (order >= 0) return {position, order == 0};
  }
  return {position, false};
}

void LeafNode::Assign(int position, Ref<Entry> entry) {
  prefixes[static_cast<size_t>(position)] = KeyPrefix(entry->key());
  entries[static_cast<size_t>(position)] = std::move(entry);
}

void LeafNode::Insert(int position, Ref<Entry> entry) {
  for (int i = count; i > position; --i) {
    prefixes[static_cast<size_t>(i)] = prefixes[static_cast<size_t>(i - 1)];
    entries[static_cast<size_t>(i)] = std::move(entries[static_cast<size_t>(i - 1)]);
  }
  Assign(position, std::move(entry));
  ++count;
  MarkStaleFrom(position);
}

Ref<Entry> LeafNode::Remove(int position) {
  Ref<Entry> removed = std::move(entries[static_cast<size_t>(position)]);
  for (int i = position; i + 1 < count; ++i) {
    prefixes[static_cast<size_t>(i)] = prefixes[static_cast<size_t>(i + 1)];
    entries[static_cast<size_t>(i)] = std::move(entries[static_cast<size_t>(i + 1)]);
  }
  --count;
  MarkStaleFrom(position);
  return removed;
}

Ref<Node> LeafNode::Clone() const {
  auto* const copy = new LeafNode(*this);
  copy->refs = 0;
  copy->record = {};
  return Ref<Node>(copy);
}

int InnerNode::FindChild(std::string_view key) const {
  const int separators_used = separator_count();
  const uint64_t prefix = KeyPrefix(key);
  int index = 0;
  for (int i = 0; i < separators_used; ++i)
    index += prefixes[static_cast<size_t>(i)] < prefix ? 1 : 0;
  while (index < separators_used && prefixes[static_cast<size_t>(index)] == prefix &&
         separators[static_cast<size_t>(index)]->view() <= key) {
    ++index;
  }
  return index;
}

void InnerNode::SetSeparator(int index, Ref<SharedKey> separator) {
  prefixes[static_cast<size_t>(index)] = KeyPrefix(separator->view());
  separators[static_cast<size_t>(index)] = std::move(separator);
}

void InnerNode::InsertAfter(int index, Ref<SharedKey> separator, Child right) {
  for (int i = separator_count(); i > index; --i) {
    prefixes[static_cast<size_t>(i)] = prefixes[static_cast<size_t>(i - 1)];
    separators[static_cast<size_t>(i)] = std::move(separators[static_cast<size_t>(i - 1)]);
  }
  for (int i = count; i > index + 1; --i) {
    children[static_cast<size_t>(i)] = std::move(children[static_cast<size_t>(i - 1)]);
  }
  SetSeparator(index, std::move(separator));
  children[static_cast<size_t>(index + 1)] = std::move(right);
  ++count;
  MarkStaleFrom(index);
}

void InnerNode::RemoveChild(int index) {
  for (int i = index - 1; i + 1 < separator_count(); ++i) {
    prefixes[static_cast<size_t>(i)] = prefixes[static_cast<size_t>(i + 1)];
    separators[static_cast<size_t>(i)] = std::move(separators[static_cast<size_t>(i + 1)]);
  }
  for (int i = index; i + 1 < count; ++i) {
    children[static_cast<size_t>(i)] = std::move(children[static_cast<size_t>(i + 1)]);
  }
  separators[static_cast<size_t>(separator_count() - 1)] = {};
  children[static_cast<size_t>(count - 1)] = {};
  --count;
  MarkStaleFrom(index);
}

Ref<Node> InnerNode::Clone() const {
  auto* const copy = new InnerNode(*this);
  copy->refs = 0;
  copy->record = {};
  return Ref<Node>(copy);
}

}  // namespace blockreplay::storage::bptree
