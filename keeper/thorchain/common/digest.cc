#include "keeper/thorchain/common/digest.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace blockreplay::keeper::thorchain {
namespace {

std::string EvpDigest(const char* name, std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, name, nullptr);
  if (algorithm == nullptr ||
      EVP_Digest(data.data(), data.size(), digest.data(), &size, algorithm, nullptr) != 1) {
    std::fprintf(stderr, "OpenSSL cannot compute %s\n", name);
    std::abort();
  }
  EVP_MD_free(algorithm);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

// Keccak-f[1600], https://keccak.team/keccak_specs_summary.html. OpenSSL 3.0 has SHA-3 only, whose
// padding differs.
using KeccakState = std::array<uint64_t, 25>;

constexpr std::array<uint64_t, 24> kKeccakRoundConstants{
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
    0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
    0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
    0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

// Rotation of lane x + 5y.
constexpr std::array<int, 25> kKeccakRotations{0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                                               25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};

void KeccakPermute(KeccakState& a) {
  for (const uint64_t round_constant : kKeccakRoundConstants) {
    std::array<uint64_t, 5> parity;
    for (size_t x = 0; x < 5; ++x) {
      parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    }
    for (size_t x = 0; x < 5; ++x) {
      const uint64_t d = parity[(x + 4) % 5] ^ std::rotl(parity[(x + 1) % 5], 1);
      for (size_t y = 0; y < 5; ++y) a[x + 5 * y] ^= d;
    }
    KeccakState b;
    for (size_t x = 0; x < 5; ++x) {
      for (size_t y = 0; y < 5; ++y) {
        const size_t from = x + 5 * y;
        b[y + 5 * ((2 * x + 3 * y) % 5)] = std::rotl(a[from], kKeccakRotations[from]);
      }
    }
    for (size_t y = 0; y < 5; ++y) {
      for (size_t x = 0; x < 5; ++x) {
        a[x + 5 * y] = b[x + 5 * y] ^ (~b[(x + 1) % 5 + 5 * y] & b[(x + 2) % 5 + 5 * y]);
      }
    }
    a[0] ^= round_constant;
  }
}

// BLAKE2b of RFC 7693, 32-byte output without a key: OpenSSL 3.0 offers the 64-byte output only.
constexpr std::array<uint64_t, 8> kBlakeInitial{
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::array<std::array<uint8_t, 16>, 10> kBlakeSchedule{{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

void BlakeCompress(std::array<uint64_t, 8>& h, const unsigned char* block, uint64_t count,
                   bool last) {
  std::array<uint64_t, 16> m;
  std::memcpy(m.data(), block, sizeof m);
  std::array<uint64_t, 16> v;
  for (size_t i = 0; i < 8; ++i) {
    v[i] = h[i];
    v[i + 8] = kBlakeInitial[i];
  }
  v[12] ^= count;
  if (last) v[14] = ~v[14];
  const auto mix = [&v](size_t a, size_t b, size_t c, size_t d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
  };
  for (size_t round = 0; round < 12; ++round) {
    const auto& s = kBlakeSchedule[round % kBlakeSchedule.size()];
    for (size_t i = 0; i < 4; ++i) {
      mix(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
    }
    for (size_t i = 0; i < 4; ++i) {
      mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
  }
  for (size_t i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
}

static_assert(std::endian::native == std::endian::little, "lanes are copied as little-endian");

}  // namespace

std::string Sha256(std::string_view data) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

std::string Ripemd160(std::string_view data) { return EvpDigest("RIPEMD160", data); }

std::string Keccak256(std::string_view data) {
  constexpr size_t kRate = 136;
  KeccakState state{};
  std::array<unsigned char, kRate> block;
  const auto absorb = [&] {
    for (size_t lane = 0; lane < kRate / 8; ++lane) {
      uint64_t value;
      std::memcpy(&value, block.data() + 8 * lane, 8);
      state[lane] ^= value;
    }
    KeccakPermute(state);
  };
  while (data.size() >= kRate) {
    std::memcpy(block.data(), data.data(), kRate);
    data.remove_prefix(kRate);
    absorb();
  }
  block.fill(0);
  std::memcpy(block.data(), data.data(), data.size());
  block[data.size()] = 0x01;
  block[kRate - 1] |= 0x80;
  absorb();
  return {reinterpret_cast<const char*>(state.data()), 32};
}

std::string Blake2b256(std::string_view data) {
  constexpr size_t kBlock = 128;
  std::array<uint64_t, 8> h = kBlakeInitial;
  h[0] ^= 0x01010000 ^ 32;
  uint64_t count = 0;
  std::array<unsigned char, kBlock> block;
  while (data.size() > kBlock) {
    std::memcpy(block.data(), data.data(), kBlock);
    data.remove_prefix(kBlock);
    count += kBlock;
    BlakeCompress(h, block.data(), count, false);
  }
  block.fill(0);
  std::memcpy(block.data(), data.data(), data.size());
  count += data.size();
  BlakeCompress(h, block.data(), count, true);
  return {reinterpret_cast<const char*>(h.data()), 32};
}

std::string Checksum4(std::string_view data) { return Sha256(Sha256(data)).substr(0, 4); }

namespace {

std::string Hex(std::string_view bytes, std::string_view digits) {
  std::string result;
  result.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    result += digits[byte >> 4];
    result += digits[byte & 15];
  }
  return result;
}

unsigned HexValue(char digit) {
  return digit <= '9' ? static_cast<unsigned>(digit - '0')
                      : static_cast<unsigned>(digit | 0x20) - 'a' + 10;
}

}  // namespace

std::string UpperHex(std::string_view bytes) { return Hex(bytes, "0123456789ABCDEF"); }
std::string LowerHex(std::string_view bytes) { return Hex(bytes, "0123456789abcdef"); }

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

std::string HexToBytes(std::string_view digits) {
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(HexValue(digits[i]) << 4 | HexValue(digits[i + 1]));
  }
  return bytes;
}

}  // namespace blockreplay::keeper::thorchain
