#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockreplay::keeper::thorchain {

// A semantic version 2.0.0, as the node's library reads it (github.com/blang/semver v3): three
// numbers without leading zeros, and optional parts after '-' and '+'.
struct SemVer {
  uint64_t major_number = 0;
  uint64_t minor_number = 0;
  uint64_t patch_number = 0;
  std::vector<std::string> pre_release;
  std::vector<std::string> build;

  static std::optional<SemVer> Parse(std::string_view text);
  // What an account without a version, or with a malformed one, counts as.
  static SemVer ParseOrZero(std::string_view text) { return Parse(text).value_or(SemVer()); }

  std::string ToString() const;
  bool IsZero() const { return *this == SemVer(); }

  // Precedence: the build does not count; a pre-release comes before its release.
  friend std::strong_ordering operator<=>(const SemVer& a, const SemVer& b);
  friend bool operator==(const SemVer& a, const SemVer& b) { return (a <=> b) == 0; }
};

}  // namespace blockreplay::keeper::thorchain
