#include "keeper/gno/signature_cache.h"

#include <string>
#include <utility>

#include "storage/sha256.h"

namespace blockreplay::keeper::gno {

bool SignatureCache::Verify(const PubKey& key, std::string_view message,
                            std::string_view signature) {
  // Lengths keep the three apart.
  thread_local std::string buffer;
  const uint64_t sizes[2] = {key.any.size(), message.size()};
  buffer.assign(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  buffer.append(key.any).append(message).append(signature);
  const storage::Hash hash = storage::Sha256(std::string_view(buffer));
  if (current_.contains(hash) || previous_.contains(hash)) return true;
  if (!VerifySignature(key, message, signature)) return false;
  if (current_.size() >= capacity_ / 2) {
    std::swap(current_, previous_);
    current_.clear();
  }
  current_.insert(hash);
  return true;
}

}  // namespace blockreplay::keeper::gno
