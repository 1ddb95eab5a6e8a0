#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/hash/hash.h"

namespace blockreplay::keeper::gno {

// 20 bytes; on the wire the bech32 string with the prefix "g" (tm2/pkg/crypto).
struct Address {
  std::array<uint8_t, 20> bytes{};

  static constexpr size_t kTextSize = 40;

  // What the original accepts: lower or upper case, the checksum of bech32 or of bech32m.
  static std::optional<Address> FromBech32(std::string_view text);
  // As a field of a message: the empty string is the zero address.
  static std::optional<Address> FromField(std::string_view text);

  // Writes kTextSize characters.
  void ToBech32(char* out) const;
  std::string ToString() const;
  bool is_zero() const { return *this == Address{}; }
  std::string_view view() const { return {reinterpret_cast<const char*>(bytes.data()), 20}; }

  friend bool operator==(const Address&, const Address&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Address& address) {
    return H::combine_contiguous(std::move(state), address.bytes.data(), address.bytes.size());
  }
};

// Of any payload with any prefix.
std::string ToBech32(std::string_view prefix, std::string_view payload);

}  // namespace blockreplay::keeper::gno
