#pragma once

// Helpers for the tests of multistores.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "storage/kv/memory_engine.h"
#include "storage/kv/test_util.h"
#include "storage/multistore/commit_info.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::storage {

#define ASSERT_STATUS_OK(expression)                \
  do {                                              \
    const absl::Status status_of_it = (expression); \
    ASSERT_TRUE(status_of_it.ok()) << status_of_it; \
  } while (false)

inline nlohmann::json ReadFixture(const std::string& name) {
  std::ifstream in(std::string(BLOCKREPLAY_FIXTURES) + "/" + name);
  EXPECT_TRUE(in) << name;
  return nlohmann::json::parse(in);
}

inline std::string FromHex(const nlohmann::json& hex) {
  return absl::HexStringToBytes(hex.get<std::string>());
}
inline std::string ToHex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

// RFC 3339, as Go writes times.
inline BlockTime ParseTime(const std::string& text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &error)) << text << error;
  const int64_t seconds = absl::ToUnixSeconds(time);  // rounds down
  return {.seconds = seconds,
          .nanos = static_cast<int32_t>(
              absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds)))};
}

// Operations as the vectors have them: ["s", key, value, existed] or ["d", key, existed].
inline void ApplyOps(const nlohmann::json& ops, Store* store) {
  ASSERT_NE(store, nullptr);
  for (const auto& op : ops) {
    const std::string key = FromHex(op[1]);
    const bool set = op[0] == "s";
    const absl::StatusOr<bool> existed = store->Has(key);
    ASSERT_TRUE(existed.ok()) << existed.status();
    EXPECT_EQ(*existed ? 1 : 0, op[set ? 3 : 2]) << op;
    ASSERT_STATUS_OK(set ? store->Set(key, FromHex(op[2])) : store->Delete(key));
  }
}

inline std::vector<StoreSpec> Specs(const std::vector<std::string>& names) {
  std::vector<StoreSpec> specs;
  for (const std::string& name : names) specs.push_back({.name = name});
  return specs;
}

// All pairs of a database, in hex, as the vectors have them. Without our own keys.
inline nlohmann::json DumpHex(const Reader& db) {
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [key, value] : Contents(db)) {
    if (key.rfind("blockreplay/", 0) == 0) continue;
    pairs.push_back({ToHex(key), ToHex(value)});
  }
  return pairs;
}

inline std::unique_ptr<Multistore> OpenOrDie(Engine* engine, const MultistoreOptions& options) {
  absl::StatusOr<std::unique_ptr<Multistore>> store = Multistore::Open(engine, options);
  if (!store.ok()) {
    ADD_FAILURE() << store.status();
    std::abort();
  }
  return *std::move(store);
}

// A small generator whose numbers do not depend on the library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Below n.
  uint64_t Below(uint64_t n) { return Next() % n; }

 private:
  uint64_t state_;
};

}  // namespace blockreplay::storage
