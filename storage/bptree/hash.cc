#include "storage/bptree/hash.h"

#include <cstring>
#include <string>

#include "storage/sha256.h"

namespace blockreplay::storage::bptree {
namespace {

constexpr uint8_t kLeafDomain = 0x00;
constexpr uint8_t kPairDomain = 0x01;
constexpr char kEmptyDomain = 0x02;
constexpr size_t kHashSize = std::tuple_size_v<Hash>;

size_t PutUvarint(uint64_t value, uint8_t* out) {
  size_t n = 0;
  for (; value >= 0x80; value >>= 7) out[n++] = static_cast<uint8_t>(value | 0x80);
  out[n++] = static_cast<uint8_t>(value);
  return n;
}

// Writes what is hashed for a slot; `out` has room for the key and 44 bytes more.
size_t PutLeafSlot(std::string_view key, const Hash& value_hash, uint8_t* out) {
  uint8_t* to = out;
  *to++ = kLeafDomain;
  to += PutUvarint(key.size(), to);
  std::memcpy(to, key.data(), key.size());
  to += key.size();
  *to++ = kHashSize;
  std::memcpy(to, value_hash.data(), kHashSize);
  return static_cast<size_t>(to - out) + kHashSize;
}

}  // namespace

const Hash& EmptyTreeHash() {
  static const Hash hash = Sha256(std::string_view());
  return hash;
}

const Hash& EmptySlotHash() {
  static const Hash hash = Sha256(std::string_view(&kEmptyDomain, 1));
  return hash;
}

Hash LeafSlotHash(std::string_view key, const Hash& value_hash) {
  constexpr size_t kAround = 44;
  Hash hash;
  if (key.size() + kAround <= ShortMessage::kCapacity) {
    ShortMessage message;
    message.Finish(PutLeafSlot(key, value_hash, message.data()), hash.data());
  } else {
    std::string buffer(key.size() + kAround, '\0');
    buffer.resize(PutLeafSlot(key, value_hash, reinterpret_cast<uint8_t*>(buffer.data())));
    Sha256(buffer, hash.data());
  }
  return hash;
}

Hash PairHash(const Hash& left, const Hash& right) {
  ShortMessage message;
  message.data()[0] = kPairDomain;
  std::memcpy(message.data() + 1, left.data(), kHashSize);
  std::memcpy(message.data() + 1 + kHashSize, right.data(), kHashSize);
  Hash hash;
  message.Finish(1 + 2 * kHashSize, hash.data());
  return hash;
}

}  // namespace blockreplay::storage::bptree
