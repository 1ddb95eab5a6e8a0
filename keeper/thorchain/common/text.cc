#include "keeper/thorchain/common/text.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_format.h"

namespace blockreplay::keeper::thorchain {
namespace {

struct Rune {
  char32_t value;  // U+FFFD for bytes that aren't UTF-8
  size_t size;     // bytes taken: 1 for such a byte
  bool valid;
};

// Decodes as Go does: no overlong forms, no surrogates, one byte at a time where it fails.
Rune Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const Rune bad{0xFFFD, 1, false};
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  if (first >= 0xC2 && first <= 0xDF && continues(1)) {
    return {static_cast<char32_t>((first & 0x1FU) << 6 | (byte(1) & 0x3FU)), 2, true};
  }
  if ((first & 0xF0) == 0xE0 && continues(1) && continues(2)) {
    const auto value =
        static_cast<char32_t>((first & 0x0FU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU));
    if (value < 0x800 || (value >= 0xD800 && value <= 0xDFFF)) return bad;
    return {value, 3, true};
  }
  if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    const auto value = static_cast<char32_t>((first & 0x07U) << 18 | (byte(1) & 0x3FU) << 12 |
                                             (byte(2) & 0x3FU) << 6 | (byte(3) & 0x3FU));
    if (value < 0x10000 || value > 0x10FFFF) return bad;
    return {value, 4, true};
  }
  return bad;
}

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

char UpperAscii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

char32_t UpperRune(char32_t rune) {
  if (rune < 0x80) return static_cast<unsigned char>(UpperAscii(static_cast<char>(rune)));
  if (rune == 0x131) return 'I';
  if (rune == 0x17F) return 'S';
  return rune;
}

char32_t LowerRune(char32_t rune) {
  if (rune < 0x80) return static_cast<unsigned char>(LowerAscii(static_cast<char>(rune)));
  if (rune == 0x130) return 'i';
  if (rune == 0x212A) return 'k';
  return rune;
}

template <typename Map>
std::string MapRunes(std::string_view text, Map map) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Rune rune = Decode(text);
    const char32_t mapped = map(rune.value);
    if (!rune.valid) {
      result += kReplacement;  // as strings.Map does
    } else if (mapped != rune.value) {
      result += static_cast<char>(mapped);
    } else {
      result += text.substr(0, rune.size);
    }
    text.remove_prefix(rune.size);
  }
  return result;
}

// The one representative of the letters that fold together, as far as ASCII letters are among them.
char32_t FoldRune(char32_t rune) {
  if (rune == 0x17F) return 's';
  if (rune == 0x212A) return 'k';
  if (rune < 0x80) return static_cast<unsigned char>(LowerAscii(static_cast<char>(rune)));
  return rune;
}

bool IsSpace(char32_t rune) {
  return (rune >= 0x09 && rune <= 0x0D) || rune == ' ' || rune == 0x85 || rune == 0xA0 ||
         rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200A) || rune == 0x2028 || rune == 0x2029 ||
         rune == 0x202F || rune == 0x205F || rune == 0x3000;
}

// strconv.IsPrint, without the blocks that Unicode leaves unassigned.
bool IsPrint(char32_t rune) {
  if (rune < 0x20 || (rune >= 0x7F && rune <= 0xA0) || rune == 0xAD) return false;
  if (rune != ' ' && IsSpace(rune)) return false;
  if (rune >= 0x200B && rune <= 0x200F) return false;
  if (rune >= 0x202A && rune <= 0x202E) return false;
  if (rune >= 0x2060 && rune <= 0x206F) return false;
  if (rune >= 0xE000 && rune <= 0xF8FF) return false;
  if (rune == 0xFEFF || (rune >= 0xFFF0 && rune <= 0xFFFB) || rune >= 0xE0000) return false;
  return (rune & 0xFFFE) != 0xFFFE;
}

void AppendQuoted(std::string& out, std::string_view bytes, const Rune& rune, char quote) {
  if (!rune.valid) {
    absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(bytes[0]));
    return;
  }
  if (rune.value == static_cast<unsigned char>(quote) || rune.value == '\\') {
    out += '\\';
    out += static_cast<char>(rune.value);
    return;
  }
  if (IsPrint(rune.value)) {
    out += bytes.substr(0, rune.size);
    return;
  }
  switch (rune.value) {
    case '\a':
      out += "\\a";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\v':
      out += "\\v";
      return;
    default:
      break;
  }
  const auto value = static_cast<uint32_t>(rune.value);
  if (value < ' ' || value == 0x7F) {
    absl::StrAppendFormat(&out, "\\x%02x", value);
  } else if (value < 0x10000) {
    absl::StrAppendFormat(&out, "\\u%04x", value);
  } else {
    absl::StrAppendFormat(&out, "\\U%08x", value);
  }
}

}  // namespace

std::string ToUpper(std::string_view text) {
  if (!IsAscii(text)) return MapRunes(text, UpperRune);
  std::string result(text);
  for (char& c : result) c = UpperAscii(c);
  return result;
}

void AppendUpper(std::string_view text, std::string* to) {
  if (!IsAscii(text)) {
    *to += MapRunes(text, UpperRune);
    return;
  }
  const size_t from = to->size();
  to->append(text);
  for (size_t i = from; i < to->size(); ++i) (*to)[i] = UpperAscii((*to)[i]);
}

std::string ToLower(std::string_view text) {
  if (!IsAscii(text)) return MapRunes(text, LowerRune);
  std::string result(text);
  for (char& c : result) c = LowerAscii(c);
  return result;
}

bool EqualFold(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const Rune left = Decode(a);
    const Rune right = Decode(b);
    if (FoldRune(left.value) != FoldRune(right.value)) return false;
    a.remove_prefix(left.size);
    b.remove_prefix(right.size);
  }
  return a.empty() && b.empty();
}

bool IsBlank(std::string_view text) {
  while (!text.empty()) {
    const Rune rune = Decode(text);
    if (!rune.valid || !IsSpace(rune.value)) return false;
    text.remove_prefix(rune.size);
  }
  return true;
}

std::string Quote(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const Rune rune = Decode(text);
    AppendQuoted(result, text, rune, '"');
    text.remove_prefix(rune.size);
  }
  result += '"';
  return result;
}

std::string QuoteByte(unsigned char byte) {
  const std::string bytes = RuneText(byte);
  std::string result = "'";
  AppendQuoted(result, bytes, Decode(bytes), '\'');
  result += '\'';
  return result;
}

std::string RuneText(unsigned char code_point) {
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  std::string result;
  result += static_cast<char>(0xC0 | (code_point >> 6));
  result += static_cast<char>(0x80 | (code_point & 0x3F));
  return result;
}

std::vector<std::string_view> Split(std::string_view text, char separator, int n) {
  std::vector<std::string_view> parts;
  while (n < 0 || static_cast<int>(parts.size()) + 1 < n) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace blockreplay::keeper::thorchain
