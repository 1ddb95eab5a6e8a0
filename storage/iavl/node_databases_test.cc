// Databases that Go programs wrote with goleveldb: every version in them gives its root hash and
// its contents.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "storage/iavl/test_support.h"
#include "storage/kv/leveldb_source.h"
#include "storage/kv/test_util.h"

namespace blockreplay::storage::iavl {
namespace {

class NodeDatabases : public ::testing::Test {
 protected:
  std::unique_ptr<LeveldbSource> Open(const std::string& tar) {
    const std::string command = "tar --zstd -xf '" BLOCKREPLAY_FIXTURES "/iavl/leveldb/" + tar +
                                "' -C '" + directory_.path() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
    auto source = LeveldbSource::Open(directory_.path() + "/application.db");
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *std::move(source) : nullptr;
  }

  static void Apply(const nlohmann::json& ops, Contents* model) {
    for (const auto& op : ops) {
      if (op[0] == "s") {
        (*model)[Unhex(op[1])] = Unhex(op[2]);
      } else {
        model->erase(Unhex(op[1]));
      }
    }
  }

  static void Expect(const Reader* db, const std::string& prefix, int64_t version,
                     const std::string& root, const Contents& contents) {
    TreeOptions options;
    options.persist = Persist::kEvery;
    WriteBatch unused;
    const auto tree = Tree::Load(db, prefix, options, version, &unused);
    ASSERT_TRUE(tree.ok()) << tree.status();
    EXPECT_EQ(Hex((*tree)->hash()), root);
    EXPECT_EQ(Dump(**tree), contents);
    const auto view = (*tree)->GetImmutable(version);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(Hex((*view)->hash()), root);
  }

  // The leaves in which `version` differs from the one below it: the last write of each key in
  // `ops`, sets of unchanged values too, deletes only of keys that `before` has.
  static void ExpectDifference(const Reader* db, int64_t version, const nlohmann::json& ops,
                               const Contents& before) {
    std::map<std::string, std::optional<std::string>> expected;
    for (const auto& op : ops) {
      expected[Unhex(op[1])] =
          op[0] == "s" ? std::optional<std::string>(Unhex(op[2])) : std::nullopt;
    }
    std::erase_if(expected, [&](const auto& write) {
      return !write.second && !before.contains(write.first);
    });
    TreeOptions options;
    options.persist = Persist::kEvery;
    WriteBatch unused;
    const auto tree = Tree::Load(db, "", options, version, &unused);
    ASSERT_TRUE(tree.ok()) << tree.status();
    const auto from = (*tree)->GetImmutable(version - 1);
    const auto to = (*tree)->GetImmutable(version);
    ASSERT_TRUE(from.ok() && to.ok());
    std::map<std::string, std::optional<std::string>> actual;
    ASSERT_TRUE(DiffLeaves(**from, **to,
                           [&](std::string_view key, std::optional<std::string_view>,
                               std::optional<std::string_view> after) {
                             actual[std::string(key)] =
                                 after ? std::optional<std::string>(*after) : std::nullopt;
                             return absl::OkStatus();
                           })
                    .ok());
    EXPECT_EQ(actual, expected);
  }

  void CheckMultistore(const std::string& name, int64_t first_version) {
    const auto source = Open(name + ".tar.zst");
    ASSERT_NE(source, nullptr);
    const nlohmann::json file = ReadFixture("iavl/leveldb/" + name + ".json");
    const auto& scenario = file["scenario"];
    std::map<std::string, Contents> models;
    int seen = 0;
    for (const auto& version : scenario["versions"]) {
      for (const auto& [store, ops] : version["ops"].items()) Apply(ops, &models[store]);
      const int64_t number = version["version"];
      for (const auto& [store, hash] : version["store_hashes"].items()) {
        SCOPED_TRACE(store + " at " + std::to_string(number));
        const std::string prefix = "s/k:" + store + "/";
        const auto latest = Tree::LatestVersion(source.get(), prefix);
        ASSERT_TRUE(latest.ok());
        ASSERT_EQ(*latest, scenario["versions"].back()["version"]);
        TreeOptions options;
        options.persist = Persist::kEvery;
        WriteBatch unused;
        const auto tree = Tree::Load(source.get(), prefix, options, 0, &unused);
        ASSERT_TRUE(tree.ok()) << tree.status();
        const auto first = (*tree)->FirstVersion();
        ASSERT_TRUE(first.ok());
        ASSERT_EQ(*first, first_version);
        if (number < *first) {
          EXPECT_EQ((*tree)->GetImmutable(number).status().code(), absl::StatusCode::kNotFound);
          continue;
        }
        Expect(source.get(), prefix, number, hash, models[store]);
        ++seen;
      }
    }
    EXPECT_GT(seen, 0);
  }

  void CheckLegacy(const std::string& name) {
    const auto source = Open(name + ".tar.zst");
    ASSERT_NE(source, nullptr);
    const nlohmann::json file = ReadFixture("iavl/leveldb/legacy.json");
    bool found = false;
    for (const auto& scenario : file["scenarios"]) {
      if (scenario["name"] != name) continue;
      found = true;
      std::set<int64_t> deleted;
      if (!scenario["deleted_versions"].is_null()) {
        for (const auto& version : scenario["deleted_versions"])
          deleted.insert(version.get<int64_t>());
      }
      Contents model;
      std::vector<int64_t> available;
      for (const auto& version : scenario["versions"]) {
        const Contents before = model;
        Apply(version["ops"], &model);
        const int64_t number = version["version"];
        SCOPED_TRACE(number);
        if (deleted.contains(number)) {
          TreeOptions options;
          WriteBatch unused;
          EXPECT_EQ(Tree::Load(source.get(), "", options, number, &unused).status().code(),
                    absl::StatusCode::kNotFound);
        } else {
          if (!available.empty() && available.back() == number - 1) {
            ExpectDifference(source.get(), number, version["ops"], before);
          }
          available.push_back(number);
          Expect(source.get(), "", number, version["root"], model);
        }
      }
      TreeOptions options;
      options.persist = Persist::kEvery;
      WriteBatch unused;
      const auto tree = Tree::Load(source.get(), "", options, 0, &unused);
      ASSERT_TRUE(tree.ok()) << tree.status();
      const auto versions = (*tree)->AvailableVersions();
      ASSERT_TRUE(versions.ok()) << versions.status();
      EXPECT_EQ(*versions, available);
    }
    EXPECT_TRUE(found);
  }

 private:
  TempDir directory_;
};

TEST_F(NodeDatabases, Plain) { CheckMultistore("plain", 1); }

TEST_F(NodeDatabases, PrunedWithStaleFastNodes) { CheckMultistore("pruned_fast_stale", 17); }

TEST_F(NodeDatabases, Legacy) { CheckLegacy("legacy_fast"); }

TEST_F(NodeDatabases, LegacyWithEmptyCommits) { CheckLegacy("legacy_slow_empty_commits"); }

TEST_F(NodeDatabases, LegacyWithDeletedVersions) { CheckLegacy("legacy_pruned"); }

// A deferred tree takes a legacy database over: after a flush only the latest version is left, in
// the new format.
TEST_F(NodeDatabases, DeferredTreeMigratesLegacyDatabases) {
  const nlohmann::json file = ReadFixture("iavl/leveldb/legacy.json");
  ASSERT_EQ(file["scenarios"].size(), 3u);
  for (const auto& scenario : file["scenarios"]) {
    for (const int empty_commits : {0, 1, 2}) {
      SCOPED_TRACE(scenario["name"].get<std::string>() + ", " + std::to_string(empty_commits));
      Database deferred;
      Database every;
      TreeOptions every_options;
      every_options.persist = Persist::kEvery;
      for (const auto& pair : scenario["db"]) {
        for (Database* db : {&deferred, &every}) {
          ASSERT_OK(db->engine()->Set(db->prefix() + Unhex(pair[0]), Unhex(pair[1])));
        }
      }
      std::unique_ptr<Tree> tree = deferred.Load(TreeOptions());
      std::unique_ptr<Tree> reference = every.Load(every_options);
      ASSERT_NE(tree, nullptr);
      ASSERT_NE(reference, nullptr);
      for (int i = 0; i < empty_commits; ++i) {
        ASSERT_EQ(deferred.Commit(tree.get()), every.Commit(reference.get()));
      }
      for (int round = 0; round < 3; ++round) {
        deferred.Flush(tree.get());
        if (round > 0 || empty_commits > 0) {
          for (const auto& [key, value] : deferred.Dump()) {
            // The nodes that the latest version still needs.
            ASSERT_TRUE(key[0] == 's' || key[0] == 'n' || key[0] == 'f' || key[0] == 'm')
                << Hex(key);
          }
        }
        tree = deferred.Load(TreeOptions());
        ASSERT_NE(tree, nullptr);
        ASSERT_EQ(Hex(tree->hash()), Hex(reference->hash()));
        ASSERT_EQ(Dump(*tree), Dump(*reference));
        for (Tree* each : {tree.get(), reference.get()}) {
          ASSERT_OK(each->Set("key00" + std::to_string(round), "new"));
          ASSERT_OK(each->Delete("key01" + std::to_string(round)));
        }
        ASSERT_EQ(deferred.Commit(tree.get()), every.Commit(reference.get()));
      }
      deferred.Flush(tree.get());
      // Overwriting every key leaves no legacy node.
      for (const auto& [key, value] : Dump(*tree)) {
        ASSERT_OK(tree->Set(key, "x"));
        ASSERT_OK(reference->Set(key, "x"));
      }
      ASSERT_EQ(deferred.Commit(tree.get()), every.Commit(reference.get()));
      deferred.Flush(tree.get());
      for (const auto& [key, value] : deferred.Dump()) {
        ASSERT_TRUE(key[0] == 's' || key[0] == 'f' || key[0] == 'm') << Hex(key);
      }
    }
  }
}

}  // namespace
}  // namespace blockreplay::storage::iavl
