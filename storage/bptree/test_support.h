#pragma once

// What the tests of this folder share.

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

inline std::string Unhex(const std::string& hex) { return absl::HexStringToBytes(hex); }

inline std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

inline std::string Hex(const Hash& hash) {
  return Hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

inline nlohmann::json ReadFixture(const std::string& name) {
  std::ifstream in(std::string(BLOCKREPLAY_FIXTURES) + "/gno/" + name);
  return nlohmann::json::parse(in);
}

}  // namespace blockreplay::storage::bptree
