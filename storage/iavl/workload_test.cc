// The workload that the Go implementations were measured with, up to version 201, in both ways to
// persist.

#include <gtest/gtest.h>

#include "storage/iavl/peer_workload.h"
#include "storage/iavl/test_support.h"

namespace blockreplay::storage::iavl {
namespace {

void RunWorkload(const TreeOptions& options, size_t cache, int64_t flush_every) {
  constexpr uint64_t kKeys = 100'000;
  constexpr int64_t kVersions = 201;
  Database db;
  std::unique_ptr<Tree> tree = db.Load(options);
  ASSERT_NE(tree, nullptr);
  PeerWorkload workload(kKeys);
  std::string key;
  std::string value;
  for (uint64_t i = 0; i < kKeys; ++i) {
    PeerWorkload::Key(i, &key);
    PeerWorkload::Value(i, 1, &value);
    ASSERT_OK(tree->Set(key, value));
  }
  int matched = 0;
  PeerWorkload::Operation operation;
  while (true) {
    WriteBatch batch;
    const auto hash = tree->Commit(&batch);
    ASSERT_TRUE(hash.ok()) << hash.status();
    if (tree->version() % flush_every == 1 || flush_every == 1) {
      ASSERT_OK(tree->Flush(&batch));
    }
    db.Write(batch);
    tree->Trim(cache);
    for (const PeerRoot& known : kPeerRoots) {
      if (known.keys != kKeys || known.version != tree->version()) continue;
      ASSERT_EQ(Hex(*hash), known.root);
      ++matched;
    }
    if (tree->version() == kVersions) break;
    for (int i = 0; i < 1000; ++i) {
      workload.Next(tree->next_version(), &operation);
      ASSERT_OK(operation.is_delete ? tree->Delete(operation.key)
                                    : tree->Set(operation.key, operation.value));
    }
  }
  EXPECT_EQ(matched, 2);
  EXPECT_EQ(tree->size(), static_cast<int64_t>(workload.live_keys()));
}

TEST(Workload, Deferred) { RunWorkload(TreeOptions(), SIZE_MAX, 50); }

TEST(Workload, DeferredInASmallCache) { RunWorkload(TreeOptions(), size_t{4} << 20, 20); }

TEST(Workload, EveryVersion) {
  TreeOptions options;
  options.persist = Persist::kEvery;
  RunWorkload(options, SIZE_MAX, 1);
}

TEST(Workload, EveryVersionWithFastNodesInASmallCache) {
  TreeOptions options;
  options.persist = Persist::kEvery;
  options.fast_nodes = true;
  RunWorkload(options, size_t{4} << 20, 1);
}

}  // namespace
}  // namespace blockreplay::storage::iavl
