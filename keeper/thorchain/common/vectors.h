#pragma once

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

// Vectors in testdata/: one JSON object a line with an operation `op`, its input `in` in base64,
// and what THORNode 3.17.0's own code made of it. Tests only.
namespace blockreplay::keeper::thorchain {

inline std::vector<nlohmann::json> LoadVectors(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<nlohmann::json> vectors;
  for (std::string line; std::getline(file, line);) vectors.push_back(nlohmann::json::parse(line));
  EXPECT_FALSE(vectors.empty()) << path;
  return vectors;
}

inline std::string FromBase64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned value = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    value = value << 6 | static_cast<unsigned>(kDigits.find(c));
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(value >> bits & 0xff);
    }
  }
  return bytes;
}

inline std::string Base64Of(const nlohmann::json& object, const char* key) {
  return object.contains(key) ? FromBase64(object.at(key).get<std::string>()) : std::string();
}

}  // namespace blockreplay::keeper::thorchain
