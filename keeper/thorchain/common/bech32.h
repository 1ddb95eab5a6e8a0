#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Bech32 (BIP-173) and bech32m (BIP-350).
namespace blockreplay::keeper::thorchain {

enum class Bech32Checksum : uint8_t { kBech32, kBech32m };

struct Bech32Text {
  std::string prefix;  // human-readable part, lower case
  std::string data;    // one byte per five bits, without the checksum
  Bech32Checksum checksum;
};

// The limit of BIP-173. cosmos-sdk accepts up to 1023 characters.
inline constexpr size_t kBech32MaxLength = 90;
inline constexpr size_t kCosmosBech32MaxLength = 1023;

// Decodes either form. Nothing if the text isn't one.
absl::StatusOr<Bech32Text> DecodeBech32(std::string_view text, size_t max_length);

// Decodes bech32 as cosmos-sdk v0.53 does, to bytes. The status message is that library's.
struct CosmosBech32 {
  std::string prefix;
  std::string bytes;
};
absl::StatusOr<CosmosBech32> DecodeCosmosBech32(std::string_view text);

// `data` holds one byte per five bits.
std::string EncodeBech32(std::string_view prefix, std::string_view data,
                         Bech32Checksum checksum = Bech32Checksum::kBech32);
std::string EncodeBech32Bytes(std::string_view prefix, std::string_view bytes);

// Regroups bits, padding the last group with zeros.
std::string BytesToGroups(std::string_view bytes);
// The reverse; fails on a group above 31, on more than four left-over bits or any that isn't zero.
absl::StatusOr<std::string> GroupsToBytes(std::string_view groups);

}  // namespace blockreplay::keeper::thorchain
