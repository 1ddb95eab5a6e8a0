#include "keeper/thorchain/common/cash_address.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t kChecksumSize = 8;
constexpr size_t kHashSize = 20;
constexpr char kScriptType = 0x08;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

uint64_t Polymod(std::string_view prefix, std::string_view groups, size_t extra_zeros) {
  constexpr std::array<uint64_t, 5> kGenerator{0x98f2bc8e61, 0x79b76d99e2, 0xf33e5fb3c4,
                                               0xae2eabe2a8, 0x1e4f43e470};
  uint64_t checksum = 1;
  const auto step = [&](uint64_t value) {
    const uint64_t top = checksum >> 35;
    checksum = (checksum & 0x07ffffffff) << 5 ^ value;
    for (size_t i = 0; i < kGenerator.size(); ++i) {
      if ((top >> i & 1) != 0) checksum ^= kGenerator[i];
    }
  };
  for (const char c : prefix) step(static_cast<unsigned char>(c) & 0x1f);
  step(0);
  for (const char group : groups) step(static_cast<unsigned char>(group));
  for (size_t i = 0; i < extra_zeros; ++i) step(0);
  return checksum ^ 1;
}

}  // namespace

std::optional<CashAddress> DecodeCashAddress(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size() + 2) return std::nullopt;
  std::string_view payload = text;
  const std::string_view start = text.substr(0, prefix.size());
  if (ToLower(start) == prefix && text[prefix.size()] == ':') {
    const bool lower = std::any_of(text.begin(), text.end(), IsLower);
    const bool upper = std::any_of(text.begin(), text.end(), IsUpper);
    if (lower && upper) return std::nullopt;
    payload.remove_prefix(prefix.size() + 1);
  }
  std::string groups;
  for (const char c : payload) {
    const size_t value = kCharset.find(IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c);
    if (value == std::string_view::npos) return std::nullopt;
    groups += static_cast<char>(value);
  }
  if (groups.size() < kChecksumSize || Polymod(prefix, groups, 0) != 0) return std::nullopt;
  groups.resize(groups.size() - kChecksumSize);
  const absl::StatusOr<std::string> bytes = GroupsToBytes(groups);
  if (!bytes.ok() || bytes->size() != 1 + kHashSize) return std::nullopt;
  return CashAddress{.is_script = (*bytes)[0] == kScriptType, .hash = bytes->substr(1)};
}

std::string EncodeCashAddress(const CashAddress& address, std::string_view prefix) {
  const std::string bytes =
      StrCat(std::string(1, address.is_script ? kScriptType : '\0'), address.hash);
  const std::string groups = BytesToGroups(bytes);
  std::string text;
  for (const char group : groups) text += kCharset[static_cast<size_t>(group)];
  const uint64_t checksum = Polymod(prefix, groups, kChecksumSize);
  for (size_t i = 0; i < kChecksumSize; ++i) {
    text += kCharset[checksum >> (5 * (kChecksumSize - 1 - i)) & 0x1f];
  }
  return text;
}

}  // namespace blockreplay::keeper::thorchain
