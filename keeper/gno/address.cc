#include "keeper/gno/address.h"

#include <algorithm>
#include <cstring>

namespace blockreplay::keeper::gno {
namespace {

constexpr char kCharset[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr uint32_t kBech32 = 1;
constexpr uint32_t kBech32m = 0x2bc830a3;
constexpr uint8_t kInvalid = 0xff;

constexpr std::array<uint8_t, 256> MakeReverse() {
  std::array<uint8_t, 256> reverse{};
  for (auto& value : reverse) value = kInvalid;
  for (uint8_t i = 0; i < 32; ++i) reverse[static_cast<uint8_t>(kCharset[i])] = i;
  return reverse;
}
constexpr std::array<uint8_t, 256> kReverse = MakeReverse();

// What the five bits that leave the register feed back into it.
constexpr std::array<uint32_t, 32> MakeFeedback() {
  constexpr uint32_t kGenerator[5] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  std::array<uint32_t, 32> feedback{};
  for (uint32_t top = 0; top < 32; ++top) {
    for (uint32_t bit = 0; bit < 5; ++bit) {
      if ((top >> bit & 1) != 0) feedback[top] ^= kGenerator[bit];
    }
  }
  return feedback;
}
constexpr std::array<uint32_t, 32> kFeedback = MakeFeedback();

constexpr uint32_t Step(uint32_t state, uint32_t value) {
  return ((state & 0x1ffffff) << 5 ^ value) ^ kFeedback[state >> 25];
}

constexpr uint32_t StepPrefix(uint32_t state, std::string_view prefix) {
  for (const char c : prefix) state = Step(state, static_cast<uint8_t>(c) >> 5);
  state = Step(state, 0);
  for (const char c : prefix) state = Step(state, static_cast<uint8_t>(c) & 31);
  return state;
}
// The state after the prefix "g".
constexpr uint32_t kAddressState = StepPrefix(1, "g");

void PutChecksum(uint32_t state, char* out) {
  for (int i = 0; i < 6; ++i) state = Step(state, 0);
  state ^= kBech32;
  for (int i = 0; i < 6; ++i) out[i] = kCharset[state >> (5 * (5 - i)) & 31];
}

}  // namespace

std::optional<Address> Address::FromBech32(std::string_view text) {
  // 160 bits are 32 characters exactly; the prefix, the separator and the checksum make 40.
  if (text.size() != kTextSize) return std::nullopt;
  char lowered[kTextSize];
  if (text[0] == 'G') {
    for (size_t i = 0; i < kTextSize; ++i) {
      const char c = text[i];
      if (c >= 'a' && c <= 'z') return std::nullopt;
      lowered[i] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
    text = std::string_view(lowered, kTextSize);
  }
  if (text[0] != 'g' || text[1] != '1') return std::nullopt;
  uint32_t state = kAddressState;
  uint8_t values[38];
  for (size_t i = 0; i < 38; ++i) {
    const uint8_t value = kReverse[static_cast<uint8_t>(text[i + 2])];
    if (value == kInvalid) return std::nullopt;
    values[i] = value;
    state = Step(state, value);
  }
  if (state != kBech32 && state != kBech32m) return std::nullopt;
  Address address;
  for (size_t group = 0; group < 4; ++group) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) bits = bits << 5 | values[8 * group + i];
    for (size_t i = 0; i < 5; ++i)
      address.bytes[5 * group + i] = static_cast<uint8_t>(bits >> (8 * (4 - i)));
  }
  return address;
}

std::optional<Address> Address::FromField(std::string_view text) {
  if (text.empty()) return Address{};
  return FromBech32(text);
}

void Address::ToBech32(char* out) const {
  out[0] = 'g';
  out[1] = '1';
  uint32_t state = kAddressState;
  for (size_t group = 0; group < 4; ++group) {
    uint64_t bits = 0;
    for (size_t i = 0; i < 5; ++i) bits = bits << 8 | bytes[5 * group + i];
    for (size_t i = 0; i < 8; ++i) {
      const uint32_t value = static_cast<uint32_t>(bits >> (5 * (7 - i))) & 31;
      out[2 + 8 * group + i] = kCharset[value];
      state = Step(state, value);
    }
  }
  PutChecksum(state, out + 34);
}

std::string Address::ToString() const {
  std::string text(kTextSize, '\0');
  ToBech32(text.data());
  return text;
}

std::string ToBech32(std::string_view prefix, std::string_view payload) {
  std::string out(prefix);
  out.push_back('1');
  uint32_t state = StepPrefix(1, prefix);
  uint32_t bits = 0;
  int filled = 0;
  const auto put = [&](uint32_t value) {
    out.push_back(kCharset[value & 31]);
    state = Step(state, value & 31);
  };
  for (const char c : payload) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (filled += 8; filled >= 5; filled -= 5) put(bits >> (filled - 5));
  }
  if (filled > 0) put(bits << (5 - filled));
  char checksum[6];
  PutChecksum(state, checksum);
  return out.append(checksum, 6);
}

}  // namespace blockreplay::keeper::gno
