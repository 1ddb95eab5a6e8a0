#include "storage/bptree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "storage/bptree/naive_tree.h"
#include "storage/bptree/test_support.h"
#include "storage/kv/memory_engine.h"
#include "storage/sha256.h"

namespace blockreplay::storage::bptree {
namespace {

std::string BigEndian32(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

const nlohmann::json& Vectors() {
  static const auto* const vectors = new nlohmann::json(ReadFixture("bptree_vectors.json"));
  return *vectors;
}

// Everything in an engine below a prefix, as hex.
std::map<std::string, std::string> Dump(const Reader& engine, const std::string& prefix = "") {
  std::map<std::string, std::string> dump;
  const auto it = engine.NewIterator(KeyRange::Prefix(prefix), Direction::kForward);
  for (; it->Valid(); it->Next()) dump[Hex(it->key().substr(prefix.size()))] = Hex(it->value());
  return dump;
}

std::map<std::string, std::string> Content(const Tree& tree) {
  std::map<std::string, std::string> content;
  const auto it = tree.NewIterator(KeyRange::All(), Direction::kForward);
  for (; it->Valid(); it->Next()) content[std::string(it->key())] = it->value();
  EXPECT_TRUE(it->status().ok()) << it->status();
  return content;
}

// A tree and its database; commits as a multistore does.
class Fixture {
 public:
  explicit Fixture(TreeOptions options = {}) : options_(std::move(options)) { Reopen(0); }

  void Reopen(int64_t version) {
    auto opened = Tree::Open(&engine, options_, version);
    ASSERT_TRUE(opened.ok()) << opened.status();
    tree = *std::move(opened);
  }
  void Apply(const std::string& operation) {
    const std::vector<std::string> parts = absl::StrSplit(operation, ':');
    if (parts[0] == "s") {
      ASSERT_TRUE(tree->Set(Unhex(parts[1]), Unhex(parts[2])).ok());
    } else {
      ASSERT_TRUE(tree->Delete(Unhex(parts[1])).ok());
    }
  }
  Hash Commit() {
    WriteBatch batch;
    const auto hash = tree->Commit(&batch);
    EXPECT_TRUE(hash.ok()) << hash.status();
    EXPECT_TRUE(engine.Write(batch, Durability::kProcessCrash).ok());
    return hash.ok() ? *hash : Hash{};
  }
  void Flush() {
    WriteBatch batch;
    ASSERT_TRUE(tree->Flush(&batch).ok());
    ASSERT_TRUE(engine.Write(batch, Durability::kProcessCrash).ok());
  }
  void DeleteVersionsTo(int64_t version) {
    WriteBatch batch;
    const absl::Status status = tree->DeleteVersionsTo(version, &batch);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(engine.Write(batch, Durability::kProcessCrash).ok());
  }

  MemoryEngine engine;
  std::unique_ptr<Tree> tree;

 private:
  TreeOptions options_;
};

TreeOptions InPlace() {
  TreeOptions options;
  options.persist = Persist::kDeferred;
  options.retain_history = false;
  return options;
}

TreeOptions DeferredWithHistory() {
  TreeOptions options;
  options.persist = Persist::kDeferred;
  return options;
}

class TreeModeTest : public testing::TestWithParam<int> {
 protected:
  TreeOptions options() const {
    return GetParam() == 0 ? TreeOptions() : GetParam() == 1 ? InPlace() : DeferredWithHistory();
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, TreeModeTest, testing::Values(0, 1, 2),
                         [](const testing::TestParamInfo<int>& mode) {
                           return mode.param == 0   ? "EveryVersion"
                                  : mode.param == 1 ? "InPlace"
                                                    : "DeferredWithHistory";
                         });

TEST_P(TreeModeTest, ReproducesTheRecordedRoots) {
  size_t roots = 0;
  for (const auto& scenario : Vectors().at("scenarios")) {
    Fixture fixture(options());
    for (const auto& version : scenario.at("versions")) {
      for (const auto& operation : version.at("ops")) fixture.Apply(operation);
      ASSERT_EQ(version.at("root"), Hex(fixture.Commit())) << scenario.at("name");
      ASSERT_EQ(fixture.tree->size(), version.at("size")) << scenario.at("name");
      ASSERT_EQ(fixture.tree->height(), version.at("height")) << scenario.at("name");
      ++roots;
    }
  }
  EXPECT_EQ(roots, 352u);
}

TEST_P(TreeModeTest, ReproducesTheRootsOfLargeTrees) {
  for (const auto& rule : Vectors().at("rules")) {
    const bool scattered = rule.at("Name") == "rule-mul-40000";
    const auto key = [&](uint32_t i) { return BigEndian32(scattered ? i * 2654435761u : i); };
    Fixture fixture(options());
    size_t next_root = 0;
    const auto expect_root = [&] {
      const auto& expected = rule.at("Roots").at(next_root++);
      ASSERT_EQ(expected.at("root"), Hex(fixture.Commit())) << rule.at("Name");
      ASSERT_EQ(fixture.tree->size(), expected.at("size"));
      ASSERT_EQ(fixture.tree->height(), expected.at("height"));
    };
    for (uint32_t i = 0; i < 40000; ++i) {
      ASSERT_TRUE(fixture.tree->Set(key(i), BigEndian32(scattered ? i : i * 7)).ok());
      if ((i + 1) % 10000 == 0) expect_root();
    }
    if (!scattered) continue;
    for (uint32_t i = 0; i < 40000; i += 3) ASSERT_TRUE(fixture.tree->Delete(key(i)).ok());
    expect_root();
  }
}

TEST(TreeTest, WritesTheRecordsOfTheOriginal) {
  const auto& dump = Vectors().at("db_dump");
  TreeOptions options;
  options.key_prefix = "s/_/";
  Fixture fixture(options);
  const auto number = [](int i, const char* format) {
    char text[32];
    std::snprintf(text, sizeof(text), format, i);
    return std::string(text);
  };
  for (int i = 0; i < 33; ++i)
    ASSERT_TRUE(fixture.tree->Set(number(i, "key%06d"), number(i, "val%d")).ok());
  EXPECT_EQ(dump.at("roots").at(0), Hex(fixture.Commit()));
  ASSERT_TRUE(fixture.tree->Set("key000003", "new").ok());
  ASSERT_TRUE(fixture.tree->Delete("key000032").ok());
  EXPECT_EQ(dump.at("roots").at(1), Hex(fixture.Commit()));
  std::map<std::string, std::string> expected;
  for (const std::string entry : dump.at("kv")) {
    const std::vector<std::string> parts = absl::StrSplit(entry, '=');
    expected[parts[0]] = parts[1];
  }
  EXPECT_EQ(Dump(fixture.engine, "s/_/"), expected);
  EXPECT_EQ(Dump(fixture.engine).size(), expected.size());
}

std::string RandomKey(std::mt19937* random, uint32_t range) {
  // Keys that differ early, late, only in length, and by zero bytes at the end.
  const auto n = static_cast<uint32_t>((*random)() % range);
  std::string key = n % 3 == 0 ? "/a/" : n % 3 == 1 ? "/some/longer/prefix/" : "";
  key += BigEndian32(n);
  if (n % 7 == 0) key.append(n % 5, '\0');
  return key;
}

TEST_P(TreeModeTest, AgreesWithTheNaiveTreeOverRandomHistories) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    const uint32_t range = seed % 2 == 0 ? 300 : 6000;
    Fixture fixture(options());
    NaiveTree naive;
    std::map<std::string, std::string> content;
    for (int version = 1; version <= 40; ++version) {
      // Phases of growth and of decline, so that merges reach the upper levels.
      const uint32_t deletes_of_ten = version % 20 < 12 ? 3 : 8;
      for (auto i = random() % 400; i > 0; --i) {
        const std::string key = RandomKey(&random, range);
        if (random() % 10 < deletes_of_ten) {
          ASSERT_TRUE(fixture.tree->Delete(key).ok());
          naive.Delete(key);
          content.erase(key);
        } else {
          const std::string value(random() % 50, static_cast<char>(random()));
          ASSERT_TRUE(fixture.tree->Set(key, value).ok());
          naive.Set(key, value);
          content[key] = value;
        }
      }
      ASSERT_EQ(Hex(fixture.Commit()), Hex(naive.RootHash())) << seed << " " << version;
      ASSERT_EQ(fixture.tree->size(), static_cast<int64_t>(content.size()));
      if (version % 5 == 0) {
        fixture.Flush();
        if (random() % 2 == 0) fixture.tree->Trim(random() % 2 == 0 ? 0 : 20000);
        if (random() % 2 == 0) fixture.Reopen(version);
        if (random() % 2 == 0 && version > 5) fixture.DeleteVersionsTo(version - 3);
      }
    }
    ASSERT_EQ(Content(*fixture.tree), content);
    for (int i = 0; i < 200; ++i) {
      const std::string key = RandomKey(&random, range);
      std::string value = "untouched";
      const auto exists = fixture.tree->Get(key, &value);
      ASSERT_TRUE(exists.ok());
      ASSERT_EQ(*exists, content.contains(key));
      ASSERT_EQ(value, content.contains(key) ? content[key] : "untouched");
      ASSERT_EQ(*fixture.tree->Has(key), content.contains(key));
    }
  }
}

TEST_P(TreeModeTest, IteratesOverRangesInBothDirections) {
  std::mt19937 random(7);
  Fixture fixture(options());
  std::map<std::string, std::string> content;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = RandomKey(&random, 8000);
    content[key] = absl::StrCat(i);
    ASSERT_TRUE(fixture.tree->Set(key, content[key]).ok());
  }
  for (int round = 0; round < 300; ++round) {
    if (round == 100) fixture.Commit();
    if (round == 200) {
      fixture.Flush();
      fixture.Reopen(1);
    }
    KeyRange range;
    if (random() % 4 != 0) range.start = RandomKey(&random, 8000);
    if (random() % 4 != 0) range.end = RandomKey(&random, 8000);
    std::vector<std::pair<std::string, std::string>> expected;
    for (const auto& item : content)
      if (range.Contains(item.first)) expected.push_back(item);
    const bool forward = random() % 2 == 0;
    if (!forward) std::reverse(expected.begin(), expected.end());
    std::vector<std::pair<std::string, std::string>> actual;
    const auto it =
        fixture.tree->NewIterator(range, forward ? Direction::kForward : Direction::kReverse);
    for (; it->Valid(); it->Next()) actual.emplace_back(it->key(), it->value());
    ASSERT_TRUE(it->status().ok());
    ASSERT_EQ(actual, expected);
  }
}

// What a database must hold for exactly these versions: all that a walk from their roots reaches,
// and nothing else but what the fast index and later pruning need.
void ExpectOnlyReachable(const Reader& engine, const std::set<int64_t>& versions) {
  std::set<std::string> reachable;
  std::set<std::string> values;
  std::map<int64_t, std::string> roots;
  std::set<std::string> nodes_found;
  std::set<std::string> values_found;
  const auto all = engine.NewIterator(KeyRange::All(), Direction::kForward);
  for (; all->Valid(); all->Next()) {
    const std::string key(all->key());
    if (key[0] == 'R') roots[*VersionOfRootKey(key)] = all->value();
    if (key[0] == 'B') nodes_found.insert(key);
    if (key[0] == 'V') values_found.insert(key);
  }
  std::set<int64_t> found;
  std::vector<RecordKey> visits;
  for (const auto& [version, record] : roots) {
    found.insert(version);
    const auto root = ParseRoot(*Unseal(record));
    ASSERT_TRUE(root.ok());
    if (root->root.version != 0) visits.push_back(root->root);
  }
  EXPECT_EQ(found, versions);
  while (!visits.empty()) {
    const RecordKey key = visits.back();
    visits.pop_back();
    if (!reachable.insert(KeyOf('B', key)).second) continue;
    std::string record;
    ASSERT_TRUE(*engine.Get(KeyOf('B', key), &record)) << "a node that is needed is gone";
    const auto node = ParseNode(key, *Unseal(record), std::nullopt);
    ASSERT_TRUE(node.ok()) << node.status();
    for (size_t i = 0; i < (*node)->count; ++i) {
      if ((*node)->is_leaf()) {
        values.insert(KeyOf('V', (*node)->leaf()->entries[i]->value_key));
      } else {
        visits.push_back((*node)->inner()->children[i].record);
      }
    }
  }
  EXPECT_EQ(nodes_found, reachable);
  EXPECT_EQ(values_found, values);
}

TEST_P(TreeModeTest, PrunesExactlyWhatNoVersionNeeds) {
  for (const bool reopen : {false, true}) {
    std::mt19937 random(11);
    Fixture fixture(options());
    for (int version = 1; version <= 30; ++version) {
      for (int i = 0; i < 120; ++i) {
        const std::string key = RandomKey(&random, 2000);
        if (random() % 3 == 0) {
          ASSERT_TRUE(fixture.tree->Delete(key).ok());
        } else {
          ASSERT_TRUE(fixture.tree->Set(key, absl::StrCat(random())).ok());
        }
      }
      // An empty version now and then.
      if (version % 7 == 0) {
        for (const auto& [key, value] : Content(*fixture.tree))
          ASSERT_TRUE(fixture.tree->Delete(key).ok());
      }
      const bool in_place = GetParam() == 1;
      if (in_place || version % 4 == 0) {
        // Pruned in the same batch as the commit, as a multistore does.
        WriteBatch batch;
        ASSERT_TRUE(fixture.tree->Commit(&batch).ok());
        if (version > 4) {
          ASSERT_TRUE(fixture.tree->DeleteVersionsTo(version - 4, &batch).ok());
        }
        ASSERT_TRUE(fixture.tree->Flush(&batch).ok());
        ASSERT_TRUE(fixture.engine.Write(batch, Durability::kProcessCrash).ok());
        std::set<int64_t> versions;
        for (int64_t v = in_place ? version : std::max(1, version - 3); v <= version; ++v)
          versions.insert(v);
        ExpectOnlyReachable(fixture.engine, versions);
        if (reopen) fixture.Reopen(version);
      } else {
        fixture.Commit();
      }
    }
  }
}

TEST(TreeTest, DeferredTreesTakeOverADatabaseWithEveryVersion) {
  std::mt19937 random(3);
  Fixture fixture;
  NaiveTree naive;
  const auto change = [&](Tree* tree) {
    for (int i = 0; i < 200; ++i) {
      const std::string key = RandomKey(&random, 900);
      ASSERT_TRUE(tree->Set(key, absl::StrCat(i)).ok());
      naive.Set(key, absl::StrCat(i));
    }
  };
  for (int version = 1; version <= 10; ++version) {
    change(fixture.tree.get());
    fixture.Commit();
  }
  auto deferred = Tree::Open(&fixture.engine, InPlace(), 10);
  ASSERT_TRUE(deferred.ok());
  for (int version = 11; version <= 14; ++version) {
    change(deferred->get());
    WriteBatch batch;
    ASSERT_TRUE((*deferred)->Commit(&batch).ok());
    EXPECT_TRUE(batch.empty());
  }
  WriteBatch batch;
  ASSERT_TRUE((*deferred)->Flush(&batch).ok());
  ASSERT_TRUE(fixture.engine.Write(batch, Durability::kProcessCrash).ok());
  ExpectOnlyReachable(fixture.engine, {14});

  // Back to every version: the fast index is old and gets written anew, as a node does on opening.
  fixture.Reopen(14);
  EXPECT_EQ(Hex(fixture.tree->hash()), Hex(naive.RootHash()));
  change(fixture.tree.get());
  ASSERT_TRUE(fixture.tree->Delete(Content(*fixture.tree).begin()->first).ok());
  fixture.Commit();
  size_t fast = 0;
  const auto records = fixture.engine.NewIterator(KeyRange::Prefix("F"), Direction::kForward);
  for (; records->Valid(); records->Next()) ++fast;
  const auto content = Content(*fixture.tree);
  EXPECT_EQ(fast, content.size());
  for (const auto& [key, value] : content) {
    std::string record;
    ASSERT_TRUE(*fixture.engine.Get("F" + key, &record));
    EXPECT_EQ(Unseal(record)->substr(8), value);
  }
}

TEST(TreeTest, RollsBackToTheLastVersion) {
  for (const bool with_history : {false, true}) {
    Fixture fixture(with_history ? DeferredWithHistory() : TreeOptions());
    for (int i = 0; i < 500; ++i)
      ASSERT_TRUE(fixture.tree->Set(BigEndian32(static_cast<uint32_t>(i)), "a").ok());
    const Hash hash = fixture.Commit();
    const auto content = Content(*fixture.tree);
    const size_t memory = fixture.tree->memory_bytes();
    for (int i = 0; i < 500; i += 2)
      ASSERT_TRUE(fixture.tree->Delete(BigEndian32(static_cast<uint32_t>(i))).ok());
    ASSERT_TRUE(fixture.tree->Set("new", "b").ok());
    EXPECT_NE(Hex(*fixture.tree->WorkingHash()), Hex(hash));
    EXPECT_EQ(Hex(fixture.tree->hash()), Hex(hash));
    ASSERT_TRUE(fixture.tree->Rollback().ok());
    EXPECT_EQ(Hex(*fixture.tree->WorkingHash()), Hex(hash));
    EXPECT_EQ(Content(*fixture.tree), content);
    EXPECT_EQ(fixture.tree->size(), 500);
    EXPECT_EQ(fixture.tree->memory_bytes(), memory);
    // The next version is what it would have been without the detour.
    ASSERT_TRUE(fixture.tree->Set("new", "c").ok());
    fixture.Commit();
    Fixture straight(with_history ? DeferredWithHistory() : TreeOptions());
    for (int i = 0; i < 500; ++i)
      ASSERT_TRUE(straight.tree->Set(BigEndian32(static_cast<uint32_t>(i)), "a").ok());
    straight.Commit();
    ASSERT_TRUE(straight.tree->Set("new", "c").ok());
    straight.Commit();
    fixture.Flush();
    straight.Flush();
    EXPECT_EQ(Dump(fixture.engine), Dump(straight.engine));
  }
}

TEST(TreeTest, RetainsAsManyVersionsAsAsked) {
  TreeOptions options = DeferredWithHistory();
  options.retained_versions = 3;
  Fixture fixture(options);
  std::mt19937 random(5);
  for (int version = 1; version <= 20; ++version) {
    for (int i = 0; i < 60; ++i)
      ASSERT_TRUE(fixture.tree->Set(RandomKey(&random, 800), absl::StrCat(i)).ok());
    fixture.Commit();
    if (version % 5 == 0) {
      fixture.Flush();
      ExpectOnlyReachable(fixture.engine, {version - 2, version - 1, version});
      EXPECT_EQ(fixture.tree->dirty_bytes(), 0u);
      if (version == 10) fixture.Reopen(version);
    }
  }
}

TEST(TreeTest, OverwritesLaterVersions) {
  Fixture fixture;
  std::mt19937 random(9);
  const auto change = [&] {
    for (int i = 0; i < 100; ++i) {
      const std::string key = RandomKey(&random, 500);
      if (random() % 4 == 0) {
        ASSERT_TRUE(fixture.tree->Delete(key).ok());
      } else {
        ASSERT_TRUE(fixture.tree->Set(key, absl::StrCat(random())).ok());
      }
    }
    fixture.Commit();
  };
  for (int version = 1; version <= 5; ++version) change();
  const std::mt19937 at_five = random;
  const Hash five = fixture.tree->hash();
  for (int version = 6; version <= 9; ++version) change();
  const auto straight = Dump(fixture.engine);
  WriteBatch batch;
  auto reopened = Tree::OpenForOverwriting(&fixture.engine, {}, 5, &batch);
  ASSERT_TRUE(reopened.ok());
  ASSERT_TRUE(fixture.engine.Write(batch, Durability::kProcessCrash).ok());
  fixture.tree = *std::move(reopened);
  EXPECT_EQ(Hex(fixture.tree->hash()), Hex(five));
  EXPECT_EQ(*Tree::LatestVersion(fixture.engine, {}), 5);
  // The same changes again leave the same database.
  random = at_five;
  for (int version = 6; version <= 9; ++version) change();
  EXPECT_EQ(Dump(fixture.engine), straight);
}

TEST(TreeTest, RefusesToRollBackInPlace) {
  Fixture fixture(InPlace());
  ASSERT_TRUE(fixture.tree->Set("a", "b").ok());
  EXPECT_EQ(fixture.tree->Rollback().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TreeTest, RefusesKeysThatTheOriginalRefuses) {
  Fixture fixture;
  EXPECT_EQ(fixture.tree->Set("", "a").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fixture.tree->Set(std::string(kMaxKeySize + 1, 'k'), "a").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(fixture.tree->Set(std::string(kMaxKeySize, 'k'), "a").ok());
}

TEST(TreeTest, OlderVersionsOpenReadOnly) {
  Fixture fixture;
  ASSERT_TRUE(fixture.tree->Set("a", "1").ok());
  const Hash first = fixture.Commit();
  ASSERT_TRUE(fixture.tree->Set("a", "2").ok());
  fixture.Commit();
  fixture.Reopen(1);
  EXPECT_EQ(Hex(fixture.tree->hash()), Hex(first));
  std::string value;
  ASSERT_TRUE(*fixture.tree->Get("a", &value));
  EXPECT_EQ(value, "1");
  EXPECT_EQ(fixture.tree->Set("a", "3").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fixture.tree->Delete("a").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Tree::Open(&fixture.engine, {}, 3).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(*Tree::LatestVersion(fixture.engine, {}), 2);
}

TEST(TreeTest, StartsAtTheInitialVersion) {
  TreeOptions options;
  options.initial_version = 100;
  Fixture fixture(options);
  EXPECT_EQ(fixture.tree->next_version(), 100);
  ASSERT_TRUE(fixture.tree->Set("a", "1").ok());
  fixture.Commit();
  EXPECT_EQ(fixture.tree->version(), 100);
  EXPECT_EQ(fixture.tree->next_version(), 101);
}

TEST(TreeTest, NoticesDamagedRecords) {
  Fixture fixture;
  for (uint32_t i = 0; i < 200; ++i) ASSERT_TRUE(fixture.tree->Set(BigEndian32(i), "value").ok());
  fixture.Commit();
  const auto records = Dump(fixture.engine);
  for (const auto& [key, record] : records) {
    const char type = Unhex(key)[0];
    if (type == 'F' || type == 'O') continue;
    std::string damaged = Unhex(record);
    damaged[damaged.size() / 2] ^= 1;
    MemoryEngine engine;
    for (const auto& [other, value] : records)
      ASSERT_TRUE(engine.Set(Unhex(other), other == key ? damaged : Unhex(value)).ok());
    const auto tree = Tree::Open(&engine, {}, 1);
    absl::Status status = tree.status();
    if (status.ok()) {
      const auto it = (*tree)->NewIterator(KeyRange::All(), Direction::kForward);
      while (it->Valid()) it->Next();
      status = it->status();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << key;
    ASSERT_TRUE(engine.Delete(Unhex(key)).ok());
    const auto without = Tree::Open(&engine, {}, 1);
    status = without.status();
    if (status.ok()) {
      const auto it = (*without)->NewIterator(KeyRange::All(), Direction::kForward);
      while (it->Valid()) it->Next();
      status = it->status();
    }
    EXPECT_EQ(status.ok(), type == 'M') << key;
  }
}

TEST(TreeTest, TrimBringsMemoryDown) {
  Fixture fixture;
  for (uint32_t i = 0; i < 5000; ++i)
    ASSERT_TRUE(fixture.tree->Set(BigEndian32(i), std::string(100, 'v')).ok());
  // Nodes without a record stay.
  const size_t all = fixture.tree->memory_bytes();
  fixture.tree->Trim(0);
  EXPECT_EQ(fixture.tree->memory_bytes(), all);
  fixture.Commit();
  fixture.tree->Trim(all / 2);
  EXPECT_LE(fixture.tree->memory_bytes(), all / 2);
  fixture.tree->Trim(0);
  EXPECT_LT(fixture.tree->memory_bytes(), all / 20);
  EXPECT_EQ(Content(*fixture.tree).size(), 5000u);
  EXPECT_EQ(fixture.tree->memory_bytes(), all);
}

}  // namespace
}  // namespace blockreplay::storage::bptree
