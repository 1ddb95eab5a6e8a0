#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace blockreplay::keeper::sdk {

// absl::StrCat for std::string_view, which Debian's Abseil doesn't take. Text and integers.
namespace internal {
inline void AppendPiece(std::string* out, std::string_view text) { out->append(text); }
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>)
void AppendPiece(std::string* out, T number) {
  char digits[24];
  const auto [end, unused] = std::to_chars(digits, digits + sizeof(digits), number);
  out->append(digits, end);
}
}  // namespace internal

template <typename... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::AppendPiece(&out, pieces), ...);
  return out;
}

template <typename... Pieces>
void StrAppend(std::string* out, const Pieces&... pieces) {
  (internal::AppendPiece(out, pieces), ...);
}

}  // namespace blockreplay::keeper::sdk
