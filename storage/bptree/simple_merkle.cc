#include "storage/bptree/simple_merkle.h"

#include <bit>
#include <cstring>

#include "storage/bptree/hash.h"
#include "storage/sha256.h"

namespace blockreplay::storage::bptree {
namespace {

Hash HashRange(const std::vector<std::string>& leaves, size_t begin, size_t end) {
  const size_t count = end - begin;
  if (count == 1) {
    std::string leaf(1, '\0');
    leaf.append(leaves[begin]);
    return Sha256(std::string_view(leaf));
  }
  // The left part is the largest power of two below the whole.
  const size_t left = std::bit_floor(count - 1);
  return PairHash(HashRange(leaves, begin, begin + left), HashRange(leaves, begin + left, end));
}

void AppendLengthPrefixed(std::string_view bytes, std::string* out) {
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) out->push_back(static_cast<char>(size | 0x80));
  out->push_back(static_cast<char>(size));
  out->append(bytes);
}

}  // namespace

std::optional<Hash> SimpleHash(const std::vector<std::string>& leaves) {
  if (leaves.empty()) return std::nullopt;
  return HashRange(leaves, 0, leaves.size());
}

std::optional<Hash> SimpleMapHash(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::vector<std::string> leaves;
  leaves.reserve(entries.size());
  for (const auto& [name, value] : entries) {
    const Hash hash = Sha256(std::string_view(value));
    std::string leaf;
    AppendLengthPrefixed(name, &leaf);
    AppendLengthPrefixed({reinterpret_cast<const char*>(hash.data()), hash.size()}, &leaf);
    leaves.push_back(std::move(leaf));
  }
  return SimpleHash(leaves);
}

}  // namespace blockreplay::storage::bptree
