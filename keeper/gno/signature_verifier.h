#pragma once

#include <string_view>

#include "keeper/gno/pub_key.h"

namespace blockreplay::keeper::gno {

// VerifySignature in another way: by remembering, or on other threads. The answer is the same, and
// so is what it throws.
class SignatureVerifier {
 public:
  virtual ~SignatureVerifier() = default;
  virtual bool Verify(const PubKey& key, std::string_view message, std::string_view signature) = 0;
};

}  // namespace blockreplay::keeper::gno
