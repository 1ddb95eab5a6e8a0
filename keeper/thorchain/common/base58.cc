#include "keeper/thorchain/common/base58.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/panic.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMaxLength = 256;
constexpr size_t kChecksumSize = 4;

std::string_view Digits(Base58Alphabet alphabet) {
  return alphabet == Base58Alphabet::kBitcoin
             ? "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
             : "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";
}

}  // namespace

void PanicAtWideCharacter(std::string_view text, Base58Alphabet alphabet) {
  constexpr size_t kAtATime = 10;
  const std::string_view digits = Digits(alphabet);
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  for (size_t i = 0; i < text.size(); ++i) {
    if (byte(i) < 0x80) {
      if (digits.find(text[i]) == std::string_view::npos) return;
      continue;
    }
    const bool is_narrow = (byte(i) == 0xc2 || byte(i) == 0xc3) && i % kAtATime + 1 < kAtATime &&
                           i + 1 < text.size() && (byte(i + 1) & 0xc0) == 0x80;
    if (!is_narrow) throw Panic("runtime error: index out of range");
    return;
  }
}

std::string EncodeBase58(std::string_view bytes, Base58Alphabet alphabet) {
  const std::string_view digits = Digits(alphabet);
  const size_t zeros = std::min(bytes.find_first_not_of('\0'), bytes.size());
  std::string reversed;  // digit values, least significant first
  for (const char c : bytes.substr(zeros)) {
    uint32_t carry = static_cast<unsigned char>(c);
    for (char& digit : reversed) {
      carry += static_cast<uint32_t>(digit) * 256;
      digit = static_cast<char>(carry % 58);
      carry /= 58;
    }
    for (; carry != 0; carry /= 58) reversed += static_cast<char>(carry % 58);
  }
  std::string text(zeros, digits[0]);
  for (auto digit = reversed.rbegin(); digit != reversed.rend(); ++digit) {
    text += digits[static_cast<size_t>(*digit)];
  }
  return text;
}

std::optional<std::string> DecodeBase58(std::string_view text, Base58Alphabet alphabet) {
  if (text.empty() || text.size() > kMaxLength) return std::nullopt;
  const std::string_view digits = Digits(alphabet);
  const size_t zeros = std::min(text.find_first_not_of(digits[0]), text.size());
  std::string reversed;  // bytes, least significant first
  for (const char c : text.substr(zeros)) {
    const size_t value = digits.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    auto carry = static_cast<uint32_t>(value);
    for (char& byte : reversed) {
      carry += static_cast<uint32_t>(static_cast<unsigned char>(byte)) * 58;
      byte = static_cast<char>(carry & 0xff);
      carry >>= 8;
    }
    for (; carry != 0; carry >>= 8) reversed += static_cast<char>(carry & 0xff);
  }
  std::string bytes(zeros, '\0');
  bytes.append(reversed.rbegin(), reversed.rend());
  return bytes;
}

std::string EncodeBase58Check(std::string_view bytes, Base58Alphabet alphabet) {
  return EncodeBase58(std::string(bytes) + Checksum4(bytes), alphabet);
}

std::optional<std::string> DecodeBase58Check(std::string_view text, Base58Alphabet alphabet) {
  std::optional<std::string> decoded = DecodeBase58(text, alphabet);
  if (!decoded || decoded->size() <= kChecksumSize) return std::nullopt;
  const size_t size = decoded->size() - kChecksumSize;
  if (Checksum4(std::string_view(*decoded).substr(0, size)) != decoded->substr(size)) {
    return std::nullopt;
  }
  decoded->resize(size);
  return decoded;
}

}  // namespace blockreplay::keeper::thorchain
