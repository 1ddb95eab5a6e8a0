#include "storage/multistore/view.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/iavl/tree.h"
#include "storage/ics23/build.h"
#include "storage/ics23/verify.h"
#include "storage/kv/leveldb_source.h"
#include "storage/multistore/diff.h"
#include "storage/multistore/test_util.h"

namespace blockreplay::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string AsBytes(const Hash& hash) { return {hash.begin(), hash.end()}; }

// Makes the versions of a scenario.
void Play(const nlohmann::json& scenario, int64_t last, Multistore* store) {
  for (const auto& version : scenario["versions"]) {
    if (version["version"] > last) return;
    for (const auto& [name, ops] : version["ops"].items()) ApplyOps(ops, store->store(name));
    ASSERT_TRUE(store->WorkingCommit(ParseTime(version["time"])).ok());
    ASSERT_STATUS_OK(store->Commit());
    ASSERT_EQ(version["app_hash"], ToHex(store->app_hash()));
  }
}

// ---- Proofs
// --------------------------------------------------------------------------------------------------------

TEST(Proofs, OfTreesAreTheNodes) {
  const nlohmann::json vectors = ReadFixture("iavl/proof_vectors.json");
  size_t proofs = 0;
  for (const auto& set : vectors["trees"]) {
    MemoryEngine engine;
    WriteBatch batch;
    iavl::TreeOptions options;
    options.persist = iavl::Persist::kEvery;
    auto tree = iavl::Tree::Load(&engine, "", options, 0, &batch);
    ASSERT_TRUE(tree.ok());
    for (const auto& ops : set["versions"]) {
      ApplyOps(ops, tree->get());
      ASSERT_TRUE((*tree)->Commit(&batch).ok());
      ASSERT_STATUS_OK(engine.Write(batch, Durability::kProcessCrash));
      batch.Clear();
    }
    EXPECT_EQ(set["root"], ToHex((*tree)->hash()));
    auto view = (*tree)->GetImmutable((*tree)->version());
    ASSERT_TRUE(view.ok());
    for (const auto& p : set["proofs"]) {
      const std::string key = FromHex(p["key"]);
      std::string made;
      if (p["kind"] == "exist") {
        const auto path = (*view)->GetPath(key);
        ASSERT_TRUE(path.ok() && path->has_value()) << p;
        made = ics23::MakeIavlExistenceProof(**path).SerializeAsString();
      } else {
        const auto neighbours = (*view)->GetNeighbours(key);
        ASSERT_TRUE(neighbours.ok()) << neighbours.status();
        made = ics23::MakeIavlNonExistenceProof(key, *neighbours).SerializeAsString();
      }
      EXPECT_EQ(p["proof"], ToHex(made)) << set["name"] << " " << p["key"];
      ++proofs;
    }
  }
  EXPECT_EQ(proofs, 133u);
}

TEST(Proofs, OfQueriesAreTheNodes) {
  const nlohmann::json vectors = ReadFixture("iavl/proof_vectors.json");
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    MemoryEngine engine;
    MultistoreOptions options;
    options.stores = Specs(vectors["multistore"]["stores"]);
    options.persistence = persistence;
    options.keep_recent = 10;
    auto store = OpenOrDie(&engine, options);
    Play(vectors["multistore"], 6, store.get());
    ASSERT_STATUS_OK(store->Flush());
    size_t proofs = 0;
    for (const auto& p : vectors["multistore_proofs"]) {
      const std::string key = FromHex(p["key"]);
      const std::string name = p["store"];
      for (auto&& view : {store->View(p["height"]), MultistoreView::Open(&engine, p["height"])}) {
        ASSERT_TRUE(view.ok()) << view.status();
        const absl::StatusOr<MultistoreView::QueryResult> result = (*view)->Query(name, key);
        ASSERT_TRUE(result.ok()) << result.status();
        EXPECT_EQ(result->version, p["height"]);
        EXPECT_EQ(result->value.has_value(), p["kind"] == "exist");
        EXPECT_EQ(ToHex(result->value.value_or("")), p.value("value", ""));
        EXPECT_EQ(p["proof_ops"], ToHex(result->proof.SerializeAsString()));
        const absl::Status verified = ics23::VerifyQueryProofOps(
            result->proof, AsBytes(AppHash((*view)->commit_info())), name, key, result->value);
        EXPECT_EQ(verified.ok(), p["kind"] != "nonexist_in_empty_store_unprovable") << verified;
      }
      ++proofs;
    }
    EXPECT_EQ(proofs, 112u);
    const auto view = store->View(0);
    EXPECT_THAT((*view)->Query("acc", ""),
                FailsWith(absl::StatusCode::kInvalidArgument, "empty key"));
    EXPECT_THAT((*view)->Query("none", "k"),
                FailsWith(absl::StatusCode::kNotFound, "no store none"));
  }
}

// ---- Databases of real nodes
// ---------------------------------------------------------------------------------------

class GoDatabase : public ::testing::Test {
 protected:
  // Unpacks a database and opens it.
  std::unique_ptr<LeveldbSource> Open(const std::string& tar) {
    const std::string to = dir_.path() + "/" + absl::StrCat(++unpacked_);
    std::filesystem::create_directories(to);
    const std::string command =
        "tar --zstd -xf '" BLOCKREPLAY_FIXTURES "/" + tar + "' -C '" + to + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(to)) {
      if (entry.path().filename() != "CURRENT") continue;
      auto source = LeveldbSource::Open(entry.path().parent_path().string());
      EXPECT_TRUE(source.ok()) << source.status();
      if (source.ok()) return *std::move(source);
    }
    ADD_FAILURE() << "no database in " << tar;
    return nullptr;
  }

  TempDir dir_;
  int unpacked_ = 0;
};

TEST_F(GoDatabase, OfTheVectorsGiveEveryVersion) {
  for (const std::string name : {"plain", "pruned_fast_stale"}) {
    const nlohmann::json scenario = ReadFixture("iavl/leveldb/" + name + ".json")["scenario"];
    const auto db = Open("iavl/leveldb/" + name + ".tar.zst");
    ASSERT_NE(db, nullptr);
    int64_t readable = 0;
    for (const auto& version : scenario["versions"]) {
      const auto view = MultistoreView::Open(db.get(), version["version"]);
      ASSERT_TRUE(view.ok()) << view.status();
      EXPECT_EQ(version["app_hash"], ToHex(AppHash((*view)->commit_info())));
      bool all = true;
      for (const StoreInfo& info : (*view)->commit_info().stores) {
        const auto tree = (*view)->store(info.name);
        all = all && tree.ok();
        if (!tree.ok()) {
          EXPECT_EQ(tree.status().code(), absl::StatusCode::kNotFound) << tree.status();
        }
      }
      readable += all ? 1 : 0;
    }
    const auto versions = scenario["versions"].size();
    if (name == "plain") {
      EXPECT_EQ(readable, versions);
    } else {
      EXPECT_GT(readable, 0);
      EXPECT_LT(readable, versions);
    }
    const auto last = MultistoreView::Open(db.get(), 0);
    EXPECT_EQ(ReadFixture("iavl/leveldb/index.json")[name]["last_app_hash"],
              ToHex(AppHash((*last)->commit_info())));

    // Nothing is lost between the pairs that the node reads and those of the view.
    const auto all_stores = ListStores(*db);
    ASSERT_TRUE(all_stores.ok());
    EXPECT_EQ(all_stores->size(), scenario["stores"].size());
  }
}

TEST_F(GoDatabase, OfStoppedAndKilledNodes) {
  for (const std::string name : {"send-send", "send-send-killed"}) {
    const nlohmann::json node = ReadFixture("node-db/" + name + "/node.json");
    const auto db = Open("node-db/" + name + "/application.db.tar.zst");
    ASSERT_NE(db, nullptr);
    EXPECT_EQ(*ReadLatestVersion(*db), node["application_height"]);
    for (const auto& [height, app_hash] : node["app_hash_by_height"].items()) {
      const auto view = MultistoreView::Open(db.get(), std::stoll(height));
      ASSERT_TRUE(view.ok()) << view.status();
      EXPECT_EQ(app_hash, ToHex(AppHash((*view)->commit_info())));
      for (const StoreInfo& info : (*view)->commit_info().stores) {
        const auto tree = (*view)->store(info.name);
        ASSERT_TRUE(tree.ok()) << tree.status();
        if (height != std::to_string(node["application_height"].get<int64_t>())) continue;
        const auto keys = node["keys_per_store"].value(info.name, 0);
        EXPECT_EQ((*tree)->size(), keys) << info.name;
        EXPECT_THAT(Contents(**tree), SizeIs(static_cast<size_t>(keys)));
      }
    }
    EXPECT_EQ(*DefaultQueryHeight(*db), node["application_height"].get<int64_t>() - 1);
  }
}

// A deferred multistore goes on where the node stopped, and leaves what a node can open.
TEST_F(GoDatabase, IsContinued) {
  const auto db = Open("iavl/leveldb/pruned_fast_stale.tar.zst");
  ASSERT_NE(db, nullptr);
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    MemoryEngine engine;
    for (const auto& [key, value] : Contents(*db)) ASSERT_STATUS_OK(engine.Set(key, value));
    MultistoreOptions options;
    options.persistence = persistence;
    auto store = OpenOrDie(&engine, options);
    const int64_t base = store->version();
    for (int i = 0; i < 10; ++i) {
      for (const std::string& name : store->store_names()) {
        ASSERT_STATUS_OK(store->store(name)->Set(absl::StrCat("new", i), name));
      }
      ASSERT_TRUE(store->WorkingCommit({}).ok());
      ASSERT_STATUS_OK(store->Commit());
      if (i % 4 == 3) ASSERT_STATUS_OK(store->Flush());
    }
    ASSERT_STATUS_OK(store->Close());
    const Hash hash = store->app_hash();
    store.reset();
    const auto view = MultistoreView::Open(&engine, 0);
    ASSERT_TRUE(view.ok());
    EXPECT_EQ((*view)->version(), base + 10);
    EXPECT_EQ(AppHash((*view)->commit_info()), hash);
    for (const StoreInfo& info : (*view)->commit_info().stores) {
      EXPECT_TRUE((*view)->store(info.name).ok()) << (*view)->store(info.name).status();
    }
  }
}

// ---- Differences
// ---------------------------------------------------------------------------------------------------

struct Found {
  std::string key;
  std::optional<std::string> left;
  std::optional<std::string> right;
  friend bool operator==(const Found&, const Found&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& found) {
    return out << found.key << ": " << found.left.value_or("(absent)") << " / "
               << found.right.value_or("(absent)");
  }
};

std::vector<Found> Diff(MultistoreView* left, MultistoreView* right, std::string_view store) {
  std::vector<Found> found;
  const absl::Status status = DiffStore(left, right, store, [&](const KeyDifference& difference) {
    found.push_back({.key = std::string(difference.key), .left = {}, .right = {}});
    if (difference.left) found.back().left = std::string(*difference.left);
    if (difference.right) found.back().right = std::string(*difference.right);
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  return found;
}

TEST(Diff, KeysInOrderAndOnEitherSide) {
  MemoryEngine left_engine;
  MemoryEngine right_engine;
  const auto make = [](MemoryEngine* engine, const std::vector<std::string>& names,
                       const Pairs& acc) {
    MultistoreOptions options;
    options.stores = Specs(names);
    options.persistence = Persistence::kEvery;
    auto store = OpenOrDie(engine, options);
    for (const auto& [key, value] : acc) EXPECT_TRUE(store->store("acc")->Set(key, value).ok());
    for (const std::string& name : names) {
      if (name == "acc") continue;
      EXPECT_TRUE(store->store(name)->Set("k", name).ok());
    }
    EXPECT_TRUE(store->WorkingCommit({}).ok());
    EXPECT_TRUE(store->Commit().ok());
    EXPECT_TRUE(store->Close().ok());
    return *MultistoreView::Open(engine, 0);
  };
  auto left = make(&left_engine, {"acc", "bank", "gov"},
                   {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"e", ""}, {std::string("b\0", 2), "x"}});
  auto right =
      make(&right_engine, {"acc", "bank", "mint"}, {{"b", "2"}, {"c", "4"}, {"d", "5"}, {"f", ""}});

  const std::vector<StoreDifference> stores =
      CompareStores(left->commit_info(), right->commit_info());
  ASSERT_THAT(stores, SizeIs(4));
  EXPECT_EQ(stores[0].name, "acc");
  EXPECT_FALSE(stores[0].same());
  EXPECT_EQ(stores[1].name, "bank");
  EXPECT_TRUE(stores[1].same());
  EXPECT_EQ(stores[2].name, "gov");
  EXPECT_FALSE(stores[2].right.has_value());
  EXPECT_EQ(stores[3].name, "mint");
  EXPECT_FALSE(stores[3].left.has_value());

  EXPECT_THAT(
      Diff(left.get(), right.get(), "acc"),
      ElementsAre(Found{"a", "1", std::nullopt}, Found{std::string("b\0", 2), "x", std::nullopt},
                  Found{"c", "3", "4"}, Found{"d", std::nullopt, "5"}, Found{"e", "", std::nullopt},
                  Found{"f", std::nullopt, ""}));
  EXPECT_THAT(Diff(left.get(), right.get(), "bank"), IsEmpty());
  EXPECT_THAT(Diff(left.get(), right.get(), "gov"), ElementsAre(Found{"k", "gov", std::nullopt}));
  EXPECT_THAT(Diff(left.get(), right.get(), "mint"), ElementsAre(Found{"k", std::nullopt, "mint"}));
  EXPECT_THAT(Diff(left.get(), right.get(), "none"), IsEmpty());

  int calls = 0;
  ASSERT_STATUS_OK(
      DiffStore(left.get(), right.get(), "acc", [&](const KeyDifference&) { return ++calls < 2; }));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace blockreplay::storage
