#include "replay/engine/database_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

const DatabaseInfo kInfo{"d1", "chain-1", "deferred"};

std::string MessageOf(const absl::StatusOr<DatabaseDir>& dir) {
  return std::string(dir.status().message());
}

TEST(DatabaseDir, AnExistingFolderIsNotTouchedWithoutResume) {
  TemporaryDir dir;
  const std::string path = dir.Path("db");
  std::filesystem::create_directory(path);
  EXPECT_THAT(MessageOf(DatabaseDir::Create(path, kInfo)), HasSubstr("exists already"));
  EXPECT_TRUE(std::filesystem::is_empty(path));
}

TEST(DatabaseDir, ResumesItsOwn) {
  TemporaryDir dir;
  const std::string path = dir.Path("db");
  {
    absl::StatusOr<DatabaseDir> db = DatabaseDir::Create(path, kInfo);
    ASSERT_TRUE(db.ok()) << db.status();
    EXPECT_FALSE(db->has_base());
  }
  {
    absl::StatusOr<DatabaseDir> db = DatabaseDir::Resume(path, kInfo);
    ASSERT_TRUE(db.ok()) << db.status();
    EXPECT_FALSE(db->has_base());
    ASSERT_TRUE(db->MarkBaseComplete().ok());
  }
  absl::StatusOr<DatabaseDir> db = DatabaseDir::Resume(path, kInfo);
  ASSERT_TRUE(db.ok()) << db.status();
  EXPECT_TRUE(db->has_base());
  EXPECT_EQ(db->database_path(), path + "/application.db");
}

TEST(DatabaseDir, ResumeStartsWhereNothingIs) {
  TemporaryDir dir;
  EXPECT_TRUE(DatabaseDir::Resume(dir.Path("new"), kInfo).ok());
  std::filesystem::create_directory(dir.Path("empty"));
  EXPECT_TRUE(DatabaseDir::Resume(dir.Path("empty"), kInfo).ok());
  EXPECT_TRUE(std::filesystem::exists(dir.Path("empty/blockreplay.json")));
}

TEST(DatabaseDir, ResumeRefusesWhatIsNotItsOwn) {
  TemporaryDir dir;
  const std::string path = dir.Path("db");
  ASSERT_TRUE(DatabaseDir::Create(path, kInfo).ok());
  EXPECT_THAT(MessageOf(DatabaseDir::Resume(path, {"d2", "chain-1", "deferred"})),
              HasSubstr("written by another recording (digest d1"));
  EXPECT_THAT(MessageOf(DatabaseDir::Resume(path, {"d1", "chain-1", "every"})),
              HasSubstr("written with --persist=deferred"));
  WriteBytes(dir.Path("db/blockreplay.json"), "{");
  EXPECT_THAT(MessageOf(DatabaseDir::Resume(path, kInfo)), HasSubstr("does not understand"));
  WriteBytes(dir.Path("foreign/application.db/CURRENT"), "x");
  EXPECT_THAT(MessageOf(DatabaseDir::Resume(dir.Path("foreign"), kInfo)),
              HasSubstr("not made by blockreplay"));
  WriteBytes(dir.Path("file"), "x");
  EXPECT_THAT(MessageOf(DatabaseDir::Resume(dir.Path("file"), kInfo)), HasSubstr("not a folder"));
}

TEST(DatabaseDir, OneRunAtATime) {
  TemporaryDir dir;
  const std::string path = dir.Path("db");
  {
    absl::StatusOr<DatabaseDir> db = DatabaseDir::Create(path, kInfo);
    ASSERT_TRUE(db.ok());
    EXPECT_THAT(MessageOf(DatabaseDir::Resume(path, kInfo)),
                HasSubstr("locked by another process"));
  }
  EXPECT_TRUE(DatabaseDir::Resume(path, kInfo).ok());
}

TEST(DatabaseDir, ClearForgetsTheBase) {
  TemporaryDir dir;
  const std::string path = dir.Path("db");
  {
    absl::StatusOr<DatabaseDir> db = DatabaseDir::Create(path, kInfo);
    ASSERT_TRUE(db.ok() && db->MarkBaseComplete().ok());
    WriteBytes(db->database_path() + "/x", "x");
    ASSERT_TRUE(db->Clear().ok());
    EXPECT_FALSE(std::filesystem::exists(db->database_path()));
  }
  EXPECT_FALSE(DatabaseDir::Resume(path, kInfo)->has_base());
}

TEST(DatabaseDir, TemporaryOnesGoAway) {
  std::string path;
  {
    absl::StatusOr<DatabaseDir> db = DatabaseDir::CreateTemporary(kInfo);
    ASSERT_TRUE(db.ok()) << db.status();
    path = db->path();
    WriteBytes(db->database_path() + "/x", "x");
    const DatabaseDir moved = *std::move(db);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DatabaseDir, FreeSpaceOfAFolderThatIsNotThereYet) {
  TemporaryDir dir;
  const absl::StatusOr<uint64_t> free = FreeDiskBytes(dir.Path("a/b/c"));
  ASSERT_TRUE(free.ok()) << free.status();
  EXPECT_GT(*free, 0u);
}

}  // namespace
}  // namespace blockreplay::replay
