#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "keeper/gno/pub_key.h"
#include "keeper/gno/signature_verifier.h"
#include "storage/commit_tree.h"

namespace blockreplay::keeper::gno {

// Remembers signatures that were found valid. Whether a signature is valid is a pure function of
// the key, the message and the signature, and the cache is looked up by the SHA-256 of all three,
// so a node that uses it decides as one that doesn't: a recheck after a commit builds the sign
// bytes anew, from the account's sequence as it is then, and hits only if nothing it signs has
// changed. Only successes are kept, so that nobody fills it without a valid signature.
//
// Not thread-safe, except that several threads may call Contains while none calls anything else.
class SignatureCache final : public SignatureVerifier {
 public:
  explicit SignatureCache(size_t capacity) : capacity_(capacity) {}

  // VerifySignature, with the cache in front.
  bool Verify(const PubKey& key, std::string_view message, std::string_view signature) override;

  // What it is looked up by.
  static storage::Hash Digest(const PubKey& key, std::string_view message,
                              std::string_view signature);
  bool Contains(const storage::Hash& digest) const {
    return current_.contains(digest) || previous_.contains(digest);
  }
  // The signature must have been found valid.
  void Insert(const storage::Hash& digest);
  size_t size() const { return current_.size() + previous_.size(); }

 private:
  struct FirstBytes {
    size_t operator()(const storage::Hash& hash) const {
      size_t value;
      __builtin_memcpy(&value, hash.data(), sizeof(value));
      return value;
    }
  };
  using Set = absl::flat_hash_set<storage::Hash, FirstBytes>;

  const size_t capacity_;
  // When `current_` is full it takes the place of `previous_`: the oldest half is forgotten.
  Set current_;
  Set previous_;
};

}  // namespace blockreplay::keeper::gno
