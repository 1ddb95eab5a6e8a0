#include "keeper/thorchain/common/semver.h"

#include <algorithm>
#include <charconv>

#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool HasLeadingZero(std::string_view text) { return text.size() > 1 && text.front() == '0'; }

bool ParseNumber(std::string_view text, uint64_t* value) {
  if (!IsNumber(text) || HasLeadingZero(text)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

// Numbers are below text, and compare as numbers; they have no leading zeros, so the longer is the
// larger.
std::strong_ordering Compare(const std::string& a, const std::string& b) {
  const bool a_number = IsNumber(a);
  const bool b_number = IsNumber(b);
  if (a_number != b_number)
    return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_number && a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

std::string Join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text.push_back('.');
    text.append(part);
  }
  return text;
}

}  // namespace

std::optional<SemVer> SemVer::Parse(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, '.', 3);
  SemVer version;
  if (parts.size() != 3 || !ParseNumber(parts[0], &version.major_number) ||
      !ParseNumber(parts[1], &version.minor_number)) {
    return std::nullopt;
  }
  std::string_view patch = parts[2];
  if (const size_t plus = patch.find('+'); plus != std::string_view::npos) {
    for (std::string_view part : Split(patch.substr(plus + 1), '.')) {
      if (!IsIdentifier(part)) return std::nullopt;
      version.build.emplace_back(part);
    }
    patch = patch.substr(0, plus);
  }
  if (const size_t minus = patch.find('-'); minus != std::string_view::npos) {
    for (std::string_view part : Split(patch.substr(minus + 1), '.')) {
      if (!IsIdentifier(part) || (IsNumber(part) && HasLeadingZero(part))) return std::nullopt;
      version.pre_release.emplace_back(part);
    }
    patch = patch.substr(0, minus);
  }
  if (!ParseNumber(patch, &version.patch_number)) return std::nullopt;
  return version;
}

std::string SemVer::ToString() const {
  std::string text = std::to_string(major_number) + "." + std::to_string(minor_number) + "." +
                     std::to_string(patch_number);
  if (!pre_release.empty()) text += "-" + Join(pre_release);
  if (!build.empty()) text += "+" + Join(build);
  return text;
}

std::strong_ordering operator<=>(const SemVer& a, const SemVer& b) {
  if (const auto order = a.major_number <=> b.major_number; order != 0) return order;
  if (const auto order = a.minor_number <=> b.minor_number; order != 0) return order;
  if (const auto order = a.patch_number <=> b.patch_number; order != 0) return order;
  if (a.pre_release.empty() || b.pre_release.empty())
    return a.pre_release.empty() <=> b.pre_release.empty();
  for (size_t i = 0; i < std::min(a.pre_release.size(), b.pre_release.size()); ++i) {
    if (const auto order = Compare(a.pre_release[i], b.pre_release[i]); order != 0) return order;
  }
  return a.pre_release.size() <=> b.pre_release.size();
}

}  // namespace blockreplay::keeper::thorchain
