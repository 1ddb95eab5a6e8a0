#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace blockreplay::keeper::sdk {

// Lets std::string_view look up std::string keys, which Debian's Abseil doesn't by itself.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return absl::HashOf(absl::string_view(text.data(), text.size()));
  }
};

template <typename Value>
using StringMap = absl::flat_hash_map<std::string, Value, StringHash, std::equal_to<>>;
using StringSet = absl::flat_hash_set<std::string, StringHash, std::equal_to<>>;

}  // namespace blockreplay::keeper::sdk
