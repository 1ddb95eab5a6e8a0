#include "replay/import/formats/change_set_files.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/import/formats/stream_files.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Written by cronos' writer from the trees of fixtures/import/sdk-0.47.
const std::string kChangeSets = BLOCKREPLAY_FIXTURES "/import/sdk-0.47/changesets";

std::string Little(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> 8 * i & 0xff));
  return bytes;
}

class ChangeSetFilesTest : public ::testing::Test {
 protected:
  // Reads all versions of a single file.
  std::string ErrorOf(const std::string& bytes, const std::string& name = "block-1") {
    WriteBytes(folder_.Path("sets/a/" + name), bytes);
    ChangeSetReader reader("a", {folder_.Path("sets/a/" + name)});
    for (;;) {
      const absl::StatusOr<int64_t> version = reader.NextVersion();
      if (!version.ok()) return std::string(version.status().message());
      if (*version == 0) return "";
      ChangeSetReader::Writes writes;
      if (absl::Status status = reader.ReadWrites(&writes); !status.ok()) {
        return std::string(status.message());
      }
    }
  }

  TemporaryDir folder_;
};

TEST_F(ChangeSetFilesTest, AreTheWritesThatTheNodeStreamed) {
  auto change_sets = ChangeSetFiles::Open(kChangeSets);
  ASSERT_TRUE(change_sets.ok()) << change_sets.status();
  EXPECT_THAT(change_sets->stores(), ElementsAre("alpha", "beta", "never"));
  auto streamed = StreamFiles::Open(BLOCKREPLAY_FIXTURES "/import/sdk-0.47/files");
  for (int64_t version = 1; version <= 9; ++version) {
    ChangeSetReader::Writes writes;
    const absl::Status status = change_sets->Read(version, &writes);
    ASSERT_TRUE(status.ok()) << status;
    v1::Block block;
    ASSERT_TRUE(streamed->Read(version, &block).ok());
    std::vector<std::string> expected;
    for (const auto& write : block.change_set()) {
      // The stream has deletes of absent keys too, which change no tree.
      if (write.delete_() && version <= 4) continue;
      expected.push_back(write.SerializeAsString());
    }
    std::vector<std::string> found;
    for (const auto& write : writes) found.push_back(write.SerializeAsString());
    EXPECT_EQ(found, expected) << "version " << version;
  }
  ChangeSetReader::Writes writes;
  EXPECT_EQ(change_sets->Read(10, &writes).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(ChangeSetFilesTest, PassesOverWhatLiesBefore) {
  auto from_start = ChangeSetFiles::Open(kChangeSets);
  auto later = ChangeSetFiles::Open(kChangeSets);
  ChangeSetReader::Writes all;
  for (int64_t version = 1; version <= 7; ++version) {
    all.Clear();
    ASSERT_TRUE(from_start->Read(version, &all).ok());
  }
  ChangeSetReader::Writes writes;
  ASSERT_TRUE(later->Read(7, &writes).ok());
  ASSERT_EQ(writes.size(), all.size());
  for (int i = 0; i < writes.size(); ++i) {
    EXPECT_EQ(writes[i].SerializeAsString(), all[i].SerializeAsString());
  }
}

TEST_F(ChangeSetFilesTest, SaysWhichVersionIsDamagedAndWhere) {
  const std::string pair("\0\1k\1v", 5);
  const std::string good = Little(7) + Little(5) + pair;
  EXPECT_EQ(ErrorOf(good), "");
  EXPECT_EQ(ErrorOf(good + Little(9) + Little(0)), "");
  for (size_t size = 1; size < good.size(); ++size) {
    EXPECT_THAT(ErrorOf(good.substr(0, size)), HasSubstr("block-1: version")) << size;
    EXPECT_THAT(ErrorOf(good.substr(0, size)), HasSubstr("it is truncated")) << size;
  }
  EXPECT_THAT(ErrorOf(good + good), HasSubstr("version 7 comes next: versions must ascend"));
  EXPECT_THAT(ErrorOf(Little(7) + Little(4) + pair), HasSubstr("beyond the size of its version"));
  EXPECT_THAT(ErrorOf(Little(7) + Little(5) + std::string("\2\1k\1v", 5)),
              HasSubstr("version 7, uncompressed offset 17: a write begins with 2"));
  EXPECT_THAT(ErrorOf(Little(7) + Little(~uint64_t{0}) + pair), HasSubstr("its size is no size"));
  EXPECT_THAT(
      ErrorOf(Little(7) + Little(uint64_t{1} << 40) + std::string("\1\xff\xff\xff\xff\x7f", 6)),
      HasSubstr("a key or value of 34359738367 bytes"));
  EXPECT_THAT(ErrorOf(Little(7) + Little(11) + "\1" + std::string(10, '\xff')),
              HasSubstr("a length is no varint"));
  const std::string zipped = ReadBytes(kChangeSets + "/beta/block-1.zz");
  EXPECT_EQ(ErrorOf(zipped, "block-1.zz"), "");
  EXPECT_THAT(ErrorOf(zipped.substr(0, zipped.size() / 2), "block-1.zz"), HasSubstr("ends early"));
}

TEST_F(ChangeSetFilesTest, OpensOnlyFoldersOfStores) {
  EXPECT_THAT(ChangeSetFiles::Open(folder_.Path(".")).status().message(),
              HasSubstr("has no files <store>/block-<version>[.zz]"));
  WriteBytes(folder_.Path("sets/a/tmp-a-1.snappy"), "");
  EXPECT_EQ(ChangeSetFiles::Open(folder_.Path("sets")).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace blockreplay::replay
