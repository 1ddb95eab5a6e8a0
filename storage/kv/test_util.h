#pragma once

// Helpers for tests of this folder and of those above it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

// A new directory, removed with all it contains at the end.
class TempDir {
 public:
  TempDir() {
    std::string name =
        (std::filesystem::temp_directory_path() / "blockreplay-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

// What is left of an iterator. Fails the test on an error.
inline Pairs Drain(Iterator& it) {
  Pairs pairs;
  for (; it.Valid(); it.Next()) pairs.emplace_back(it.key(), it.value());
  EXPECT_TRUE(it.status().ok()) << it.status();
  return pairs;
}

inline Pairs Contents(const Reader& reader) {
  return Drain(*reader.NewIterator(KeyRange::All(), Direction::kForward));
}

MATCHER_P(IsOkAnd, expected, "") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return *arg == expected;
}

MATCHER_P2(FailsWith, code, text, "") {
  const absl::Status status = [](const auto& result) -> absl::Status {
    if constexpr (std::is_same_v<std::decay_t<decltype(result)>, absl::Status>) {
      return result;
    } else {
      return result.status();
    }
  }(arg);
  *result_listener << status.ToString();
  return status.code() == code && std::string(status.message()).find(text) != std::string::npos;
}

}  // namespace blockreplay::storage
