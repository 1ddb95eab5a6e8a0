// The golden vectors that the Go implementation wrote (fixtures/iavl/).

#include <gtest/gtest.h>

#include "storage/iavl/importer.h"
#include "storage/iavl/test_support.h"

namespace blockreplay::storage::iavl {
namespace {

struct Mode {
  const char* name;
  TreeOptions options;
};

std::vector<Mode> AllModes() {
  std::vector<Mode> modes;
  TreeOptions options;
  options.persist = Persist::kEvery;
  modes.push_back({"every", options});
  options.copy_on_write = true;
  modes.push_back({"every, copying", options});
  options.fast_nodes = true;
  modes.push_back({"every, copying, fast", options});
  options.copy_on_write = false;
  modes.push_back({"every, fast", options});
  options = TreeOptions();
  modes.push_back({"deferred", options});
  options.copy_on_write = true;
  modes.push_back({"deferred, copying", options});
  options.retained_versions = 3;
  modes.push_back({"deferred, three versions", options});
  return modes;
}

TEST(TreeVectors, RootsOfAllScenariosInAllModes) {
  const nlohmann::json file = ReadFixture("iavl/tree_vectors.json");
  ASSERT_EQ(file["scenarios"].size(), 89u);
  for (Mode mode : AllModes()) {
    for (const auto& scenario : file["scenarios"]) {
      SCOPED_TRACE(std::string(mode.name) + ", " + scenario["name"].get<std::string>());
      mode.options.initial_version = scenario["initial_version"];
      Database db;
      std::unique_ptr<Tree> tree = db.Load(mode.options);
      ASSERT_NE(tree, nullptr);
      for (const auto& version : scenario["versions"]) {
        ASSERT_NO_FATAL_FAILURE(ApplyOps(version["ops"], tree.get()));
        EXPECT_EQ(tree->next_version(), version["version"]);
        ASSERT_EQ(version["root"], db.Commit(tree.get())) << version["version"];
        EXPECT_EQ(tree->version(), version["version"]);
        EXPECT_EQ(tree->size(), version["size"]);
        EXPECT_EQ(tree->height(), version["height"]);
      }
      db.Flush(tree.get());
      tree = db.Load(mode.options.persist == Persist::kEvery ? mode.options : TreeOptions());
      ASSERT_NE(tree, nullptr);
      EXPECT_EQ(scenario["versions"].back()["root"], Hex(tree->hash()));
    }
  }
}

// Replays the steps of a scenario and compares the database after each.
void RunDatabaseScenario(const nlohmann::json& scenario, const Contents& start,
                         bool copy_on_write) {
  Database db("s/k:main/");
  for (const auto& [key, value] : start) ASSERT_OK(db.engine()->Set(db.prefix() + key, value));
  TreeOptions options;
  options.persist = Persist::kEvery;
  options.fast_nodes = scenario["fast"];
  options.copy_on_write = copy_on_write;
  options.initial_version = scenario["initial_version"];
  Contents expected = start;
  std::unique_ptr<Tree> tree;
  for (size_t i = 0; i < scenario["steps"].size(); ++i) {
    const auto& step = scenario["steps"][i];
    const std::string action = step["action"];
    SCOPED_TRACE("step " + std::to_string(i) + ", " + action);
    if (action == "load") {
      tree = db.Load(options);
    } else if (action == "save") {
      ASSERT_NO_FATAL_FAILURE(ApplyOps(step.value("ops", nlohmann::json()), tree.get()));
      db.Commit(tree.get());
    } else if (action == "prune") {
      db.Prune(tree.get(), step["to"]);
    } else if (action == "rollback") {
      tree = db.LoadForOverwriting(options, step["to"]);
    } else if (action == "reopen") {
      options.fast_nodes = step["fast"];
      options.initial_version = 0;
      tree = db.Load(options);
    } else {
      FAIL();
    }
    ASSERT_NE(tree, nullptr);
    for (const auto& pair : step["put"]) expected[Unhex(pair[0])] = Unhex(pair[1]);
    for (const auto& key : step["gone"]) expected.erase(Unhex(key));
    EXPECT_EQ(tree->version(), step["version"]);
    // Go has no hash for an empty tree that was never saved.
    if (step["root"] != "") {
      EXPECT_EQ(step["root"], Hex(tree->hash()));
    }
    if (step.contains("first_version")) {
      const auto first = tree->FirstVersion();
      ASSERT_TRUE(first.ok());
      EXPECT_EQ(*first, step["first_version"]);
    }
    const Contents actual = db.Dump();
    ASSERT_TRUE(actual == expected) << Difference(expected, actual);
  }
  if (scenario.contains("final_db")) {
    EXPECT_TRUE(expected == Pairs(scenario["final_db"]));
  }
}

void RunDatabaseFile(const nlohmann::json& file, size_t scenarios,
                     const std::map<std::string, Contents>& starts) {
  ASSERT_EQ(file["scenarios"].size(), scenarios);
  ASSERT_GT(scenarios, 0u);
  for (const bool copy_on_write : {false, true}) {
    for (const auto& scenario : file["scenarios"]) {
      const std::string name = scenario["name"];
      SCOPED_TRACE(name + (copy_on_write ? ", copying" : ""));
      const auto start = starts.find(name.substr(0, name.find('/')));
      RunDatabaseScenario(scenario, start == starts.end() ? Contents() : start->second,
                          copy_on_write);
    }
  }
}

TEST(DatabaseVectors, EveryStepWritesAndDeletesWhatGoDoes) {
  RunDatabaseFile(ReadFixture("iavl/db_vectors.json"), 26, {});
}

TEST(DatabaseVectors, LegacyDatabasesAreMigratedAsGoDoes) {
  std::map<std::string, Contents> starts;
  const nlohmann::json legacy = ReadFixture("iavl/leveldb/legacy.json");
  for (const auto& scenario : legacy["scenarios"]) {
    starts[scenario["name"]] = Pairs(scenario["db"]);
  }
  ASSERT_EQ(starts.size(), 3u);
  RunDatabaseFile(ReadFixture("iavl/legacy_migration_vectors.json"), 6, starts);
}

TEST(DatabaseVectors, RandomHistories) {
  const nlohmann::json file = ReadFixture("iavl/random_db_vectors.json");
  RunDatabaseFile(file, file["scenarios"].size(), {});
}

using Row = std::tuple<std::string, std::optional<std::string>, int64_t, int32_t>;

std::vector<Row> ExportRows(const View& view) {
  std::vector<Row> rows;
  const absl::Status status = view.Export([&](const ExportNode& node) {
    std::optional<std::string> value;
    if (node.value) value = std::string(*node.value);
    rows.emplace_back(std::string(node.key), value, node.version, node.height);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return rows;
}

std::vector<Row> ExpectedRows(const nlohmann::json& nodes) {
  std::vector<Row> rows;
  for (const auto& node : nodes) {
    std::optional<std::string> value;
    if (!node[1].is_null()) value = Unhex(node[1]);
    rows.emplace_back(Unhex(node[0]), value, node[2], node[3]);
  }
  return rows;
}

absl::StatusOr<std::unique_ptr<Tree>> Import(Database* db, const std::vector<Row>& rows,
                                             int64_t version, const TreeOptions& options,
                                             const ImportOptions& import_options) {
  Importer importer(db->prefix(), options, version, import_options);
  WriteBatch batch;
  for (const auto& [key, value, node_version, height] : rows) {
    ExportNode node;
    node.key = key;
    if (value) node.value = *value;
    node.version = node_version;
    node.height = height;
    if (absl::Status s = importer.Add(node, &batch); !s.ok()) return s;
  }
  auto tree = importer.Finish(db->engine(), &batch);
  db->Write(batch);
  return tree;
}

TEST(ExportVectors, StreamsAndImportedDatabases) {
  const nlohmann::json file = ReadFixture("iavl/export_vectors.json");
  ASSERT_FALSE(file["exports"].empty());
  for (const Mode& mode : AllModes()) {
    for (const auto& scenario : file["exports"]) {
      SCOPED_TRACE(std::string(mode.name) + ", " + scenario["name"].get<std::string>());
      const bool every = mode.options.persist == Persist::kEvery;
      const int64_t at = scenario["export_version"];
      const std::vector<Row> expected = ExpectedRows(scenario["nodes"]);
      Database db;
      std::unique_ptr<Tree> tree = db.Load(mode.options);
      for (const auto& ops : scenario["versions"]) {
        ASSERT_NO_FATAL_FAILURE(ApplyOps(ops, tree.get()));
        db.Commit(tree.get());
        if (!every && tree->version() == at) {
          const auto view = tree->GetImmutable(at);
          ASSERT_TRUE(view.ok()) << view.status();
          EXPECT_EQ(ExportRows(**view), expected);
        }
      }
      if (every) {
        const auto view = tree->GetImmutable(at);
        ASSERT_TRUE(view.ok()) << view.status();
        EXPECT_EQ(scenario["root"], Hex((*view)->hash()));
        EXPECT_EQ(ExportRows(**view), expected);
      }

      for (const bool small : {false, true}) {
        Database target;
        ImportOptions import_options;
        if (small) import_options.memory_limit = 0;
        auto imported = Import(&target, expected, at, mode.options, import_options);
        ASSERT_TRUE(imported.ok()) << imported.status();
        EXPECT_EQ(scenario["root"], Hex((*imported)->hash()));
        EXPECT_EQ((*imported)->version(), at);
        if (mode.options.fast_nodes && !scenario["imported_db"].is_null()) {
          const Contents pairs = Pairs(scenario["imported_db"]);
          const Contents actual = target.Dump();
          EXPECT_TRUE(actual == pairs) << Difference(pairs, actual);
        }
        for (size_t i = 0; i < scenario["after_import"].size(); ++i) {
          ASSERT_NO_FATAL_FAILURE(ApplyOps(scenario["after_import"][i], imported->get()));
          EXPECT_EQ(scenario["after_roots"][i], target.Commit(imported->get()));
        }
        target.Flush(imported->get());
        TreeOptions plain = mode.options;
        const std::unique_ptr<Tree> again = target.Load(plain);
        ASSERT_NE(again, nullptr);
        EXPECT_EQ(Hex(again->hash()), Hex((*imported)->hash()));
      }
    }
  }
}

// Without records, everything is written by the first flush.
TEST(ExportVectors, ImportInMemory) {
  const nlohmann::json file = ReadFixture("iavl/export_vectors.json");
  ASSERT_FALSE(file["exports"].empty());
  for (const auto& scenario : file["exports"]) {
    SCOPED_TRACE(scenario["name"].get<std::string>());
    Database db;
    ImportOptions import_options;
    import_options.write_records = false;
    auto tree = Import(&db, ExpectedRows(scenario["nodes"]), scenario["export_version"],
                       TreeOptions(), import_options);
    ASSERT_TRUE(tree.ok()) << tree.status();
    EXPECT_TRUE(db.Dump().empty());
    for (size_t i = 0; i < scenario["after_import"].size(); ++i) {
      if (i == 1) db.Flush(tree->get());
      ASSERT_NO_FATAL_FAILURE(ApplyOps(scenario["after_import"][i], tree->get()));
      EXPECT_EQ(scenario["after_roots"][i], db.Commit(tree->get()));
    }
    db.Flush(tree->get());
    const std::unique_ptr<Tree> again = db.Load(TreeOptions());
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(scenario["after_roots"].back(), Hex(again->hash()));
    EXPECT_EQ(ExportRows(**again->GetImmutable(again->version())),
              ExportRows(**(*tree)->GetImmutable((*tree)->version())));
  }
}

}  // namespace
}  // namespace blockreplay::storage::iavl
