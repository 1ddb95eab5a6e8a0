#include "storage/multistore/snapshot.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/multistore/test_util.h"
#include "storage/multistore/view.h"

namespace blockreplay::storage {
namespace {

using ::testing::ElementsAre;
namespace fs = std::filesystem;
using snapshot::SnapshotDir;
using snapshot::SnapshotItem;

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

Hash ParseHash(const std::string& hex) {
  Hash hash;
  const std::string bytes = absl::HexStringToBytes(hex);
  EXPECT_EQ(bytes.size(), hash.size());
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

std::vector<SnapshotItem> Items(const std::string& path) {
  const absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(path);
  EXPECT_TRUE(dir.ok()) << dir.status();
  snapshot::ChunkSource source(*dir);
  snapshot::ItemReader reader(&source);
  std::vector<SnapshotItem> items;
  while (true) {
    const absl::StatusOr<const SnapshotItem*> item = reader.Next();
    EXPECT_TRUE(item.ok()) << item.status();
    if (!item.ok() || *item == nullptr) return items;
    items.push_back(**item);
  }
}

class SnapshotTest : public ::testing::TestWithParam<Persistence> {
 protected:
  MultistoreOptions Options() const {
    MultistoreOptions options;
    options.persistence = GetParam();
    return options;
  }

  // The node's snapshot of height 10.
  std::string NodesSnapshot() {
    const fs::path archive = dir_.path() + "/node";
    WriteFile(archive / "0", ReadFile(BLOCKREPLAY_FIXTURES "/iavl/snapshot/chunk_0"));
    WriteFile(archive / "_snapshot",
              FromHex(ReadFixture("iavl/snapshot/snapshot.json")["snapshot_proto"]));
    return archive.string();
  }

  std::string WriteSnapshot(const std::string& name, const std::vector<SnapshotItem>& items) {
    const std::string path = dir_.path() + "/" + name;
    auto writer = snapshot::SnapshotDirWriter::Create(path, 10);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (const SnapshotItem& item : items) EXPECT_TRUE((*writer)->Add(item).ok());
    EXPECT_TRUE((*writer)->Finish().ok());
    return path;
  }

  absl::StatusOr<std::unique_ptr<Multistore>> Restore(Engine* engine, const std::string& path,
                                                      RestoreOptions options = {}) {
    const absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(path);
    if (!dir.ok()) return dir.status();
    options.multistore.persistence = GetParam();
    return RestoreSnapshot(engine, *dir, options);
  }

  TempDir dir_;
};

TEST_P(SnapshotTest, RestoresTheNodesAndGoesOn) {
  const nlohmann::json vectors = ReadFixture("iavl/snapshot/snapshot.json");
  MemoryEngine engine;
  RestoreOptions options;
  options.expected_app_hash = ParseHash(vectors["app_hash"]);
  options.multistore.stores = Specs(vectors["multistore"]["stores"]);
  uint64_t items = 0;
  options.progress = [&](const SnapshotProgress& progress) {
    items = progress.items;
    EXPECT_EQ(progress.bytes, progress.total_bytes);
    return absl::OkStatus();
  };
  auto store = Restore(&engine, NodesSnapshot(), options);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_GT(items, 100u);
  EXPECT_EQ((*store)->version(), 10);
  EXPECT_EQ(vectors["app_hash"], ToHex((*store)->app_hash()));
  std::string info;
  EXPECT_THAT(engine.Get("s/10", &info), IsOkAnd(true));
  EXPECT_EQ(vectors["restored_commit_info"], ToHex(info));
  for (const auto& replayed : vectors["restored_then_replay"]) {
    const auto& version = vectors["multistore"]["versions"][replayed["version"].get<size_t>() - 1];
    for (const auto& [name, ops] : version["ops"].items()) ApplyOps(ops, (*store)->store(name));
    ASSERT_TRUE((*store)->WorkingCommit(ParseTime(version["time"])).ok());
    ASSERT_STATUS_OK((*store)->Commit());
    EXPECT_EQ(replayed["app_hash"], ToHex((*store)->app_hash()));
  }
  store->reset();
  auto reopened = OpenOrDie(&engine, Options());
  EXPECT_EQ(reopened->version(), 12);
  ASSERT_STATUS_OK(reopened->Close());
}

TEST_P(SnapshotTest, MakesTheNodesItems) {
  const nlohmann::json vectors = ReadFixture("iavl/snapshot/snapshot.json");
  MemoryEngine engine;
  MultistoreOptions options = Options();
  options.stores = Specs(vectors["multistore"]["stores"]);
  options.keep_recent = 3;
  auto store = OpenOrDie(&engine, options);
  for (const auto& version : vectors["multistore"]["versions"]) {
    for (const auto& [name, ops] : version["ops"].items()) ApplyOps(ops, store->store(name));
    ASSERT_TRUE(store->WorkingCommit(ParseTime(version["time"])).ok());
    ASSERT_STATUS_OK(store->Commit());
  }
  const auto view = store->View(10);
  ASSERT_TRUE(view.ok()) << view.status();
  const std::string path = dir_.path() + "/made";
  uint64_t items = 0;
  const auto metadata = CreateSnapshot(view->get(), path, [&](const SnapshotProgress& progress) {
    items = progress.items;
    return absl::OkStatus();
  });
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->height(), 10u);
  EXPECT_EQ(metadata->format(), 3u);
  std::string plain;
  for (const SnapshotItem& item : Items(path)) {
    size_t size = item.ByteSizeLong();
    for (; size >= 0x80; size >>= 7) plain.push_back(static_cast<char>(size | 0x80));
    plain.push_back(static_cast<char>(size));
    plain += item.SerializeAsString();
  }
  EXPECT_EQ(plain, ReadFile(BLOCKREPLAY_FIXTURES "/iavl/snapshot/items.bin"));
  EXPECT_EQ(items, Items(path).size());

  MemoryEngine other;
  RestoreOptions restore;
  restore.expected_app_hash = ParseHash(vectors["app_hash"]);
  EXPECT_TRUE(Restore(&other, path, restore).ok());
}

TEST_P(SnapshotTest, RestoresThorchain) {
  const std::string path = BLOCKREPLAY_FIXTURES "/thor-2000/snapshot";
  if (!fs::exists(path)) GTEST_SKIP() << "no thor-2000";
  const nlohmann::json manifest = ReadFixture("thor-2000/manifest.json");
  MemoryEngine engine;
  RestoreOptions options;
  options.multistore.stores = Specs(manifest["stores"]);
  options.expected_app_hash = ParseHash(manifest["base_app_hash"]);
  options.multistore.cache_bytes = 8 << 20;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  options.progress = [&](const SnapshotProgress& progress) {
    ++calls;
    EXPECT_GE(progress.bytes, bytes);
    bytes = progress.bytes;
    return absl::OkStatus();
  };
  auto store = Restore(&engine, path, options);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->version(), 100);
  EXPECT_EQ(ToHex((*store)->app_hash()),
            "ea38ab9296d755d91b83f610c6fb26cf222dd679114123fa2a674783eb8af2d7");
  EXPECT_GT(calls, 1u);
  EXPECT_EQ(bytes, 11'899'989u);
  EXPECT_LT((*store)->stats().tree_bytes, 3 * options.multistore.cache_bytes);
}

TEST_P(SnapshotTest, WhatDoesNotFitIsRefused) {
  const nlohmann::json vectors = ReadFixture("iavl/snapshot/snapshot.json");
  const std::string path = NodesSnapshot();
  MemoryEngine engine;
  RestoreOptions options;
  options.expected_app_hash = Hash{};
  EXPECT_THAT(Restore(&engine, path, options),
              FailsWith(absl::StatusCode::kDataLoss, "instead of 0000"));
  EXPECT_EQ(*ReadLatestVersion(engine), 0);
  options = {};
  options.multistore.stores = Specs({"acc", "bank", "gov"});
  EXPECT_THAT(Restore(&engine, path, options),
              FailsWith(absl::StatusCode::kFailedPrecondition, "has a store empty"));
  options.multistore.stores = Specs({"acc", "bank", "empty", "gov", "mint"});
  EXPECT_THAT(Restore(&engine, path, options),
              FailsWith(absl::StatusCode::kFailedPrecondition, "has no store mint"));
  options = {};
  options.progress = [](const SnapshotProgress&) { return absl::CancelledError("stop"); };
  EXPECT_THAT(Restore(&engine, path, options), FailsWith(absl::StatusCode::kCancelled, "stop"));

  // The leftovers of all these are no hindrance.
  EXPECT_TRUE(Restore(&engine, path).ok());
  EXPECT_THAT(Restore(&engine, path),
              FailsWith(absl::StatusCode::kFailedPrecondition, "at version 10"));
}

TEST_P(SnapshotTest, ForgedItemsAreRefused) {
  const std::vector<SnapshotItem> real = Items(NodesSnapshot());
  int snapshots = 0;
  const auto restore = [&](const std::vector<SnapshotItem>& items) {
    MemoryEngine engine;
    return Restore(&engine, WriteSnapshot(absl::StrCat("forged", snapshots++), items)).status();
  };
  const auto kBad = absl::StatusCode::kDataLoss;
  EXPECT_TRUE(restore(real).ok());
  std::vector<SnapshotItem> items(real.begin() + 1, real.end());
  EXPECT_THAT(restore(items), FailsWith(kBad, "a node of no store"));
  items = real;
  items.push_back(real[0]);
  EXPECT_THAT(restore(items), FailsWith(kBad, "there twice"));
  items = real;
  items[0].mutable_store()->set_name("a/b");
  EXPECT_THAT(restore(items), FailsWith(kBad, "contains a slash"));
  items = real;
  items[1].mutable_iavl()->set_height(128);
  EXPECT_THAT(restore(items), FailsWith(kBad, "height 128"));
  items[1].mutable_iavl()->set_height(-1);
  EXPECT_THAT(restore(items), FailsWith(kBad, "height -1"));
  items[1].mutable_iavl()->set_height(1);
  EXPECT_THAT(restore(items), FailsWith(kBad, "store acc"));
  items = real;
  items.erase(items.begin() + 1);
  EXPECT_THAT(restore(items), FailsWith(kBad, "store acc"));
  items = real;
  items[1].mutable_iavl()->set_version(11);
  EXPECT_THAT(restore(items), FailsWith(kBad, "store acc"));
}

TEST_P(SnapshotTest, ExtensionsComeBehindTheStores) {
  std::vector<SnapshotItem> items = Items(NodesSnapshot());
  const size_t plain = items.size();
  items.resize(plain + 4);
  items[plain].mutable_extension()->set_name("wasm");
  items[plain + 1].mutable_extension_payload()->set_payload("code");
  items[plain + 2].mutable_extension_payload();
  items[plain + 3].mutable_extension()->set_name("other");
  const std::string path = WriteSnapshot("extended", items);
  MemoryEngine engine;
  EXPECT_TRUE(Restore(&engine, path).ok());

  MemoryEngine other;
  RestoreOptions options;
  std::vector<std::string> seen;
  options.extension = [&](const SnapshotItem& item) {
    seen.push_back(item.has_extension() ? item.extension().name()
                                        : item.extension_payload().payload());
    return absl::OkStatus();
  };
  EXPECT_TRUE(Restore(&other, path, options).ok());
  EXPECT_THAT(seen, ElementsAre("wasm", "code", "", "other"));

  items.push_back(items[0]);
  items.back().mutable_store()->set_name("late");
  MemoryEngine third;
  EXPECT_THAT(Restore(&third, WriteSnapshot("late", items)),
              FailsWith(absl::StatusCode::kDataLoss, "behind an extension"));
  items.resize(plain + 1);
  items[plain].mutable_extension_payload();
  EXPECT_THAT(Restore(&third, WriteSnapshot("orphaned", items)),
              FailsWith(absl::StatusCode::kDataLoss, "payload of no extension"));
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotTest,
                         ::testing::Values(Persistence::kEvery, Persistence::kDeferred),
                         [](const auto& param) {
                           return param.param == Persistence::kEvery ? "every" : "deferred";
                         });

}  // namespace
}  // namespace blockreplay::storage
