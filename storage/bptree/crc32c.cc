#include "storage/bptree/crc32c.h"

#include <array>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace blockreplay::storage::bptree {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

uint32_t Portable(uint32_t crc, const char* p, size_t size) {
  static constexpr std::array<uint32_t, 256> kTable = MakeTable();
  for (size_t i = 0; i < size; ++i) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(p[i])) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t Hardware(uint32_t crc, const char* p, size_t size) {
  uint64_t wide = crc;
  for (; size >= 8; p += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; size > 0; ++p, --size) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return crc;
}
#endif

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~Hardware(~uint32_t{0}, bytes.data(), bytes.size());
#endif
  return ~Portable(~uint32_t{0}, bytes.data(), bytes.size());
}

}  // namespace blockreplay::storage::bptree
