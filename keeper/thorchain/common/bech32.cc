#include "keeper/thorchain/common/bech32.h"

#include <array>
#include <optional>

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kCharset = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t kChecksumSize = 6;
constexpr uint32_t kBech32Constant = 1;
constexpr uint32_t kBech32mConstant = 0x2bc830a3;

constexpr std::array<int8_t, 128> kCharsetIndex = [] {
  std::array<int8_t, 128> index{};
  for (int8_t& entry : index) entry = -1;
  for (size_t i = 0; i < kCharset.size(); ++i) {
    index[static_cast<size_t>(kCharset[i])] = static_cast<int8_t>(i);
  }
  return index;
}();

constexpr uint32_t Step(uint32_t checksum, uint32_t value) {
  constexpr std::array<uint32_t, 5> kGenerator{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                               0x2a1462b3};
  const uint32_t top = checksum >> 25;
  checksum = (checksum & 0x1ffffff) << 5 ^ value;
  for (size_t i = 0; i < kGenerator.size(); ++i) {
    if ((top >> i & 1) != 0) checksum ^= kGenerator[i];
  }
  return checksum;
}

uint32_t Polymod(std::string_view prefix, std::string_view data) {
  uint32_t checksum = 1;
  for (const char c : prefix) checksum = Step(checksum, static_cast<unsigned char>(c) >> 5);
  checksum = Step(checksum, 0);
  for (const char c : prefix) checksum = Step(checksum, static_cast<unsigned char>(c) & 31);
  for (const char c : data) checksum = Step(checksum, static_cast<unsigned char>(c));
  return checksum;
}

uint32_t ConstantOf(Bech32Checksum checksum) {
  return checksum == Bech32Checksum::kBech32 ? kBech32Constant : kBech32mConstant;
}

std::string ChecksumText(std::string_view prefix, std::string_view data, Bech32Checksum checksum) {
  uint32_t polymod = Polymod(prefix, data);
  for (size_t i = 0; i < kChecksumSize; ++i) polymod = Step(polymod, 0);
  polymod ^= ConstantOf(checksum);
  std::string text;
  for (size_t i = 0; i < kChecksumSize; ++i) {
    text += kCharset[polymod >> (5 * (kChecksumSize - 1 - i)) & 31];
  }
  return text;
}

// What is common to all decoders: the data still has the checksum. Messages are those of
// github.com/cosmos/btcutil v1.0.5.
absl::StatusOr<Bech32Text> Separate(std::string_view text, size_t max_length) {
  if (text.size() > max_length || text.size() < 8) {
    return Error("invalid bech32 string length ", text.size());
  }
  bool has_lower = false;
  bool has_upper = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 33 || byte > 126) {
      return Error("invalid character in string: '", RuneText(byte), "'");
    }
    has_lower = has_lower || (c >= 'a' && c <= 'z');
    has_upper = has_upper || (c >= 'A' && c <= 'Z');
    if (has_lower && has_upper) return Error("string not all lowercase or all uppercase");
  }
  const std::string lower = ToLower(text);
  const size_t separator = lower.rfind('1');
  if (separator == std::string::npos || separator == 0 ||
      separator + 1 + kChecksumSize > lower.size()) {
    const int64_t index = separator == std::string::npos ? -1 : static_cast<int64_t>(separator);
    return Error("invalid separator index ", index);
  }
  Bech32Text result;
  result.prefix = lower.substr(0, separator);
  result.data.reserve(lower.size() - separator - 1);
  for (const char c : std::string_view(lower).substr(separator + 1)) {
    const int8_t value = kCharsetIndex[static_cast<size_t>(c)];
    if (value < 0) {
      return Error("invalid character not part of charset: ", static_cast<int>(c));
    }
    result.data += static_cast<char>(value);
  }
  return result;
}

}  // namespace

absl::StatusOr<Bech32Text> DecodeBech32(std::string_view text, size_t max_length) {
  absl::StatusOr<Bech32Text> result = Separate(text, max_length);
  if (!result.ok()) return result;
  const uint32_t polymod = Polymod(result->prefix, result->data);
  if (polymod != kBech32Constant && polymod != kBech32mConstant) return Error("invalid checksum");
  result->checksum =
      polymod == kBech32Constant ? Bech32Checksum::kBech32 : Bech32Checksum::kBech32m;
  result->data.resize(result->data.size() - kChecksumSize);
  return result;
}

absl::StatusOr<CosmosBech32> DecodeCosmosBech32(std::string_view text) {
  const auto error = [](std::string_view cause) {
    return Error("decoding bech32 failed: ", cause);
  };
  absl::StatusOr<Bech32Text> decoded = Separate(text, kCosmosBech32MaxLength);
  if (!decoded.ok()) return error(ErrorText(decoded));
  const uint32_t polymod = Polymod(decoded->prefix, decoded->data);
  decoded->data.resize(decoded->data.size() - kChecksumSize);
  if (polymod != kBech32Constant) {
    const std::string expected =
        ChecksumText(decoded->prefix, decoded->data, Bech32Checksum::kBech32);
    const std::string actual = ToLower(text.substr(text.size() - kChecksumSize));
    return error(StrCat("invalid checksum (expected ", expected, " got ", actual, ")"));
  }
  absl::StatusOr<std::string> bytes = GroupsToBytes(decoded->data);
  if (!bytes.ok()) return error(ErrorText(bytes));
  return CosmosBech32{std::move(decoded->prefix), *std::move(bytes)};
}

std::string EncodeBech32(std::string_view prefix, std::string_view data, Bech32Checksum checksum) {
  const std::string lower = ToLower(prefix);
  std::string text;
  text.reserve(lower.size() + 1 + data.size() + kChecksumSize);
  text += lower;
  text += '1';
  for (const char group : data) text += kCharset[static_cast<unsigned char>(group) & 31];
  text += ChecksumText(lower, data, checksum);
  return text;
}

std::string EncodeBech32Bytes(std::string_view prefix, std::string_view bytes) {
  return EncodeBech32(prefix, BytesToGroups(bytes));
}

std::string BytesToGroups(std::string_view bytes) {
  std::string groups;
  groups.reserve((bytes.size() * 8 + 4) / 5);
  uint32_t pending = 0;
  unsigned bits = 0;
  for (const char c : bytes) {
    pending = (pending << 8 | static_cast<unsigned char>(c)) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      groups += static_cast<char>(pending >> bits & 31);
    }
  }
  if (bits > 0) groups += static_cast<char>(pending << (5 - bits) & 31);
  return groups;
}

absl::StatusOr<std::string> GroupsToBytes(std::string_view groups) {
  std::string bytes;
  bytes.reserve(groups.size() * 5 / 8);
  uint32_t pending = 0;
  unsigned bits = 0;
  for (const char c : groups) {
    const auto group = static_cast<unsigned char>(c);
    if (group > 31) return Error("invalid incomplete group");
    pending = (pending << 5 | group) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(pending >> bits & 0xff);
    }
  }
  if (bits > 4 || (pending & ((1U << bits) - 1)) != 0) return Error("invalid incomplete group");
  return bytes;
}

}  // namespace blockreplay::keeper::thorchain
