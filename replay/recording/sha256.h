#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace blockreplay::replay {

using Sha256Digest = std::array<uint8_t, 32>;

// Incremental SHA-256. Not thread-safe. Running out of memory aborts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes);
  // The digest of what was given so far; the object starts anew.
  Sha256Digest Finish();

 private:
  void* context_;  // EVP_MD_CTX
};

Sha256Digest Sha256Of(std::string_view bytes);
std::string HexOf(const Sha256Digest& digest);
// The bytes themselves, as messages have them.
std::string RawOf(const Sha256Digest& digest);

// SHA-256 of a whole file, read in pieces.
absl::StatusOr<Sha256Digest> Sha256OfFile(const std::string& path);

}  // namespace blockreplay::replay
