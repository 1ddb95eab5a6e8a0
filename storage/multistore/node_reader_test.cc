#include "storage/multistore/node_reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "storage/kv/memory_engine.h"
#include "storage/multistore/multistore.h"
#include "storage/multistore/test_util.h"
#include "storage/multistore/view.h"

namespace blockreplay::storage {
namespace {

std::string NodeKey(const std::string& store, char version, uint32_t nonce) {
  std::string key = "s/k:" + store + "/s" + std::string(7, '\0') + version;
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(nonce >> shift));
  return key;
}

// Every order of Gets gives what the database has.
TEST(NodeReader, GivesWhatTheDatabaseHas) {
  MemoryEngine db;
  for (const std::string store : {"a", "a/s", "b"}) {
    for (char version = 1; version < 4; ++version) {
      for (uint32_t nonce = 250; nonce < 260; ++nonce) {
        if (nonce == 255) continue;
        const std::string key = NodeKey(store, version, nonce);
        ASSERT_STATUS_OK(db.Set(key, "value of " + key));
      }
    }
  }
  ASSERT_STATUS_OK(db.Set("s/k:a/m", "short"));
  ASSERT_STATUS_OK(db.Set("s/5", "commit info"));
  std::vector<std::string> keys = {"s/k:a/m", "s/5", "s/k:", "", "s/k:a/"};
  for (const std::string store : {"a", "a/s", "b", "c"}) {
    for (char version = 0; version < 5; ++version) {
      for (uint32_t nonce = 248; nonce < 262; ++nonce)
        keys.push_back(NodeKey(store, version, nonce));
    }
  }
  // Ascending, each key twice, interleaved with the ones far away, and descending.
  std::vector<std::string> order = keys;
  for (const std::string& key : keys) order.insert(order.end(), {key, key});
  for (size_t i = 0; i < keys.size(); ++i) {
    order.insert(order.end(), {keys[i], keys[(i + keys.size() / 2) % keys.size()]});
  }
  order.insert(order.end(), keys.rbegin(), keys.rend());
  for (const NodeReader::Walk walk : {NodeReader::Walk::kTree, NodeReader::Walk::kNewVersion}) {
    const NodeReader reader(&db, walk);
    for (const std::string& key : order) {
      std::string expected = "untouched";
      std::string actual = "untouched";
      const auto in_db = db.Get(key, &expected);
      const auto in_reader = reader.Get(key, &actual);
      ASSERT_EQ(*in_reader, *in_db) << key;
      EXPECT_EQ(actual, expected) << key;
    }
    EXPECT_GT(reader.sequential(), 0u);
  }
}

// Walking a tree of one version is reading its nodes from first to last.
TEST(NodeReader, AnswersAWalkFromTheIterator) {
  MemoryEngine db;
  MultistoreOptions options;
  options.stores = {{"a"}};
  options.persistence = Persistence::kEvery;
  auto store = Multistore::Open(&db, options);
  ASSERT_STATUS_OK(store.status());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_STATUS_OK((*store)->store("a")->Set("key" + std::to_string(i), "value"));
  }
  ASSERT_STATUS_OK((*store)->WorkingCommit({}).status());
  ASSERT_STATUS_OK((*store)->Commit());
  ASSERT_STATUS_OK((*store)->Close());
  const NodeReader reader(&db);
  auto view = MultistoreView::Open(&reader, 1);
  ASSERT_STATUS_OK(view.status());
  const auto tree = (*view)->store("a");
  ASSERT_STATUS_OK(tree.status());
  int leaves = 0;
  ASSERT_STATUS_OK((*tree)->Export([&](const iavl::ExportNode& node) {
    leaves += node.height == 0;
    return absl::OkStatus();
  }));
  EXPECT_EQ(leaves, 1000);
  EXPECT_GE(reader.sequential(), 1990u);  // of 1,999 nodes
}

// Nodes of the version before, which follow each other too, do not end the walk over the new one.
TEST(NodeReader, GoesOnWithTheNewVersionBesideTheOldOne) {
  MemoryEngine db;
  for (char version = 1; version < 3; ++version) {
    for (uint32_t nonce = 1; nonce <= 100; ++nonce) {
      ASSERT_STATUS_OK(db.Set(NodeKey("a", version, nonce), "value"));
    }
  }
  const NodeReader reader(&db, NodeReader::Walk::kNewVersion);
  std::string value;
  for (uint32_t nonce = 1; nonce <= 100; nonce += 2) {
    for (const char version : {'\2', '\1'}) {
      for (const uint32_t step : {0u, 1u}) {
        ASSERT_TRUE(*reader.Get(NodeKey("a", version, nonce + step), &value));
      }
    }
  }
  EXPECT_EQ(reader.iterators(), 1u);
  EXPECT_EQ(reader.sequential(), 99u);
}

}  // namespace
}  // namespace blockreplay::storage
