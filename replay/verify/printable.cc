#include "replay/verify/printable.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

std::string Printable(std::string_view bytes) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (!bytes.empty() && std::all_of(bytes.begin(), bytes.end(), plain)) {
    return absl::StrCat("\"", std::string(bytes), "\"");
  }
  return absl::StrCat("0x", absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size())));
}

}  // namespace blockreplay::replay
