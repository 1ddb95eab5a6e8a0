#include "keeper/gno/signature_cache.h"

#include <string>
#include <utility>

#include "storage/sha256.h"

namespace blockreplay::keeper::gno {

storage::Hash SignatureCache::Digest(const PubKey& key, std::string_view message,
                                     std::string_view signature) {
  // Lengths keep the three apart.
  thread_local std::string buffer;
  const uint64_t sizes[2] = {key.any.size(), message.size()};
  buffer.assign(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  buffer.append(key.any).append(message).append(signature);
  return storage::Sha256(std::string_view(buffer));
}

void SignatureCache::Insert(const storage::Hash& digest) {
  if (Contains(digest)) return;
  if (current_.size() >= capacity_ / 2) {
    std::swap(current_, previous_);
    current_.clear();
  }
  current_.insert(digest);
}

bool SignatureCache::Verify(const PubKey& key, std::string_view message,
                            std::string_view signature) {
  const storage::Hash digest = Digest(key, message, signature);
  if (Contains(digest)) return true;
  if (!VerifySignature(key, message, signature)) return false;
  Insert(digest);
  return true;
}

}  // namespace blockreplay::keeper::gno
