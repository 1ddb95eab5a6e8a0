#include "storage/bptree/commit_info.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "storage/bptree/simple_merkle.h"

namespace blockreplay::storage::bptree {
namespace {

constexpr uint8_t kVarint = 0;
constexpr uint8_t kBytes = 2;

void PutUvarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void PutBytes(uint8_t field, std::string_view bytes, std::string* out) {
  if (bytes.empty()) return;
  out->push_back(static_cast<char>(field << 3 | kBytes));
  PutUvarint(bytes.size(), out);
  out->append(bytes);
}

void PutVarint(uint8_t field, int64_t value, std::string* out) {
  if (value == 0) return;
  out->push_back(static_cast<char>(field << 3 | kVarint));
  PutUvarint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63), out);
}

std::string WithLength(std::string_view message) {
  std::string out;
  PutUvarint(message.size(), &out);
  return out.append(message);
}

std::string_view View(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// Fields in ascending order; a field may only repeat if it is `repeated`.
class Reader {
 public:
  explicit Reader(std::string_view bytes, uint8_t repeated = 0)
      : rest_(bytes), repeated_(repeated) {}

  bool Uvarint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return ok_ = false;
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return ok_ = false;
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return ok_ = false;
  }
  bool Next() {
    if (!ok_ || rest_.empty()) return false;
    uint64_t tag = 0;
    if (!Uvarint(&tag)) return false;
    const auto number = static_cast<uint8_t>(tag >> 3);
    if (tag > 0xff || number == 0 || number < field_ || (number == field_ && number != repeated_))
      return ok_ = false;
    field_ = number;
    type_ = tag & 7;
    return true;
  }
  bool Bytes(std::string_view* bytes) {
    uint64_t size = 0;
    if (type_ != kBytes || !Uvarint(&size) || size > rest_.size()) return ok_ = false;
    *bytes = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return true;
  }
  bool Varint(int64_t* value) {
    uint64_t zigzag = 0;
    if (type_ != kVarint || !Uvarint(&zigzag)) return ok_ = false;
    *value = static_cast<int64_t>(zigzag >> 1 ^ -(zigzag & 1));
    return true;
  }
  uint8_t field() const { return field_; }
  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  const uint8_t repeated_;
  uint8_t field_ = 0;
  uint64_t type_ = 0;
  bool ok_ = true;
};

bool WithoutLength(std::string_view bytes, std::string_view* message) {
  Reader reader(bytes);
  uint64_t size = 0;
  if (!reader.Uvarint(&size) || size != reader.rest().size()) return false;
  *message = reader.rest();
  return true;
}

bool DecodeCommitId(std::string_view bytes, int64_t version, CommittedStore* store) {
  Reader reader(bytes);
  int64_t of = 0;
  while (reader.Next()) {
    std::string_view hash;
    if (reader.field() == 1) {
      if (!reader.Varint(&of)) return false;
    } else {
      if (reader.field() != 2 || !reader.Bytes(&hash) || hash.size() != sizeof(Hash)) return false;
      store->root.emplace();
      std::memcpy(store->root->data(), hash.data(), hash.size());
    }
  }
  return reader.ok() && (!store->root.has_value() || of == version);
}

bool DecodeStore(std::string_view bytes, int64_t version, CommittedStore* store) {
  Reader reader(bytes);
  while (reader.Next()) {
    std::string_view field;
    if (reader.field() > 2 || !reader.Bytes(&field)) return false;
    if (reader.field() == 1) {
      store->name = std::string(field);
      continue;
    }
    // A store core: its commit id.
    Reader core(field);
    while (core.Next()) {
      std::string_view id;
      if (core.field() != 1 || !core.Bytes(&id) || !DecodeCommitId(id, version, store))
        return false;
    }
    if (!core.ok()) return false;
  }
  return reader.ok();
}

}  // namespace

Hash AppHash(const std::vector<CommittedStore>& stores) {
  std::vector<std::pair<std::string, std::string>> entries;
  entries.reserve(stores.size());
  for (const CommittedStore& store : stores) {
    entries.emplace_back(store.name,
                         store.root.has_value() ? std::string(View(*store.root)) : std::string());
  }
  std::sort(entries.begin(), entries.end());
  return SimpleMapHash(entries).value_or(Hash{});
}

std::string EncodeCommit(const CommittedVersion& commit) {
  std::string message;
  PutVarint(1, commit.version, &message);
  for (const CommittedStore& store : commit.stores) {
    std::string info;
    PutBytes(1, store.name, &info);
    if (store.root.has_value()) {
      std::string id;
      PutVarint(1, commit.version, &id);
      PutBytes(2, View(*store.root), &id);
      std::string core;
      PutBytes(1, id, &core);
      PutBytes(2, core, &info);
    }
    PutBytes(2, info, &message);
  }
  return WithLength(message);
}

absl::StatusOr<CommittedVersion> DecodeCommit(std::string_view bytes) {
  CommittedVersion commit;
  std::string_view message;
  bool ok = WithoutLength(bytes, &message);
  Reader reader(message, /*repeated=*/2);
  while (ok && reader.Next()) {
    std::string_view store;
    if (reader.field() == 1) {
      ok = reader.Varint(&commit.version);
    } else {
      ok = reader.field() == 2 && reader.Bytes(&store) &&
           DecodeStore(store, commit.version, &commit.stores.emplace_back());
    }
  }
  if (!ok || !reader.ok()) return absl::DataLossError("not a commit info of tm2");
  return commit;
}

std::string EncodeLatest(int64_t version) {
  std::string message;
  PutVarint(1, version, &message);
  return WithLength(message);
}

absl::StatusOr<int64_t> DecodeLatest(std::string_view bytes) {
  int64_t version = 0;
  std::string_view message;
  bool ok = WithoutLength(bytes, &message);
  Reader reader(message);
  while (ok && reader.Next()) ok = reader.field() == 1 && reader.Varint(&version);
  if (!ok || !reader.ok() || version < 0) return absl::DataLossError("not a version of tm2");
  return version;
}

}  // namespace blockreplay::storage::bptree
