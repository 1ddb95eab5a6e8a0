#include "storage/sha256.h"

// The functions below EVP are deprecated, and a few times as fast for messages of one or two
// blocks: EVP fetches the algorithm and allocates a context for every message. This file is the
// only place that uses them.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <cstring>

namespace blockreplay::storage {
namespace {

constexpr size_t kBlock = 64;

void StoreState(const SHA256_CTX& context, uint8_t* out) {
  for (int i = 0; i < 8; ++i) {
    const uint32_t word = __builtin_bswap32(context.h[i]);
    std::memcpy(out + 4 * i, &word, 4);
  }
}

}  // namespace

void ShortMessage::Finish(size_t size, uint8_t* out) {
  const size_t padded = size + 9 <= kBlock ? kBlock : 2 * kBlock;
  block_[size] = 0x80;
  std::memset(block_ + size + 1, 0, padded - size - 1 - 8);
  const uint64_t bits = __builtin_bswap64(static_cast<uint64_t>(size) * 8);
  std::memcpy(block_ + padded - 8, &bits, 8);
  SHA256_CTX context;
  SHA256_Init(&context);
  // Whole blocks go straight to the compression function; the padding is ours, so no Final.
  SHA256_Update(&context, block_, padded);
  StoreState(context, out);
}

void Sha256(std::string_view data, uint8_t* out) {
  if (data.size() <= ShortMessage::kCapacity) {
    ShortMessage message;
    if (!data.empty()) std::memcpy(message.data(), data.data(), data.size());
    message.Finish(data.size(), out);
    return;
  }
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(out, &context);
}

Hash Sha256(std::string_view data) {
  Hash hash;
  Sha256(data, hash.data());
  return hash;
}

}  // namespace blockreplay::storage
