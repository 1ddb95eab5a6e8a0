#pragma once

#include <string>
#include <string_view>
#include <vector>

// Text rules of Go's standard library that reach state and events through the node. Bytes that
// aren't ASCII keep their value in case mapping, except the letters whose mapping is an ASCII
// letter (U+0130, U+0131, U+017F, U+212A): only those can turn into something that is accepted.
namespace blockreplay::keeper::thorchain {

// strings.ToUpper / strings.ToLower.
std::string ToUpper(std::string_view text);
void AppendUpper(std::string_view text, std::string* to);
std::string ToLower(std::string_view text);

// strings.EqualFold.
bool EqualFold(std::string_view a, std::string_view b);

// True if strings.TrimSpace would leave nothing.
bool IsBlank(std::string_view text);

// fmt's %q, strconv.Quote: a double-quoted Go string literal.
std::string Quote(std::string_view text);

// fmt's %q of one character, U+0000 to U+00FF: a single-quoted literal.
std::string QuoteByte(unsigned char code_point);

// fmt's %c of a byte, i.e. the UTF-8 encoding of U+0000 to U+00FF.
std::string RuneText(unsigned char code_point);

// strings.Split (n < 0) and strings.SplitN: at most n parts, the last one takes the rest.
std::vector<std::string_view> Split(std::string_view text, char separator, int n = -1);

}  // namespace blockreplay::keeper::thorchain
