#include "storage/multistore/multistore.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/iavl/tree.h"
#include "storage/multistore/test_util.h"
#include "storage/multistore/view.h"
#include "storage/multistore/wal.h"

namespace blockreplay::storage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// ---- The node's multistores
// ----------------------------------------------------------------------------------------

StoreUpgrades ParseUpgrades(const nlohmann::json& json) {
  StoreUpgrades upgrades;
  for (const auto& name : json.value("added", nlohmann::json::array()))
    upgrades.added.push_back(name);
  for (const auto& name : json.value("deleted", nlohmann::json::array())) {
    upgrades.deleted.push_back(name);
  }
  for (const auto& rename : json.value("renamed", nlohmann::json::array())) {
    upgrades.renamed.push_back({.from = rename["old_key"], .to = rename["new_key"]});
  }
  return upgrades;
}

struct Variant {
  const char* name;
  Persistence persistence;
  int threads;
  int reopen_every;  // versions; 0: never
  int64_t flush_interval = 4;
  int64_t keep_recent = 1;
};

class VectorTest : public ::testing::TestWithParam<Variant> {
 protected:
  MultistoreOptions Options(const nlohmann::json& scenario) const {
    MultistoreOptions options;
    options.persistence = GetParam().persistence;
    options.threads = GetParam().threads;
    options.stores = Specs(scenario["stores"]);
    options.fast_nodes = scenario["fast_node"];
    options.initial_version = scenario["initial_version"];
    options.prune_interval = scenario["pruning_interval"];
    options.keep_recent = GetParam().persistence == Persistence::kEvery
                              ? scenario["pruning_keep_recent"].get<int64_t>()
                              : GetParam().keep_recent;
    options.flush_interval_blocks = GetParam().flush_interval;
    options.durability = Durability::kProcessCrash;
    return options;
  }

  void Play(const nlohmann::json& scenario) {
    const bool every = GetParam().persistence == Persistence::kEvery;
    const auto rollback = scenario.value("rollback", nlohmann::json());
    MultistoreOptions options = Options(scenario);
    // There must be something to roll back to.
    if (!every && !rollback.is_null()) options.keep_recent = 3;
    MemoryEngine engine;
    std::unique_ptr<Multistore> store = OpenOrDie(&engine, options);
    int since_open = 0;
    for (const auto& version : scenario["versions"]) {
      SCOPED_TRACE(absl::StrCat(scenario["name"].get<std::string>(), " version ",
                                version["version"].get<int64_t>()));
      if (!rollback.is_null() && version["version"] == rollback["to"].get<int64_t>() + 1 &&
          store->version() == rollback["after_version"]) {
        RollBack(rollback, &engine, store.get());
      } else if (!rollback.is_null() && !every && version["version"] == rollback["to"]) {
        PlayVersion(version, &engine, store.get());
        ASSERT_STATUS_OK(store->Flush());
        continue;
      }
      const auto upgrade = version.find("upgrade");
      const bool upgrades = upgrade != version.end() && !upgrade->is_null();
      if (upgrades || (GetParam().reopen_every > 0 && ++since_open == GetParam().reopen_every)) {
        since_open = 0;
        if (upgrades) options.stores = Specs((*upgrade)["stores"]);
        if (upgrades) options.upgrades = ParseUpgrades(*upgrade);
        ASSERT_STATUS_OK(store->Sync());
        store.reset();
        store = OpenOrDie(&engine, options);
        options.stores.clear();
        options.upgrades = {};
      }
      PlayVersion(version, &engine, store.get());
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_STATUS_OK(store->Close());
    if (every && scenario.contains("final_db")) {
      EXPECT_EQ(DumpHex(engine), scenario["final_db"]) << scenario["name"];
    }
    EXPECT_THAT(*ListWal(engine), IsEmpty());
  }

  void PlayVersion(const nlohmann::json& version, MemoryEngine* engine, Multistore* store) {
    const bool every = GetParam().persistence == Persistence::kEvery;
    for (const auto& [name, ops] : version["ops"].items()) ApplyOps(ops, store->store(name));
    const absl::StatusOr<CommitInfo> info = store->WorkingCommit(ParseTime(version["time"]));
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(version["working_hash"], ToHex(AppHash(*info)));
    EXPECT_EQ(version["commit_info"], ToHex(EncodeCommitInfo(*info)));
    ASSERT_STATUS_OK(store->Commit());
    EXPECT_EQ(store->version(), version["version"]);
    EXPECT_EQ(version["app_hash"], ToHex(store->app_hash()));
    std::map<std::string, std::string> hashes;
    for (const StoreInfo& s : store->last_commit().stores) hashes[s.name] = ToHex(s.hash);
    EXPECT_EQ(nlohmann::json(hashes), version["store_hashes"]);
    if (!every) return;
    ASSERT_STATUS_OK(store->Sync());
    for (const auto& pair : version["root_keys"]) {
      std::string value;
      EXPECT_THAT(engine->Get(FromHex(pair[0]), &value), IsOkAnd(true));
      EXPECT_EQ(pair[1], ToHex(value));
    }
    const auto firsts = version.value("store_first_version", nlohmann::json::object());
    for (const auto& [name, first] : firsts.items()) {
      const auto* tree = dynamic_cast<const iavl::Tree*>(store->tree(name));
      ASSERT_NE(tree, nullptr);
      EXPECT_EQ(*tree->FirstVersion(), first) << name;
    }
  }

  void RollBack(const nlohmann::json& rollback, MemoryEngine* engine, Multistore* store) {
    ASSERT_STATUS_OK(store->Sync());
    const Pairs before = Contents(*engine);
    ASSERT_STATUS_OK(store->RollbackToVersion(rollback["to"]));
    EXPECT_EQ(rollback["app_hash"], ToHex(store->app_hash()));
    if (GetParam().persistence != Persistence::kEvery) return;
    std::map<std::string, std::string> old(before.begin(), before.end());
    nlohmann::json put = nlohmann::json::array();
    for (const auto& [key, value] : Contents(*engine)) {
      const auto it = old.find(key);
      if (it == old.end() || it->second != value) put.push_back({ToHex(key), ToHex(value)});
      if (it != old.end()) old.erase(it);
    }
    nlohmann::json gone = nlohmann::json::array();
    for (const auto& [key, value] : old) gone.push_back(ToHex(key));
    EXPECT_EQ(put, rollback["put"]);
    EXPECT_EQ(gone, rollback["gone"]);
  }
};

TEST_P(VectorTest, MakesTheNodesVersions) {
  const nlohmann::json vectors = ReadFixture("iavl/multistore_vectors.json");
  size_t versions = 0;
  for (const auto& scenario : vectors["scenarios"]) {
    Play(scenario);
    if (HasFatalFailure()) return;
    versions += scenario["versions"].size();
  }
  EXPECT_EQ(versions, 191u);
}

INSTANTIATE_TEST_SUITE_P(
    All, VectorTest,
    ::testing::Values(Variant{"every", Persistence::kEvery, 1, 0},
                      Variant{"every_threads", Persistence::kEvery, 3, 0},
                      Variant{"every_reopened", Persistence::kEvery, 1, 3},
                      Variant{"deferred", Persistence::kDeferred, 1, 0},
                      Variant{"deferred_threads", Persistence::kDeferred, 2, 0},
                      Variant{"deferred_flush_each", Persistence::kDeferred, 1, 0, 1},
                      Variant{"deferred_reopened", Persistence::kDeferred, 2, 3},
                      Variant{"deferred_no_flush", Persistence::kDeferred, 1, 2, 1000},
                      Variant{"deferred_keep", Persistence::kDeferred, 1, 5, 3, 4}),
    [](const auto& param) { return param.param.name; });

// ---- Opening
// -------------------------------------------------------------------------------------------------------

MultistoreOptions TwoStores(Persistence persistence) {
  MultistoreOptions options;
  options.stores = Specs({"acc", "bank"});
  options.persistence = persistence;
  options.flush_interval_blocks = 1000;
  return options;
}

// One version with the given writes to "acc".
void MakeVersion(Multistore* store, const std::string& key, const std::string& value) {
  ASSERT_STATUS_OK(store->store("acc")->Set(key, value));
  ASSERT_TRUE(store->WorkingCommit({}).ok());
  ASSERT_STATUS_OK(store->Commit());
}

TEST(MultistoreOpen, StoresMustBeThoseOfTheDatabase) {
  MemoryEngine engine;
  {
    auto store = OpenOrDie(&engine, TwoStores(Persistence::kEvery));
    MakeVersion(store.get(), "k", "v");
    ASSERT_STATUS_OK(store->Close());
  }
  const auto open = [&](const std::vector<std::string>& names, const StoreUpgrades& upgrades) {
    MultistoreOptions options = TwoStores(Persistence::kEvery);
    options.stores = Specs(names);
    options.upgrades = upgrades;
    return Multistore::Open(&engine, options).status();
  };
  EXPECT_TRUE(open({"bank", "acc"}, {}).ok());
  EXPECT_TRUE(open({}, {}).ok());
  const auto kWrong = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(open({"acc"}, {}), FailsWith(kWrong, "has a store bank"));
  EXPECT_THAT(open({"acc", "bank", "gov"}, {}), FailsWith(kWrong, "store gov is not in version 1"));
  EXPECT_THAT(open({"acc", "bank"}, {.added = {"bank"}, .deleted = {}, .renamed = {}}),
              FailsWith(kWrong, "has it already"));
  EXPECT_THAT(open({"acc", "bank"}, {.added = {"gov"}, .deleted = {}, .renamed = {}}),
              FailsWith(kWrong, "gov is to be added"));
  EXPECT_THAT(open({"acc", "bank"}, {.added = {}, .deleted = {"gov"}, .renamed = {}}),
              FailsWith(kWrong, "gov is to be deleted"));
  EXPECT_THAT(open({"acc", "bank", "b"}, {.added = {}, .deleted = {}, .renamed = {{"gov", "b"}}}),
              FailsWith(kWrong, "no such store"));
  EXPECT_THAT(open({"acc", "acc"}, {}), FailsWith(absl::StatusCode::kInvalidArgument, "twice"));
}

TEST(MultistoreOpen, CommitInfoAndTreesMustAgree) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kEvery));
  MakeVersion(store.get(), "k", "v");
  MakeVersion(store.get(), "k", "w");
  CommitInfo info = store->last_commit();
  ASSERT_STATUS_OK(store->Close());
  store.reset();

  const auto open_with = [&](const CommitInfo& changed) {
    EXPECT_TRUE(engine.Set(CommitInfoKey(2), EncodeCommitInfo(changed)).ok());
    return Multistore::Open(&engine, TwoStores(Persistence::kEvery)).status();
  };
  EXPECT_TRUE(open_with(info).ok());
  CommitInfo changed = info;
  changed.stores[1].version = 1;
  EXPECT_THAT(open_with(changed),
              FailsWith(absl::StatusCode::kDataLoss, "store bank is at version 1"));
  changed = info;
  changed.stores[0].hash[0] ^= 1;
  EXPECT_THAT(open_with(changed), FailsWith(absl::StatusCode::kDataLoss, "open store acc"));
  changed = info;
  changed.version = 3;
  EXPECT_THAT(open_with(changed), FailsWith(absl::StatusCode::kDataLoss, "is of version 3"));
  ASSERT_STATUS_OK(engine.Set(CommitInfoKey(2), "\xff"));
  EXPECT_THAT(Multistore::Open(&engine, {}), FailsWith(absl::StatusCode::kDataLoss, "key s/2"));
  ASSERT_STATUS_OK(engine.Delete(CommitInfoKey(2)));
  EXPECT_THAT(Multistore::Open(&engine, {}), FailsWith(absl::StatusCode::kNotFound, "version 2"));
}

// A Go node writes store after store, and `s/latest` last: it may die in between.
TEST(MultistoreOpen, StoresAheadOfTheLatestVersionAreCutBack) {
  for (const bool first_version : {false, true}) {
    MemoryEngine engine;
    MultistoreOptions options = TwoStores(Persistence::kEvery);
    auto store = OpenOrDie(&engine, options);
    if (!first_version) MakeVersion(store.get(), "k", "v");
    ASSERT_STATUS_OK(store->Sync());
    const Pairs before = Contents(engine);
    MakeVersion(store.get(), "other", "lost");
    ASSERT_STATUS_OK(store->Close());
    store.reset();
    // As after a death between the stores "acc" and "bank".
    for (const auto& [key, value] : Contents(engine)) {
      if (key.rfind("s/k:acc/", 0) != 0) ASSERT_STATUS_OK(engine.Delete(key));
    }
    for (const auto& [key, value] : before) {
      if (key.rfind("s/k:acc/", 0) != 0) ASSERT_STATUS_OK(engine.Set(key, value));
    }

    store = OpenOrDie(&engine, options);
    EXPECT_EQ(store->version(), first_version ? 0 : 1);
    EXPECT_THAT(store->store("acc")->Has("other"), IsOkAnd(false));
    EXPECT_EQ(DumpHex(engine).size(), before.size());

    // And on with other writes than those that were lost.
    MakeVersion(store.get(), "third", "x");
    ASSERT_STATUS_OK(store->Close());
    MemoryEngine clean_engine;
    auto clean = OpenOrDie(&clean_engine, options);
    if (!first_version) MakeVersion(clean.get(), "k", "v");
    MakeVersion(clean.get(), "third", "x");
    ASSERT_STATUS_OK(clean->Close());
    EXPECT_EQ(store->app_hash(), clean->app_hash());
    if (first_version) {
      EXPECT_EQ(DumpHex(engine), DumpHex(clean_engine));
    }
  }
}

// ---- The life of a version
// -----------------------------------------------------------------------------------------

TEST(Multistore, CallsOutOfOrderAreRefused) {
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    MemoryEngine engine;
    auto store = OpenOrDie(&engine, TwoStores(persistence));
    EXPECT_EQ(store->version(), 0);
    EXPECT_EQ(store->store("gov"), nullptr);
    EXPECT_EQ(store->tree("gov"), nullptr);
    EXPECT_THAT(store->store_names(), ElementsAre("acc", "bank"));
    EXPECT_THAT(store->store("acc")->Set("", "v"),
                FailsWith(absl::StatusCode::kInvalidArgument, "store acc: empty key"));
    EXPECT_THAT(store->store("acc")->Delete(""),
                FailsWith(absl::StatusCode::kInvalidArgument, "store acc: empty key"));
    const auto kOrder = absl::StatusCode::kFailedPrecondition;
    EXPECT_THAT(store->Commit(), FailsWith(kOrder, "must be hashed"));
    ASSERT_TRUE(store->WorkingCommit({}).ok());
    ASSERT_STATUS_OK(store->store("acc")->Set("k", "v"));
    EXPECT_THAT(store->Commit(), FailsWith(kOrder, "no write afterwards"));
    if (persistence == Persistence::kDeferred) {
      MakeVersion(store.get(), "k", "v");
      ASSERT_STATUS_OK(store->store("acc")->Set("k", "w"));
      EXPECT_THAT(store->Flush(), FailsWith(kOrder, "not committed"));
    }
  }
}

TEST(Multistore, RollbackForgetsTheVersion) {
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    for (const bool copy_on_write : {false, true}) {
      for (const bool hash_first : {false, true}) {
        MemoryEngine engine;
        MultistoreOptions options = TwoStores(persistence);
        options.copy_on_write = copy_on_write;
        auto store = OpenOrDie(&engine, options);
        Store* const acc = store->store("acc");
        ASSERT_STATUS_OK(acc->Set("a", "1"));
        MakeVersion(store.get(), "b", "2");
        MakeVersion(store.get(), "c", "3");
        const Hash before = store->app_hash();
        ASSERT_STATUS_OK(acc->Set("b", "other"));
        ASSERT_STATUS_OK(acc->Delete("a"));
        ASSERT_STATUS_OK(store->store("bank")->Set("d", "4"));
        if (hash_first) {
          ASSERT_TRUE(store->WorkingCommit({}).ok());
        }
        ASSERT_STATUS_OK(store->Rollback());
        EXPECT_EQ(store->version(), 2);
        EXPECT_EQ(store->app_hash(), before);
        EXPECT_EQ(store->store("acc"), acc);
        EXPECT_EQ(Contents(*acc), (Pairs{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
        EXPECT_THAT(Contents(*store->store("bank")), IsEmpty());
        EXPECT_THAT(store->Commit(),
                    FailsWith(absl::StatusCode::kFailedPrecondition, "must be hashed"));
        // The next version is as if nothing had been.
        MakeVersion(store.get(), "e", "5");
        MemoryEngine clean_engine;
        auto clean = OpenOrDie(&clean_engine, TwoStores(persistence));
        ASSERT_STATUS_OK(clean->store("acc")->Set("a", "1"));
        MakeVersion(clean.get(), "b", "2");
        MakeVersion(clean.get(), "c", "3");
        MakeVersion(clean.get(), "e", "5");
        EXPECT_EQ(store->app_hash(), clean->app_hash());
        ASSERT_STATUS_OK(store->Close());
        ASSERT_STATUS_OK(clean->Close());
        EXPECT_EQ(DumpHex(engine), DumpHex(clean_engine));
      }
    }
  }
}

TEST(Multistore, RollbackBeforeAnUpgradeStartsItAgain) {
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    MemoryEngine engine;
    MultistoreOptions options = TwoStores(persistence);
    auto store = OpenOrDie(&engine, options);
    MakeVersion(store.get(), "k", "v");
    store.reset();  // deferred: the version is in the write-ahead log only
    options.stores = Specs({"accounts", "bank", "gov"});
    options.upgrades = {.added = {"gov"}, .deleted = {"bank"}, .renamed = {{"acc", "accounts"}}};
    store = OpenOrDie(&engine, options);
    EXPECT_EQ(store->version(), 1);
    EXPECT_THAT(store->store_names(), ElementsAre("accounts", "gov"));
    EXPECT_EQ(store->store("bank"), nullptr);
    ASSERT_STATUS_OK(store->store("accounts")->Set("k", "changed"));
    ASSERT_STATUS_OK(store->Rollback());
    EXPECT_EQ(Contents(*store->store("accounts")), (Pairs{{"k", "v"}}));
    ASSERT_TRUE(store->WorkingCommit({}).ok());
    ASSERT_STATUS_OK(store->Commit());
    EXPECT_EQ(store->last_commit().stores.size(), 2u);
    store.reset();
    options = {};
    options.persistence = persistence;
    store = OpenOrDie(&engine, options);
    EXPECT_THAT(store->store_names(), ElementsAre("accounts", "gov"));
    EXPECT_EQ(Contents(*store->store("accounts")), (Pairs{{"k", "v"}}));
    EXPECT_EQ(store->version(), 2);
  }
}

// An engine whose writes fail from a certain one on.
class FailingEngine final : public Engine {
 public:
  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override {
    return engine_.Get(key, value);
  }
  absl::StatusOr<bool> Has(std::string_view key) const override { return engine_.Has(key); }
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override {
    return engine_.NewIterator(range, direction);
  }
  absl::Status Set(std::string_view key, std::string_view value) override {
    return engine_.Set(key, value);
  }
  absl::Status Delete(std::string_view key) override { return engine_.Delete(key); }
  absl::Status Write(const WriteBatch& batch, Durability durability) override {
    if (good_writes_ == 0) return absl::ResourceExhaustedError("disk full");
    if (good_writes_ > 0) --good_writes_;
    return engine_.Write(batch, durability);
  }
  void FailAfter(int writes) { good_writes_ = writes; }

 private:
  MemoryEngine engine_;
  std::atomic<int> good_writes_ = -1;
};

TEST(Multistore, BackgroundErrorsSurfaceAndNothingIsWrittenAfterThem) {
  for (const Persistence persistence : {Persistence::kEvery, Persistence::kDeferred}) {
    FailingEngine engine;
    auto store = OpenOrDie(&engine, TwoStores(persistence));
    MakeVersion(store.get(), "a", "1");
    ASSERT_STATUS_OK(store->Sync());
    const Hash good = store->app_hash();
    engine.FailAfter(0);
    absl::Status status;
    for (int i = 0; i < 4 && status.ok(); ++i) {
      ASSERT_STATUS_OK(store->store("acc")->Set(absl::StrCat("b", i), "2"));
      status = store->WorkingCommit({}).status();
      if (status.ok()) status = store->Commit();
    }
    EXPECT_THAT(status, FailsWith(absl::StatusCode::kResourceExhausted, "disk full"));
    EXPECT_THAT(store->Sync(), FailsWith(absl::StatusCode::kResourceExhausted, "disk full"));
    EXPECT_FALSE(store->Close().ok());
    engine.FailAfter(-1);
    store.reset();
    store = OpenOrDie(&engine, TwoStores(persistence));
    EXPECT_EQ(store->version(), 1);
    EXPECT_EQ(store->app_hash(), good);
  }
}

// ---- Deferred persistence
// ------------------------------------------------------------------------------------------

TEST(Deferred, ReplaysTheLogAndProvesIt) {
  MemoryEngine engine;
  const MultistoreOptions options = TwoStores(Persistence::kDeferred);
  auto store = OpenOrDie(&engine, options);
  for (int i = 0; i < 5; ++i) MakeVersion(store.get(), absl::StrCat("k", i), "v");
  ASSERT_STATUS_OK(store->store("acc")->Delete("k1"));
  MakeVersion(store.get(), "k9", "");
  const CommitInfo last = store->last_commit();
  store.reset();
  EXPECT_EQ(ReadLatestVersion(engine).value(), 0);
  EXPECT_THAT(*ListWal(engine), ElementsAre(1, 2, 3, 4, 5, 6));

  store = OpenOrDie(&engine, options);
  EXPECT_EQ(store->last_commit(), last);
  EXPECT_EQ(store->stats().flushed_version, 0);
  store.reset();

  // Any change of a record is noticed.
  std::string record;
  ASSERT_THAT(engine.Get(WalKey(4), &record), IsOkAnd(true));
  for (size_t i = 0; i < record.size(); ++i) {
    std::string changed = record;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    ASSERT_STATUS_OK(engine.Set(WalKey(4), changed));
    EXPECT_EQ(Multistore::Open(&engine, options).status().code(), absl::StatusCode::kDataLoss) << i;
  }
  // Also one with a right checksum: the app hash is proven.
  WalRecord decoded = *DecodeWalRecord(4, record);
  ChangeLog other;
  other.Set("k3", "x");
  decoded.stores[0].changes = other.bytes();
  ASSERT_STATUS_OK(engine.Set(WalKey(4), EncodeWalRecord(decoded)));
  EXPECT_THAT(Multistore::Open(&engine, options),
              FailsWith(absl::StatusCode::kDataLoss, "version 4 from the write-ahead log"));
  decoded = *DecodeWalRecord(4, record);
  decoded.stores[0].name = "gov";
  ASSERT_STATUS_OK(engine.Set(WalKey(4), EncodeWalRecord(decoded)));
  EXPECT_THAT(Multistore::Open(&engine, options),
              FailsWith(absl::StatusCode::kDataLoss, "unknown store gov"));
  ASSERT_STATUS_OK(engine.Delete(WalKey(4)));
  EXPECT_THAT(Multistore::Open(&engine, options),
              FailsWith(absl::StatusCode::kDataLoss, "goes on with version 5 after version 3"));
}

TEST(Deferred, AfterAFlushTheDatabaseIsThatOfAPrunedNode) {
  MemoryEngine deferred_engine;
  MemoryEngine every_engine;
  MultistoreOptions every_options = TwoStores(Persistence::kEvery);
  every_options.fast_nodes = false;
  every_options.prune_interval = 1;
  every_options.keep_recent = 0;
  auto deferred = OpenOrDie(&deferred_engine, TwoStores(Persistence::kDeferred));
  auto every = OpenOrDie(&every_engine, every_options);
  Random random(7);
  for (int version = 1; version <= 60; ++version) {
    for (const auto& store : {deferred.get(), every.get()}) {
      Random same = random;
      for (int i = 0; i < version % 7; ++i) {
        const std::string key = absl::StrCat("key", same.Below(40));
        ASSERT_STATUS_OK(same.Below(4) == 0
                             ? store->store("acc")->Delete(key)
                             : store->store("acc")->Set(key, absl::StrCat(same.Next())));
      }
      ASSERT_TRUE(store->WorkingCommit({.seconds = version, .nanos = 1}).ok());
      ASSERT_STATUS_OK(store->Commit());
    }
    random.Next();
    ASSERT_EQ(deferred->app_hash(), every->app_hash());
    if (version % 13 == 0) ASSERT_STATUS_OK(deferred->Flush());
  }
  ASSERT_STATUS_OK(deferred->Close());
  ASSERT_STATUS_OK(every->Close());

  // Node keys are the same where a node was written before it died; roots too.
  const auto as_map = [](const Pairs& pairs) {
    return std::map<std::string, std::string>(pairs.begin(), pairs.end());
  };
  const auto deferred_pairs = as_map(Contents(deferred_engine));
  const auto every_pairs = as_map(Contents(every_engine));
  EXPECT_EQ(deferred_pairs, every_pairs);

  // A node (persist every) goes on from there.
  every_options.fast_nodes = true;
  auto reopened = OpenOrDie(&deferred_engine, every_options);
  EXPECT_EQ(reopened->version(), 60);
  MakeVersion(reopened.get(), "more", "x");
}

TEST(Deferred, TheLogOfAnotherModeIsCarriedOver) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kDeferred));
  MakeVersion(store.get(), "a", "1");
  MakeVersion(store.get(), "b", "2");
  const Hash hash = store->app_hash();
  store.reset();
  store = OpenOrDie(&engine, TwoStores(Persistence::kEvery));
  EXPECT_EQ(store->app_hash(), hash);
  ASSERT_STATUS_OK(store->Close());
  EXPECT_THAT(*ListWal(engine), IsEmpty());
  EXPECT_EQ(*ReadLatestVersion(engine), 2);
  // What a node would have written.
  MemoryEngine clean_engine;
  auto clean = OpenOrDie(&clean_engine, TwoStores(Persistence::kEvery));
  MakeVersion(clean.get(), "a", "1");
  MakeVersion(clean.get(), "b", "2");
  ASSERT_STATUS_OK(clean->Close());
  EXPECT_EQ(DumpHex(engine), DumpHex(clean_engine));
}

// A Go node knows nothing of the log: it goes on from the last flush.
TEST(Deferred, TheLogOfAnotherHistoryIsDropped) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kDeferred));
  MakeVersion(store.get(), "k1", "v");
  ASSERT_STATUS_OK(store->Flush());
  for (int i = 2; i <= 5; ++i) MakeVersion(store.get(), absl::StrCat("k", i), "v");
  store.reset();
  Pairs log;
  const std::vector<int64_t> versions = *ListWal(engine);
  for (const int64_t version : versions) {
    std::string record;
    ASSERT_THAT(engine.Get(WalKey(version), &record), IsOkAnd(true));
    log.emplace_back(WalKey(version), record);
    ASSERT_STATUS_OK(engine.Delete(WalKey(version)));
  }
  ASSERT_THAT(log, ::testing::SizeIs(4));
  store = OpenOrDie(&engine, TwoStores(Persistence::kEvery));
  for (int i = 2; i <= 3; ++i) MakeVersion(store.get(), absl::StrCat("other", i), "v");
  ASSERT_STATUS_OK(store->Close());
  const Hash hash = store->app_hash();
  store.reset();
  for (const auto& [key, record] : log) ASSERT_STATUS_OK(engine.Set(key, record));

  EXPECT_EQ((*MultistoreView::Open(&engine, 0))->version(), 3);
  store = OpenOrDie(&engine, TwoStores(Persistence::kDeferred));
  EXPECT_EQ(store->version(), 3);
  EXPECT_EQ(store->app_hash(), hash);
  EXPECT_THAT(*ListWal(engine), IsEmpty());
}

TEST(Deferred, RollbackToAVersionOfTheLog) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kDeferred));
  std::vector<Hash> hashes = {store->app_hash()};
  for (int i = 1; i <= 6; ++i) {
    MakeVersion(store.get(), absl::StrCat("k", i), "v");
    hashes.push_back(store->app_hash());
    if (i == 3) ASSERT_STATUS_OK(store->Flush());
  }
  EXPECT_THAT(store->RollbackToVersion(7),
              FailsWith(absl::StatusCode::kInvalidArgument, "version 7"));
  ASSERT_STATUS_OK(store->RollbackToVersion(5));
  EXPECT_EQ(store->version(), 5);
  EXPECT_EQ(store->app_hash(), hashes[5]);
  ASSERT_STATUS_OK(store->RollbackToVersion(3));
  EXPECT_EQ(store->app_hash(), hashes[3]);
  EXPECT_THAT(*ListWal(engine), IsEmpty());
  EXPECT_FALSE(store->RollbackToVersion(2).ok());  // pruned
  ASSERT_STATUS_OK(store->Rollback());
  MakeVersion(store.get(), "k4", "v");
  EXPECT_EQ(store->app_hash(), hashes[4]);
}

TEST(Deferred, DirtyBytesBoundTheTimeBetweenFlushes) {
  MemoryEngine engine;
  MultistoreOptions options = TwoStores(Persistence::kDeferred);
  options.flush_bytes = 200'000;
  options.cache_bytes = 1'000'000;
  auto store = OpenOrDie(&engine, options);
  size_t most = 0;
  for (int version = 0; version < 60; ++version) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_STATUS_OK(
          store->store("acc")->Set(absl::StrCat("key", version, "/", i), std::string(100, 'v')));
    }
    ASSERT_TRUE(store->WorkingCommit({}).ok());
    ASSERT_STATUS_OK(store->Commit());
    const Multistore::Stats stats = store->stats();
    EXPECT_LT(stats.dirty_bytes, options.flush_bytes);
    most = std::max(most, stats.tree_bytes);
  }
  EXPECT_GT(store->stats().flushes, 3);
  EXPECT_LT(most, options.cache_bytes + options.flush_bytes);
  EXPECT_GT(most, options.cache_bytes / 2);  // the bound was felt
  EXPECT_THAT(store->store("acc")->Has("key0/0"), IsOkAnd(true));
}

// ---- Views
// ---------------------------------------------------------------------------------------------------------

TEST(Views, OldVersionsAndTheLast) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kEvery));
  for (int i = 1; i <= 4; ++i) MakeVersion(store.get(), "k", absl::StrCat(i));
  ASSERT_STATUS_OK(store->store("acc")->Set("k", "pending"));
  for (int64_t version = 1; version <= 4; ++version) {
    absl::StatusOr<std::unique_ptr<MultistoreView>> live = store->View(version);
    ASSERT_TRUE(live.ok()) << live.status();
    absl::StatusOr<std::unique_ptr<MultistoreView>> cold = MultistoreView::Open(&engine, version);
    ASSERT_TRUE(cold.ok()) << cold.status();
    for (MultistoreView* view : {live->get(), cold->get()}) {
      EXPECT_EQ(view->version(), version);
      absl::StatusOr<const iavl::View*> acc = view->store("acc");
      ASSERT_TRUE(acc.ok()) << acc.status();
      EXPECT_EQ(Contents(**acc), (Pairs{{"k", absl::StrCat(version)}}));
      EXPECT_THAT(view->store("gov"), FailsWith(absl::StatusCode::kNotFound, "no store gov"));
    }
  }
  EXPECT_EQ((*store->View(0))->version(), 4);
  EXPECT_EQ((*MultistoreView::Open(&engine, 0))->version(), 4);
  EXPECT_THAT(store->View(5), FailsWith(absl::StatusCode::kNotFound, "last one is 4"));
  EXPECT_THAT(MultistoreView::Open(&engine, 5),
              FailsWith(absl::StatusCode::kNotFound, "last one is 4"));
  MemoryEngine empty;
  EXPECT_THAT(MultistoreView::Open(&empty, 0),
              FailsWith(absl::StatusCode::kNotFound, "no committed version"));
  EXPECT_EQ(*DefaultQueryHeight(engine), 3);
  EXPECT_EQ(*DefaultQueryHeight(empty), 0);
  EXPECT_THAT(*ListVersions(engine), ElementsAre(1, 2, 3, 4));
}

TEST(Views, VersionsOfTheWriteAheadLog) {
  MemoryEngine engine;
  auto store = OpenOrDie(&engine, TwoStores(Persistence::kDeferred));
  for (int i = 1; i <= 2; ++i) MakeVersion(store.get(), "k", absl::StrCat(i));
  ASSERT_STATUS_OK(store->Flush());
  for (int i = 3; i <= 5; ++i) MakeVersion(store.get(), "k", absl::StrCat(i));
  const auto value = [](MultistoreView* view) {
    absl::StatusOr<const iavl::View*> acc = view->store("acc");
    if (!acc.ok()) return std::string(acc.status().message());
    return Contents(**acc)[0].second;
  };
  EXPECT_EQ(value(store->View(5)->get()), "5");
  EXPECT_THAT((*store->View(1))->store("acc"),
              FailsWith(absl::StatusCode::kNotFound, "store acc, version 1"));
  store.reset();
  const Pairs before = Contents(engine);
  for (const int64_t version : {2, 3, 4, 5, 0}) {
    absl::StatusOr<std::unique_ptr<MultistoreView>> view = MultistoreView::Open(&engine, version);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(value(view->get()), absl::StrCat(version == 0 ? 5 : version));
  }
  EXPECT_FALSE((*MultistoreView::Open(&engine, 1))->store("acc").ok());
  EXPECT_EQ(*DefaultQueryHeight(engine), 2);
  EXPECT_EQ(Contents(engine), before);
}

TEST(Views, ListsWhatADatabaseHas) {
  MemoryEngine engine;
  MultistoreOptions options = TwoStores(Persistence::kEvery);
  options.stores = Specs({"acc", "accounts", "bank"});
  auto store = OpenOrDie(&engine, options);
  MakeVersion(store.get(), "k", "v");
  store.reset();
  options.stores = Specs({"acc", "accounts", "bank"});
  options.upgrades.deleted = {"accounts"};
  store = OpenOrDie(&engine, options);
  MakeVersion(store.get(), "k", "w");
  MakeVersion(store.get(), "k", "x");
  ASSERT_STATUS_OK(store->Close());
  ASSERT_STATUS_OK(engine.Set("s/prunesnapshotheights", ""));
  ASSERT_STATUS_OK(engine.Set("s/k:nothing", "a key that belongs to no store"));
  const std::vector<StoreInDatabase> stores = *ListStores(engine);
  ASSERT_EQ(stores.size(), 3u);
  EXPECT_EQ(stores[0].name, "acc");
  EXPECT_EQ(stores[0].latest_version, 3);
  EXPECT_TRUE(stores[0].in_latest_commit);
  EXPECT_EQ(stores[1].name, "accounts");
  EXPECT_EQ(stores[1].latest_version, 2);
  EXPECT_FALSE(stores[1].in_latest_commit);
  EXPECT_EQ(stores[2].name, "bank");
  EXPECT_THAT(*ListVersions(engine), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace blockreplay::storage
