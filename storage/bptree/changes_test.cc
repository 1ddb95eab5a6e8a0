// What ForEachChange and VisitTree tell of databases that the tree made, whose records are those of
// tm2 (record_test.cc), against a model of what was written.
#include "storage/bptree/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "storage/bptree/record_reader.h"
#include "storage/bptree/tree.h"
#include "storage/bptree/tree_copy.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::storage::bptree {
namespace {

using ::testing::HasSubstr;

constexpr char kPrefix[] = "s/_/";
using Changes = std::map<std::string, std::optional<std::string>>;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

absl::StatusOr<Changes> ChangesOf(const Reader& database, int64_t version, bool first = false) {
  Changes changes;
  std::string last;
  const absl::Status status =
      ForEachChange(database, kPrefix, version, first,
                    [&](std::string_view key, std::optional<std::string_view> value) {
                      EXPECT_GT(key, last);
                      last = std::string(key);
                      changes[last] = value ? std::optional<std::string>(*value) : std::nullopt;
                      return absl::OkStatus();
                    });
  if (!status.ok()) return status;
  return changes;
}

// A tree with a history, every version kept.
class ChangesTest : public ::testing::Test {
 protected:
  ChangesTest() : tree_(*Tree::Open(&engine_, {.key_prefix = kPrefix}, 0)) {}

  void Set(const std::string& key, const std::string& value) {
    ASSERT_TRUE(tree_->Set(key, value).ok());
    contents_[key] = value;
    written_[key] = value;
  }
  void Delete(const std::string& key) {
    ASSERT_TRUE(tree_->Delete(key).ok());
    // Of a key that is not there nothing is left.
    const bool before = committed_.contains(key);
    written_.erase(key);
    if (before) written_[key] = std::nullopt;
    contents_.erase(key);
  }
  void Commit() {
    WriteBatch batch;
    ASSERT_TRUE(tree_->Commit(&batch).ok());
    ASSERT_TRUE(engine_.Write(batch, Durability::kProcessCrash).ok());
    expected_[tree_->version()] = std::move(written_);
    written_.clear();
    committed_ = contents_;
    contents_by_version_[tree_->version()] = contents_;
  }

  // Grows, shrinks and rewrites, so that nodes split, borrow and merge.
  void RandomHistory(uint32_t seed, int versions) {
    std::mt19937 random(seed);
    for (int version = 0; version < versions; ++version) {
      const bool shrinks = version % 16 >= 11;
      Changes ops;
      for (uint64_t n = random() % 120; n > 0; --n) {
        const std::string key = absl::StrCat("key", random() % 700);
        const uint64_t kind = random() % 10;
        if (kind < (shrinks ? 8 : 2)) {
          ops[key] = std::nullopt;
        } else if (kind == 9 && contents_.contains(key)) {
          ops[key] = contents_[key];
        } else {
          ops[key] = kind == 3 ? "" : absl::StrCat("value", random());
        }
      }
      for (const auto& [key, value] : ops) value ? Set(key, *value) : Delete(key);
      Commit();
    }
  }

  MemoryEngine engine_;
  std::unique_ptr<Tree> tree_;
  std::map<std::string, std::string> contents_;
  std::map<std::string, std::string> committed_;
  Changes written_;
  std::map<int64_t, Changes> expected_;
  std::map<int64_t, std::map<std::string, std::string>> contents_by_version_;
};

TEST_F(ChangesTest, AreWhatWasWritten) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    const int64_t first = tree_->version() + 1;
    RandomHistory(seed, 40);
    for (int64_t version = first; version <= tree_->version(); ++version) {
      const absl::StatusOr<Changes> changes = ChangesOf(engine_, version, version == 1);
      ASSERT_TRUE(changes.ok()) << changes.status();
      EXPECT_EQ(*changes, expected_[version]) << version;
    }
  }
}

TEST_F(ChangesTest, OfTheFirstVersionAndOfAnEmptiedTree) {
  Set("a", "1");
  Set("b", "");
  Commit();
  Delete("a");
  Delete("b");
  Commit();
  Commit();
  EXPECT_EQ(*ChangesOf(engine_, 1, true), (Changes{{"a", "1"}, {"b", ""}}));
  EXPECT_EQ(*ChangesOf(engine_, 2), (Changes{{"a", std::nullopt}, {"b", std::nullopt}}));
  EXPECT_EQ(*ChangesOf(engine_, 3), Changes());
}

TEST_F(ChangesTest, NeedTheVersionBefore) {
  RandomHistory(4, 3);
  EXPECT_EQ(ChangesOf(engine_, 4).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(engine_.Delete(kPrefix + KeyOf(kRootRecord, 2)).ok());
  const absl::Status status = ChangesOf(engine_, 3).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(status), HasSubstr("version 2"));
}

TEST_F(ChangesTest, RecordsThatAreMissingOrDamagedAreNamed) {
  RandomHistory(5, 2);
  const RecordReader records(engine_, kPrefix);
  const RecordKey root = records.ReadRoot(2)->root;
  const std::string key = kPrefix + KeyOf(kNodeRecord, root);
  std::string record;
  ASSERT_TRUE(*engine_.Get(key, &record));
  std::string damaged = record;
  damaged[3] = static_cast<char>(damaged[3] ^ 1);
  ASSERT_TRUE(engine_.Set(key, damaged).ok());
  EXPECT_THAT(Message(ChangesOf(engine_, 2).status()), HasSubstr("checksum"));
  ASSERT_TRUE(engine_.Delete(key).ok());
  const absl::Status status = ChangesOf(engine_, 2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Message(status), HasSubstr("s/_/B"));
}

// The nodes of a version, copied: the views of CopiedNode do not last.
struct Kept {
  RecordKey record;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<RecordKey> values;
  std::vector<std::string> separators;

  CopiedNode View() const {
    CopiedNode node;
    node.record = record;
    for (size_t i = 0; i < pairs.size(); ++i) {
      node.entries.push_back({pairs[i].first, pairs[i].second, values[i]});
    }
    node.separators.assign(separators.begin(), separators.end());
    return node;
  }
};
std::vector<Kept> NodesOf(const Reader& database, int64_t version) {
  std::vector<Kept> nodes;
  const absl::Status status = VisitTree(database, kPrefix, version, [&](const CopiedNode& node) {
    Kept& kept = nodes.emplace_back();
    kept.record = node.record;
    for (const CopiedEntry& entry : node.entries) {
      kept.pairs.emplace_back(entry.key, entry.value);
      kept.values.push_back(entry.value_key);
    }
    kept.separators.assign(node.separators.begin(), node.separators.end());
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return nodes;
}

absl::Status Restore(const std::vector<Kept>& nodes, int64_t version, Engine* engine, Hash* root) {
  TreeRestorer restorer(kPrefix, version);
  WriteBatch batch;
  for (const Kept& node : nodes) {
    if (absl::Status status = restorer.Add(node.View(), &batch); !status.ok()) return status;
  }
  absl::StatusOr<Hash> hash = restorer.Finish(&batch);
  if (!hash.ok()) return hash.status();
  *root = *hash;
  return engine->Write(batch, Durability::kProcessCrash);
}

TEST_F(ChangesTest, ACopyGoesOnAsTheTreeDoes) {
  // Three levels.
  for (int i = 0; i < 3000; ++i) Set(absl::StrCat("more", i), "");
  RandomHistory(6, 30);
  ASSERT_GE(tree_->height(), 2);
  const int64_t version = 25;
  MemoryEngine other;
  Hash root;
  ASSERT_TRUE(Restore(NodesOf(engine_, version), version, &other, &root).ok());
  EXPECT_EQ(root, RecordReader(engine_, kPrefix).ReadRoot(version)->hash);
  absl::StatusOr<std::unique_ptr<Tree>> copy = Tree::Open(&other, {.key_prefix = kPrefix}, version);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ((*copy)->size(), static_cast<int64_t>(contents_by_version_[version].size()));
  for (int64_t next = version + 1; next <= 30; ++next) {
    for (const auto& [key, value] : expected_[next]) {
      ASSERT_TRUE((value ? (*copy)->Set(key, *value) : (*copy)->Delete(key)).ok());
    }
    WriteBatch batch;
    ASSERT_TRUE((*copy)->Commit(&batch).ok());
    ASSERT_TRUE(other.Write(batch, Durability::kProcessCrash).ok());
    EXPECT_EQ((*copy)->hash(), RecordReader(engine_, kPrefix).ReadRoot(next)->hash) << next;
  }
}

TEST_F(ChangesTest, ACopyOfAnEmptyTreeIsEmpty) {
  Commit();
  MemoryEngine other;
  Hash root;
  EXPECT_TRUE(NodesOf(engine_, 1).empty());
  ASSERT_TRUE(Restore({}, 1, &other, &root).ok());
  EXPECT_EQ(root, tree_->hash());
}

TEST_F(ChangesTest, CopiesThatNoTreeIsAreRefused) {
  RandomHistory(7, 8);
  const std::vector<Kept> nodes = NodesOf(engine_, 8);
  ASSERT_FALSE(nodes.back().separators.empty());
  const auto refused = [&](const char* says, const std::function<void(std::vector<Kept>*)>& edit) {
    std::vector<Kept> edited = nodes;
    edit(&edited);
    MemoryEngine other;
    Hash root;
    const absl::Status status = Restore(edited, 8, &other, &root);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << says;
    EXPECT_THAT(Message(status), HasSubstr(says));
  };
  using Nodes = std::vector<Kept>;
  refused("no parent", [](Nodes* n) { n->pop_back(); });
  refused("before its children", [](Nodes* n) { n->erase(n->begin()); });
  refused("has the version 9", [](Nodes* n) { n->back().record.version = 9; });
  refused("has the version 0", [](Nodes* n) { n->front().record.version = 0; });
  refused("neither entries nor", [](Nodes* n) { n->front().pairs.clear(); });
  refused("neither entries nor", [](Nodes* n) { n->front().separators = {"x"}; });
  refused("keys out of order",
          [](Nodes* n) { std::swap(n->front().pairs[0], n->front().pairs[1]); });
  refused("keys out of order", [](Nodes* n) { n->front().pairs[0].first = ""; });
  refused("do not separate", [](Nodes* n) { n->back().separators[0] = "zzz"; });
  refused("do not separate", [](Nodes* n) { n->back().separators[0] = "a"; });
  refused("too many entries", [](Nodes* n) {
    for (int i = 0; i < 33; ++i) {
      n->front().pairs.emplace_back(absl::StrCat("z", 100 + i), "");
      n->front().values.push_back({1, 1});
    }
  });
  refused("value of version 99", [](Nodes* n) { n->front().values[0].version = 99; });
}

}  // namespace
}  // namespace blockreplay::storage::bptree
