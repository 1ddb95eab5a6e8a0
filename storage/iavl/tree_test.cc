// Behaviour that the vectors and random histories do not reach: refusals, corrupt databases,
// proofs, limits.

#include "storage/iavl/tree.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/iavl/codec.h"
#include "storage/iavl/importer.h"
#include "storage/iavl/test_support.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {
namespace {

TreeOptions Every() {
  TreeOptions options;
  options.persist = Persist::kEvery;
  return options;
}

std::string NumberedKey(int number) {
  char key[16];
  std::snprintf(key, sizeof(key), "key%05d", number);
  return key;
}

// A tree of `keys` keys in `versions` versions.
std::unique_ptr<Tree> Fill(Database* db, const TreeOptions& options, int keys, int versions) {
  std::unique_ptr<Tree> tree = db->Load(options);
  for (int version = 0; version < versions; ++version) {
    for (int i = version; i < keys; i += versions) {
      EXPECT_TRUE(tree->Set(NumberedKey(i), "value" + std::to_string(i)).ok());
    }
    db->Commit(tree.get());
  }
  return tree;
}

TEST(Tree, EmptyTree) {
  Database db;
  const std::unique_ptr<Tree> tree = db.Load(TreeOptions());
  EXPECT_EQ(tree->version(), 0);
  EXPECT_EQ(tree->next_version(), 1);
  EXPECT_EQ(Hex(tree->hash()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(tree->size(), 0);
  EXPECT_FALSE(*tree->Has(""));
  EXPECT_FALSE(*tree->DeleteAndReport("a"));
  EXPECT_TRUE(Dump(*tree).empty());
  EXPECT_EQ(tree->GetImmutable(0).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree->GetImmutable(1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(db.Dump().empty());
  EXPECT_EQ(*Tree::LatestVersion(db.engine(), db.prefix()), 0);
}

TEST(Tree, RefusesWhatItCannotDo) {
  Database db;
  WriteBatch batch;
  TreeOptions options;
  options.fast_nodes = true;
  EXPECT_EQ(Tree::Load(db.engine(), "p", options, 0, &batch).status().code(),
            absl::StatusCode::kInvalidArgument);
  options = TreeOptions();
  options.retained_versions = 0;
  EXPECT_EQ(Tree::Load(db.engine(), "p", options, 0, &batch).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tree::Load(db.engine(), "p", TreeOptions(), -1, &batch).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tree::Load(db.engine(), "p", TreeOptions(), 1, &batch).status().code(),
            absl::StatusCode::kNotFound);

  const std::unique_ptr<Tree> tree = Fill(&db, TreeOptions(), 10, 2);
  EXPECT_EQ(tree->SetInitialVersion(9).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(tree->DeleteVersionsTo(2, &batch).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_OK(tree->Set("a", "b"));
  EXPECT_EQ(tree->Flush(&batch).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(tree->Rollback().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(tree->GetImmutable(1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree->GetImmutable(2).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Tree, InitialVersionMustNotBeAboveTheFirst) {
  Database db;
  Fill(&db, Every(), 3, 2);
  TreeOptions options = Every();
  options.initial_version = 2;
  WriteBatch batch;
  EXPECT_EQ(Tree::Load(db.engine(), db.prefix(), options, 0, &batch).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(Tree, SetInitialVersionCountsForTheFirstCommit) {
  Database db;
  const std::unique_ptr<Tree> tree = db.Load(Every());
  ASSERT_OK(tree->SetInitialVersion(40));
  EXPECT_EQ(tree->next_version(), 40);
  db.Commit(tree.get());
  EXPECT_EQ(tree->version(), 40);
  EXPECT_EQ(*tree->FirstVersion(), 40);
  EXPECT_EQ(db.Load(Every())->version(), 40);
}

// A crash between stores leaves versions that are built again.
TEST(Tree, MakesAnExistingVersionAgainIfItIsTheSame) {
  Database db;
  const std::string third = [&db] {
    const std::unique_ptr<Tree> tree = Fill(&db, Every(), 50, 2);
    EXPECT_TRUE(tree->Set("new", "1").ok());
    EXPECT_TRUE(tree->Delete(NumberedKey(7)).ok());
    return db.Commit(tree.get());
  }();
  const Contents before = db.Dump();

  std::unique_ptr<Tree> tree = db.Load(Every(), 2);
  EXPECT_EQ(tree->version(), 2);
  ASSERT_OK(tree->Set("new", "1"));
  ASSERT_OK(tree->Delete(NumberedKey(7)));
  EXPECT_EQ(db.Commit(tree.get()), third);
  EXPECT_EQ(tree->version(), 3);
  EXPECT_TRUE(db.Dump() == before);
  // And goes on from there.
  ASSERT_OK(tree->Set("newer", "2"));
  db.Commit(tree.get());
  db.Prune(tree.get(), 3);
  EXPECT_EQ(Hex(db.Load(Every())->hash()), Hex(tree->hash()));

  tree = db.Load(Every());
  Database other;
  Fill(&other, Every(), 50, 2);
  for (const auto& [key, value] : before) {
    ASSERT_OK(other.engine()->Set(other.prefix() + key, value));
  }
  tree = other.Load(Every(), 2);
  ASSERT_OK(tree->Set("new", "2"));
  WriteBatch batch;
  EXPECT_EQ(tree->Commit(&batch).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Tree, TreesOfOneDatabaseDoNotMix) {
  Database db("");
  WriteBatch batch;
  std::vector<std::unique_ptr<Tree>> trees;
  for (const char* prefix : {"a", "ab", "b", "s"}) {
    auto tree = Tree::Load(db.engine(), prefix, Every(), 0, &batch);
    ASSERT_TRUE(tree.ok());
    ASSERT_OK((*tree)->Set(prefix, prefix));
    ASSERT_TRUE((*tree)->Commit(&batch).ok());
    trees.push_back(*std::move(tree));
  }
  db.Write(batch);
  for (const char* prefix : {"a", "ab", "b", "s"}) {
    auto tree = Tree::Load(db.engine(), prefix, Every(), 0, &batch);
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(Dump(**tree), (Contents{{prefix, prefix}}));
  }
}

TEST(Tree, ValuesMayComeFromTheTree) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, TreeOptions(), 20, 1);
  for (const size_t size : {size_t{5}, size_t{500}, size_t{5000}}) {
    ASSERT_OK(tree->Set("source", std::string(size, 'x')));
    const auto value = tree->Find("source");
    ASSERT_TRUE(value.ok() && value->has_value());
    ASSERT_OK(tree->Set("source", (*value)->substr(1)));
    EXPECT_EQ(**tree->Find("source"), std::string(size - 1, 'x'));
  }
}

TEST(Tree, TrimBringsMemoryDownAndNothingIsLost) {
  for (const bool every : {false, true}) {
    Database db;
    const std::unique_ptr<Tree> tree = Fill(&db, every ? Every() : TreeOptions(), 5000, 1);
    const size_t full = tree->memory_bytes();
    if (!every) {
      // Nothing is in the database yet.
      tree->Trim(0);
      EXPECT_EQ(tree->memory_bytes(), full);
      EXPECT_GE(tree->dirty_bytes(), full / 2);
      db.Flush(tree.get());
      EXPECT_EQ(tree->dirty_bytes(), 0u);
    }
    tree->Trim(full / 2);
    EXPECT_LE(tree->memory_bytes(), full / 2);
    EXPECT_GE(tree->memory_bytes(), full / 4);
    tree->Trim(0);
    EXPECT_LE(tree->memory_bytes(), size_t{1000});
    EXPECT_EQ(**tree->Find(NumberedKey(77)), "value77");
    EXPECT_EQ(Dump(*tree).size(), 5000u);
  }
}

TEST(Tree, TrimKeepsWhatIsInUse) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 5000, 1);
  tree->Trim(tree->memory_bytes() - 1);  // everything counts as unused from here on
  for (int i = 0; i < 5000; i += 50) ASSERT_TRUE(tree->Has(NumberedKey(i)).ok());
  const size_t target = tree->memory_bytes() / 8;
  tree->Trim(target);
  const size_t kept = tree->memory_bytes();
  for (int i = 0; i < 5000; i += 50) ASSERT_TRUE(tree->Has(NumberedKey(i)).ok());
  // Most of it was still there.
  EXPECT_LT(tree->memory_bytes() - kept, target / 2);
}

TEST(Tree, ScansDropWhatTheyLoadedWhereMemoryIsShort) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 5000, 1);
  const size_t full = tree->memory_bytes();
  tree->Trim(full / 10);
  for (const Direction direction : {Direction::kForward, Direction::kReverse}) {
    size_t most = 0;
    int count = 0;
    {
      const auto it = tree->NewIterator(KeyRange{"key00010", std::nullopt}, direction);
      for (; it->Valid(); it->Next()) {
        ASSERT_EQ(
            it->value(),
            "value" + std::to_string(direction == Direction::kForward ? 10 + count : 4999 - count));
        most = std::max(most, tree->memory_bytes());
        ++count;
      }
      ASSERT_OK(it->status());
    }
    EXPECT_EQ(count, 4990);
    EXPECT_LT(most, full / 8);
  }
}

// ---- Proofs

Hash RootOf(const MembershipPath& path) {
  Hash hash;
  HashLeaf(path.version, path.key, path.value, hash.data());
  for (const PathStep& step : path.steps) {
    const Hash own = hash;
    const Hash& left = step.sibling_is_left ? step.sibling : own;
    const Hash& right = step.sibling_is_left ? own : step.sibling;
    HashInner(step.height, step.size, step.version, left.data(), right.data(), hash.data());
  }
  return hash;
}

TEST(View, PathsLeadToTheRoot) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 100, 5);
  for (const int64_t version : {int64_t{2}, int64_t{5}}) {
    const auto view = tree->GetImmutable(version);
    ASSERT_TRUE(view.ok());
    int present = 0;
    for (int i = 0; i < 100; ++i) {
      const auto path = (*view)->GetPath(NumberedKey(i));
      ASSERT_TRUE(path.ok()) << path.status();
      if (path->has_value()) {
        ++present;
        EXPECT_EQ((*path)->key, NumberedKey(i));
        EXPECT_EQ(Hex(RootOf(**path)), Hex((*view)->hash()));
        EXPECT_EQ((*view)->GetNeighbours(NumberedKey(i)).status().code(),
                  absl::StatusCode::kInvalidArgument);
      } else {
        const auto neighbours = (*view)->GetNeighbours(NumberedKey(i));
        ASSERT_TRUE(neighbours.ok()) << neighbours.status();
        if (neighbours->left) {
          EXPECT_LT(neighbours->left->key, NumberedKey(i));
          EXPECT_EQ(Hex(RootOf(*neighbours->left)), Hex((*view)->hash()));
        }
        if (neighbours->right) {
          EXPECT_GT(neighbours->right->key, NumberedKey(i));
          EXPECT_EQ(Hex(RootOf(*neighbours->right)), Hex((*view)->hash()));
        }
        EXPECT_TRUE(neighbours->left || neighbours->right);
      }
    }
    EXPECT_EQ(present, (*view)->size());
  }
  const auto view = tree->GetImmutable(5);
  EXPECT_FALSE((*view)->GetNeighbours("a")->left.has_value());
  EXPECT_FALSE((*view)->GetNeighbours("z")->right.has_value());
}

TEST(View, LeavesSinceAVersion) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 100, 4);
  const auto view = tree->GetImmutable(4);
  ASSERT_TRUE(view.ok());
  for (int64_t after = 0; after <= 4; ++after) {
    std::string last;
    int count = 0;
    ASSERT_OK((*view)->ForEachLeafSince(
        after, [&](std::string_view key, std::string_view value, int64_t version) {
          EXPECT_GT(version, after);
          EXPECT_GT(key, last);
          EXPECT_EQ(value.substr(0, 5), "value");
          last = std::string(key);
          ++count;
          return absl::OkStatus();
        }));
    EXPECT_EQ(count, 25 * (4 - after));
  }
}

TEST(View, ExportDropsWhatItLoaded) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 3000, 2);
  const size_t full = tree->memory_bytes();
  tree->Trim(0);
  const size_t before = tree->memory_bytes();
  const auto view = tree->GetImmutable(2);
  ASSERT_TRUE(view.ok());
  size_t most = 0;
  int64_t nodes = 0;
  ASSERT_OK((*view)->Export([&](const ExportNode&) {
    most = std::max(most, tree->memory_bytes());
    ++nodes;
    return absl::OkStatus();
  }));
  EXPECT_EQ(nodes, 2 * 3000 - 1);
  EXPECT_LT(most, full / 50);
  EXPECT_LT(tree->memory_bytes(), before + 1000);
}

TEST(View, HandsErrorsOfTheVisitorBack) {
  Database db;
  const std::unique_ptr<Tree> tree = Fill(&db, Every(), 10, 1);
  const auto view = tree->GetImmutable(1);
  EXPECT_EQ(
      (*view)->Export([](const ExportNode&) { return absl::CancelledError("enough"); }).code(),
      absl::StatusCode::kCancelled);
}

// ---- Corrupt databases

// Reads and writes all over the tree; must not crash, whatever the database says.
void Exercise(MemoryEngine* engine, const std::string& prefix, const TreeOptions& options) {
  WriteBatch batch;
  auto loaded = Tree::Load(engine, prefix, options, 0, &batch);
  if (!loaded.ok()) return;
  Tree* tree = loaded->get();
  for (const auto direction : {Direction::kForward, Direction::kReverse}) {
    const auto it = tree->NewIterator(KeyRange::All(), direction);
    for (int i = 0; it->Valid() && i < 1000; ++i) it->Next();
  }
  if (const auto view = tree->GetImmutable(tree->version()); view.ok()) {
    int limit = 1000;
    (void)(*view)->Export([&limit](const ExportNode&) {
      return --limit > 0 ? absl::OkStatus() : absl::CancelledError("enough");
    });
    (void)(*view)->GetPath(NumberedKey(3));
    (void)(*view)->GetNeighbours(NumberedKey(3) + "x");
  }
  for (int i = 0; i < 20; ++i) {
    if (!tree->Set(NumberedKey(i) + "y", "v").ok()) return;
    if (!tree->Delete(NumberedKey(i)).ok()) return;
  }
  if (!tree->Commit(&batch).ok()) return;
  if (!tree->Flush(&batch).ok()) return;
  ASSERT_OK(engine->Write(batch, Durability::kProcessCrash));
  batch.Clear();
  (void)tree->DeleteVersionsTo(tree->version() - 1, &batch);
  tree->Trim(0);
  (void)tree->Get(NumberedKey(5), std::make_unique<std::string>().get());
}

TEST(Corruption, BitFlipsGiveErrorsOrOtherTreesButNoCrash) {
  Database db;
  Fill(&db, Every(), 25, 3);
  const Contents sound = db.Dump();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    MemoryEngine engine;
    for (const auto& [key, value] : sound) ASSERT_OK(engine.Set(db.prefix() + key, value));
    for (int flips = 0; flips < 1 + round % 3; ++flips) {
      auto victim = std::next(sound.begin(), static_cast<std::ptrdiff_t>(random() % sound.size()));
      std::string value = victim->second;
      if (value.empty()) continue;
      switch (random() % 4) {
        case 0:
          value[random() % value.size()] ^= static_cast<char>(1u << random() % 8);
          break;
        case 1:
          value.resize(random() % value.size());
          break;
        case 2:
          value = std::next(sound.begin(), static_cast<std::ptrdiff_t>(random() % sound.size()))
                      ->second;
          break;
        default:
          ASSERT_OK(engine.Delete(db.prefix() + victim->first));
          continue;
      }
      ASSERT_OK(engine.Set(db.prefix() + victim->first, value));
    }
    TreeOptions options;
    if (round % 2 == 0) options.persist = Persist::kEvery;
    options.fast_nodes = round % 4 == 0;
    ASSERT_NO_FATAL_FAILURE(Exercise(&engine, db.prefix(), options));
  }
}

TEST(Corruption, MessagesNamePrefixNodeAndReason) {
  Database db;
  Fill(&db, Every(), 3, 1);
  const std::string root = db.prefix() + std::string(ShortKey::Node(1, 1).view());
  const auto load = [&db] {
    WriteBatch batch;
    return Tree::Load(db.engine(), db.prefix(), Every(), 0, &batch).status().ToString();
  };
  ASSERT_OK(db.engine()->Set(root, "\x02"));
  EXPECT_EQ(load(), "DATA_LOSS: tree s/k:main/, node (1,1): bad size");
  // A reference to itself.
  ASSERT_OK(db.engine()->Set(root, ShortKey::Node(1, 1).view()));
  EXPECT_EQ(load(), "DATA_LOSS: tree s/k:main/, node (1,1): refers to a later root");
  // A child that is its own parent.
  NodeId self;
  self.version = 1;
  self.nonce = 1;
  Hash hash{};
  std::string record;
  EncodeInner(1, 2, "k", hash.data(), self, self, &record);
  ASSERT_OK(db.engine()->Set(root, record));
  WriteBatch batch;
  const auto tree = Tree::Load(db.engine(), db.prefix(), Every(), 0, &batch);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ((*tree)->Has("a").status().ToString(),
            "DATA_LOSS: tree s/k:main/, node (1,1): not lower than its parent");
}

// ---- Import

class ImportTest : public ::testing::Test {
 protected:
  absl::Status Add(std::string_view key, std::optional<std::string_view> value, int64_t version,
                   int32_t height) {
    ExportNode node;
    node.key = key;
    node.value = value;
    node.version = version;
    node.height = height;
    return importer_.Add(node, &batch_);
  }

  Database db_;
  WriteBatch batch_;
  Importer importer_{db_.prefix(), Every(), 5, ImportOptions()};
};

TEST_F(ImportTest, RefusesBadStreams) {
  using absl::StatusCode;
  EXPECT_EQ(Add("a", "1", 6, 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", "1", 0, 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", "1", 1, -1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", "1", 1, 128).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", std::nullopt, 1, 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", std::nullopt, 1, 1).code(), StatusCode::kInvalidArgument);
  ASSERT_OK(Add("b", "1", 1, 0));
  EXPECT_EQ(Add("b", std::nullopt, 1, 1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("a", "1", 1, 0).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("b", "1", 1, 0).code(), StatusCode::kInvalidArgument);
  ASSERT_OK(Add("d", "1", 2, 0));
  EXPECT_EQ(importer_.Finish(db_.engine(), &batch_).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Add("c", "x", 2, 1).code(), StatusCode::kInvalidArgument);            // a value
  EXPECT_EQ(Add("c", std::nullopt, 2, 2).code(), StatusCode::kInvalidArgument);   // height
  EXPECT_EQ(Add("b", std::nullopt, 2, 1).code(), StatusCode::kInvalidArgument);   // not above b
  EXPECT_EQ(Add("da", std::nullopt, 2, 1).code(), StatusCode::kInvalidArgument);  // above d
  EXPECT_EQ(Add("c", std::nullopt, 1, 1).code(), StatusCode::kInvalidArgument);   // version
  ASSERT_OK(Add("c", std::nullopt, 2, 1));
  const auto tree = importer_.Finish(db_.engine(), &batch_);
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ((*tree)->size(), 2);
}

TEST_F(ImportTest, AbandonedImport) {
  ASSERT_OK(Add("b", "1", 1, 0));
  ASSERT_OK(Add("d", "1", 2, 0));
}

TEST_F(ImportTest, StaysInItsMemory) {
  Database source;
  const std::unique_ptr<Tree> tree = Fill(&source, Every(), 20000, 1);
  ImportOptions options;
  options.memory_limit = size_t{300} << 10;
  Importer importer(db_.prefix(), Every(), 1, options);
  const auto view = tree->GetImmutable(1);
  ASSERT_OK((*view)->Export([&](const ExportNode& node) { return importer.Add(node, &batch_); }));
  const auto imported = importer.Finish(db_.engine(), &batch_);
  ASSERT_TRUE(imported.ok());
  db_.Write(batch_);
  EXPECT_LT((*imported)->memory_bytes(), options.memory_limit + (size_t{64} << 10));
  EXPECT_EQ(Hex((*imported)->hash()), Hex(tree->hash()));
  EXPECT_EQ(Dump(**imported), Dump(*tree));
}

}  // namespace
}  // namespace blockreplay::storage::iavl
