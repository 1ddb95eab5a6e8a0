#pragma once

// What the tests of this folder share.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "storage/iavl/tree.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::storage::iavl {

#define ASSERT_OK(expression)                    \
  do {                                           \
    const absl::Status ok_status = (expression); \
    ASSERT_TRUE(ok_status.ok()) << ok_status;    \
  } while (false)

using Contents = std::map<std::string, std::string>;

inline std::string Unhex(const std::string& hex) { return absl::HexStringToBytes(hex); }

inline std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

inline std::string Hex(const Hash& hash) {
  return Hex({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

inline nlohmann::json ReadFixture(const std::string& name) {
  std::ifstream in(std::string(BLOCKREPLAY_FIXTURES) + "/" + name);
  return nlohmann::json::parse(in);
}

inline Contents Dump(const Reader& store, std::string_view prefix = {}) {
  Contents contents;
  const auto it = store.NewIterator(KeyRange::Prefix(prefix), Direction::kForward);
  for (; it->Valid(); it->Next()) {
    contents.emplace(it->key().substr(prefix.size()), it->value());
  }
  EXPECT_TRUE(it->status().ok()) << it->status();
  return contents;
}

// A database of one tree, with what does to it what a multistore does: write every batch.
class Database {
 public:
  explicit Database(std::string prefix = "s/k:main/") : prefix_(std::move(prefix)) {}

  MemoryEngine* engine() { return &engine_; }
  const std::string& prefix() const { return prefix_; }

  void Write(const WriteBatch& batch) {
    const absl::Status status = engine_.Write(batch, Durability::kProcessCrash);
    ASSERT_TRUE(status.ok()) << status;
  }

  std::unique_ptr<Tree> Load(const TreeOptions& options, int64_t version = 0) {
    WriteBatch batch;
    auto tree = Tree::Load(&engine_, prefix_, options, version, &batch);
    EXPECT_TRUE(tree.ok()) << tree.status();
    Write(batch);
    return tree.ok() ? *std::move(tree) : nullptr;
  }

  std::unique_ptr<Tree> LoadForOverwriting(const TreeOptions& options, int64_t version) {
    WriteBatch batch;
    auto tree = Tree::LoadForOverwriting(&engine_, prefix_, options, version, &batch);
    EXPECT_TRUE(tree.ok()) << tree.status();
    Write(batch);
    return tree.ok() ? *std::move(tree) : nullptr;
  }

  // Root in hex.
  std::string Commit(Tree* tree) {
    WriteBatch batch;
    const auto working = tree->WorkingHash();
    EXPECT_TRUE(working.ok()) << working.status();
    const auto hash = tree->Commit(&batch);
    EXPECT_TRUE(hash.ok()) << hash.status();
    if (!hash.ok() || !working.ok()) return "";
    EXPECT_EQ(Hex(*working), Hex(*hash));
    EXPECT_EQ(Hex(tree->hash()), Hex(*hash));
    Write(batch);
    return Hex(*hash);
  }

  void Flush(Tree* tree) {
    WriteBatch batch;
    const absl::Status status = tree->Flush(&batch);
    ASSERT_TRUE(status.ok()) << status;
    Write(batch);
  }

  void Prune(Tree* tree, int64_t to) {
    WriteBatch batch;
    const absl::Status status = tree->DeleteVersionsTo(to, &batch);
    ASSERT_TRUE(status.ok()) << status;
    Write(batch);
  }

  Contents Dump() { return iavl::Dump(engine_, prefix_); }

 private:
  const std::string prefix_;
  MemoryEngine engine_;
};

// Applies the operations of a vector file, and checks what they reported.
inline void ApplyOps(const nlohmann::json& ops, Tree* tree) {
  if (ops.is_null()) return;
  for (const auto& op : ops) {
    const std::string key = Unhex(op[1]);
    const bool set = op[0] == "s";
    const auto existed = set ? tree->SetAndReport(key, Unhex(op[2])) : tree->DeleteAndReport(key);
    ASSERT_TRUE(existed.ok()) << existed.status();
    ASSERT_EQ(*existed, op[set ? 3 : 2].get<int>() != 0) << op;
  }
}

// All key-value pairs of a hex list.
inline Contents Pairs(const nlohmann::json& pairs) {
  Contents contents;
  for (const auto& pair : pairs) contents[Unhex(pair[0])] = Unhex(pair[1]);
  return contents;
}

// For messages: what differs.
inline std::string Difference(const Contents& expected, const Contents& actual) {
  std::string text;
  for (const auto& [key, value] : expected) {
    const auto it = actual.find(key);
    if (it == actual.end()) {
      text += "missing " + Hex(key) + " = " + Hex(value) + "\n";
    } else if (it->second != value) {
      text += "differs " + Hex(key) + " = " + Hex(it->second) + ", expected " + Hex(value) + "\n";
    }
  }
  for (const auto& [key, value] : actual) {
    if (!expected.contains(key)) text += "surplus " + Hex(key) + " = " + Hex(value) + "\n";
  }
  return text;
}

}  // namespace blockreplay::storage::iavl
