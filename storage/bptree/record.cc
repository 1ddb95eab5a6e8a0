#include "storage/bptree/record.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "storage/bptree/crc32c.h"

namespace blockreplay::storage::bptree {
namespace {

constexpr uint8_t kInnerType = 1;
constexpr uint8_t kLeafType = 2;
constexpr size_t kRecordKeySize = 12;
constexpr size_t kHashSize = 32;
constexpr size_t kChecksumSize = 4;
// A tree of this height would hold more keys than any database; it bounds all recursion.

void AppendBigEndian(uint64_t value, int bytes, std::string* out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint64_t ReadBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

void AppendUvarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendRecordKey(RecordKey key, std::string* out) {
  AppendBigEndian(static_cast<uint64_t>(key.version), 8, out);
  AppendBigEndian(key.nonce, 4, out);
}

RecordKey ToRecordKey(std::string_view bytes) {
  return {static_cast<int64_t>(ReadBigEndian(bytes.substr(0, 8))),
          static_cast<uint32_t>(ReadBigEndian(bytes.substr(8, 4)))};
}

void AppendHash(const Hash& hash, std::string* out) {
  out->append(reinterpret_cast<const char*>(hash.data()), hash.size());
}

Hash ToHash(std::string_view bytes) {
  Hash hash;
  std::memcpy(hash.data(), bytes.data(), hash.size());
  return hash;
}

void Seal(std::string* record) { AppendBigEndian(Crc32c(*record), 4, record); }

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}

  bool Uvarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return false;
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Bytes(size_t size, std::string_view* bytes) {
    if (rest_.size() < size) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool LengthPrefixed(std::string_view* bytes) {
    uint64_t size = 0;
    return Uvarint(&size) && size <= rest_.size() && Bytes(static_cast<size_t>(size), bytes);
  }
  std::string_view rest() const { return rest_; }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

absl::Status Malformed(const std::string& what) {
  return absl::DataLossError(absl::StrCat("tree record is malformed: ", what));
}

absl::StatusOr<Ref<Node>> ParseLeaf(Cursor cursor) {
  uint64_t count = 0;
  if (!cursor.Uvarint(&count) || count > kBranching) return Malformed("number of keys");
  std::array<std::string_view, kBranching> keys;
  for (size_t i = 0; i < count; ++i) {
    if (!cursor.LengthPrefixed(&keys[i]) || keys[i].empty() || keys[i].size() > kMaxKeySize)
      return Malformed("key");
    if (i > 0 && keys[i] <= keys[i - 1]) return Malformed("order of keys");
  }
  if (cursor.rest().size() != count * (kHashSize + kRecordKeySize))
    return Malformed("size of a leaf");
  Ref<Node> node(new LeafNode);
  node->count = static_cast<uint16_t>(count);
  for (size_t i = 0; i < count; ++i) {
    const Hash value_hash = ToHash(cursor.rest().substr(i * kHashSize, kHashSize));
    const RecordKey value_key =
        ToRecordKey(cursor.rest().substr(count * kHashSize + i * kRecordKeySize, kRecordKeySize));
    node->leaf()->Assign(static_cast<int>(i), Entry::Unloaded(keys[i], value_hash, value_key));
  }
  return node;
}

absl::StatusOr<Ref<Node>> ParseInner(Cursor cursor) {
  uint64_t separators = 0;
  if (!cursor.Uvarint(&separators) || separators == 0 || separators > kBranching - 1)
    return Malformed("number of separators");
  const size_t children = static_cast<size_t>(separators) + 1;
  Ref<Node> node(new InnerNode);
  InnerNode& inner = *node->inner();
  inner.count = static_cast<uint16_t>(children);
  for (size_t i = 0; i < children; ++i) {
    uint64_t size = 0;
    if (!cursor.Uvarint(&size)) return Malformed("size of a child");
    inner.children[i].size = static_cast<int64_t>(size >> 1) ^ -static_cast<int64_t>(size & 1);
    if (inner.children[i].size <= 0) return Malformed("size of a child");
  }
  uint64_t height = 0;
  if (!cursor.Uvarint(&height) || height == 0 || height > uint64_t{kMaxHeight})
    return Malformed("height");
  inner.height = static_cast<uint16_t>(height);
  for (size_t i = 0; i < separators; ++i) {
    std::string_view key;
    if (!cursor.LengthPrefixed(&key) || key.empty() || key.size() > kMaxKeySize)
      return Malformed("separator");
    if (i > 0 && key <= inner.separators[i - 1]->view()) return Malformed("order of separators");
    inner.SetSeparator(static_cast<int>(i), SharedKey::Make(key));
  }
  if (cursor.rest().size() != children * (kHashSize + kRecordKeySize))
    return Malformed("size of an inner node");
  for (size_t i = 0; i < children; ++i) {
    inner.children[i].record =
        ToRecordKey(cursor.rest().substr(i * kRecordKeySize, kRecordKeySize));
    if (inner.children[i].record.version <= 0) return Malformed("key of a child");
    inner.children[i].hash =
        ToHash(cursor.rest().substr(children * kRecordKeySize + i * kHashSize, kHashSize));
  }
  return node;
}

}  // namespace

std::string KeyOf(char type, RecordKey key) {
  std::string out(1, type);
  AppendRecordKey(key, &out);
  return out;
}

std::string KeyOf(char type, int64_t version) {
  std::string out(1, type);
  AppendBigEndian(static_cast<uint64_t>(version), 8, &out);
  return out;
}

std::optional<int64_t> VersionOfRootKey(std::string_view key) {
  if (key.size() != 9 || key[0] != kRootRecord) return std::nullopt;
  return static_cast<int64_t>(ReadBigEndian(key.substr(1)));
}

void SealNode(const Node& node, std::string* record) {
  record->clear();
  if (node.is_leaf()) {
    const LeafNode& leaf = *node.leaf();
    record->push_back(static_cast<char>(kLeafType));
    AppendUvarint(leaf.count, record);
    for (size_t i = 0; i < leaf.count; ++i) {
      AppendUvarint(leaf.entries[i]->key_size, record);
      record->append(leaf.entries[i]->key());
    }
    for (size_t i = 0; i < leaf.count; ++i) AppendHash(leaf.entries[i]->ValueHash(), record);
    for (size_t i = 0; i < leaf.count; ++i) AppendRecordKey(leaf.entries[i]->value_key, record);
  } else {
    const InnerNode& inner = *node.inner();
    record->push_back(static_cast<char>(kInnerType));
    AppendUvarint(static_cast<uint64_t>(inner.separator_count()), record);
    for (size_t i = 0; i < inner.count; ++i) {
      const int64_t size = inner.children[i].size;
      AppendUvarint(static_cast<uint64_t>(size) << 1 ^ static_cast<uint64_t>(size >> 63), record);
    }
    AppendUvarint(inner.height, record);
    for (int i = 0; i < inner.separator_count(); ++i) {
      const SharedKey& separator = *inner.separators[static_cast<size_t>(i)];
      AppendUvarint(separator.size, record);
      record->append(separator.view());
    }
    for (size_t i = 0; i < inner.count; ++i) AppendRecordKey(inner.children[i].record, record);
    for (size_t i = 0; i < inner.count; ++i) AppendHash(inner.children[i].hash, record);
  }
  Seal(record);
}

void SealValue(std::string_view value, std::string* record) {
  record->assign(value);
  Seal(record);
}

void SealRoot(RecordKey root, const Hash& hash, std::string* record) {
  record->clear();
  if (root.version != 0) AppendRecordKey(root, record);
  AppendHash(hash, record);
  Seal(record);
}

void SealOrphans(const std::vector<RecordKey>& values, std::string* record) {
  record->clear();
  AppendUvarint(values.size(), record);
  for (const RecordKey key : values) AppendRecordKey(key, record);
  Seal(record);
}

void SealFast(int64_t version, std::string_view value, std::string* record) {
  record->clear();
  AppendBigEndian(static_cast<uint64_t>(version), 8, record);
  record->append(value);
  Seal(record);
}

void SealVersion(int64_t version, std::string* record) {
  record->clear();
  AppendBigEndian(static_cast<uint64_t>(version), 8, record);
  Seal(record);
}

absl::StatusOr<std::string_view> Unseal(std::string_view record) {
  if (record.size() < kChecksumSize) {
    return absl::DataLossError(
        absl::StrCat("tree record of ", record.size(), " bytes is too short for its checksum"));
  }
  const std::string_view payload = record.substr(0, record.size() - kChecksumSize);
  const auto stored = static_cast<uint32_t>(ReadBigEndian(record.substr(payload.size())));
  const uint32_t actual = Crc32c(payload);
  if (stored != actual) {
    return absl::DataLossError(absl::StrCat("checksum of a tree record is ",
                                            absl::Hex(actual, absl::kZeroPad8), ", stored is ",
                                            absl::Hex(stored, absl::kZeroPad8)));
  }
  return payload;
}

absl::StatusOr<RootRecord> ParseRoot(std::string_view payload) {
  RootRecord record;
  if (payload.size() == kRecordKeySize + kHashSize) {
    record.root = ToRecordKey(payload);
    if (record.root.version <= 0) return Malformed("key of the root");
    payload.remove_prefix(kRecordKeySize);
  }
  if (payload.size() != kHashSize) return Malformed("size of a root");
  record.hash = ToHash(payload);
  return record;
}

absl::StatusOr<std::vector<RecordKey>> ParseOrphans(std::string_view payload) {
  Cursor cursor(payload);
  uint64_t count = 0;
  if (!cursor.Uvarint(&count) || cursor.rest().size() % kRecordKeySize != 0 ||
      cursor.rest().size() / kRecordKeySize != count) {
    return Malformed("list of orphans");
  }
  std::vector<RecordKey> values;
  values.reserve(static_cast<size_t>(count));
  for (size_t i = 0; i < count; ++i) {
    values.push_back(ToRecordKey(cursor.rest().substr(i * kRecordKeySize, kRecordKeySize)));
  }
  return values;
}

absl::StatusOr<Ref<Node>> ParseNode(RecordKey key, std::string_view payload,
                                    std::optional<int> height) {
  if (payload.empty()) return Malformed("no type");
  const auto type = static_cast<uint8_t>(payload[0]);
  const Cursor cursor(payload.substr(1));
  absl::StatusOr<Ref<Node>> node;
  if (type == kLeafType) {
    node = ParseLeaf(cursor);
  } else if (type == kInnerType) {
    node = ParseInner(cursor);
  } else {
    return Malformed(absl::StrCat("type ", type));
  }
  if (!node.ok()) return node;
  if (height.has_value() && (*node)->height != *height) return Malformed("height of a child");
  if ((*node)->count == 0) return Malformed("a node without keys");
  (*node)->record = key;
  return node;
}

}  // namespace blockreplay::storage::bptree
