#include "replay/import/base_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

// Height 40.
const std::string kSnapshot =
    std::string(BLOCKREPLAY_FIXTURES) + "/regression-tail/swaps-streaming-swaps-from-41/snapshot";

class BaseStateTest : public ::testing::Test {
 protected:
  std::string Pack(const std::string& files) {
    const std::string archive = dir_.Path("40-3.tar.gz");
    const std::string command =
        "tar --format=ustar -czf '" + archive + "' -C '" + kSnapshot + "' " + files;
    EXPECT_EQ(std::system(command.c_str()), 0);
    return archive;
  }
  // As the node keeps it, without metadata.db.
  std::string NodeLayout() {
    const std::string folder = dir_.Path("snapshots");
    fs::create_directories(folder + "/40");
    fs::create_directories(folder + "/900/3");
    fs::copy(kSnapshot, folder + "/40/3");
    fs::remove(folder + "/40/3/_snapshot");
    WriteBytes(folder + "/900/3/0", "of another height");
    return folder;
  }
  // Writes it and expects the files of the fixture.
  void ExpectSame(const absl::StatusOr<std::unique_ptr<BaseState>>& base) {
    ASSERT_TRUE(base.ok()) << base.status();
    EXPECT_EQ((*base)->height(), 40);
    const absl::Status written = (*base)->Write(dir_.Path("out"), nullptr);
    ASSERT_TRUE(written.ok()) << written;
    size_t files = 0;
    for (const auto& entry : fs::directory_iterator(kSnapshot)) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(ReadBytes(dir_.Path("out/" + name)), ReadBytes(entry.path().string())) << name;
      ++files;
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(dir_.Path("out")), {}),
              static_cast<std::ptrdiff_t>(files));
  }

  TemporaryDir dir_;
};

TEST_F(BaseStateTest, CopiesAFolder) { ExpectSame(OpenSnapshotBase(kSnapshot, 40)); }

TEST_F(BaseStateTest, UnpacksAnArchive) { ExpectSame(OpenSnapshotBase(Pack("_snapshot 0"), 40)); }

// The hashes of a node's snapshot are in its database; without that they are computed.
TEST_F(BaseStateTest, PicksTheHeightAmongANodesSnapshots) {
  ExpectSame(OpenSnapshotBase(NodeLayout(), 40));
}

TEST_F(BaseStateTest, RefusesAChangedChunk) {
  const std::string folder = dir_.Path("changed");
  fs::copy(kSnapshot, folder);
  std::string chunk = ReadBytes(folder + "/0");
  chunk[chunk.size() / 2] ^= 1;
  WriteBytes(folder + "/0", chunk);
  const auto base = OpenSnapshotBase(folder, 40);
  ASSERT_TRUE(base.ok()) << base.status();
  EXPECT_EQ((*base)->Write(dir_.Path("out"), nullptr).code(), absl::StatusCode::kDataLoss);
}

TEST_F(BaseStateTest, RefusesOtherArchives) {
  for (const char* files : {"0 _snapshot", "_snapshot", "--transform=s,^0,../0, _snapshot 0"}) {
    const auto base = OpenSnapshotBase(Pack(files), 40);
    const absl::Status status =
        base.ok() ? (*base)->Write(dir_.Path("out"), nullptr) : base.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << files;
    EXPECT_THAT(std::string(status.message()), HasSubstr("must come")) << files;
    EXPECT_FALSE(fs::exists(dir_.Path("0")));
    fs::remove_all(dir_.Path("out"));
  }
}

TEST_F(BaseStateTest, RefusesLinksInAnArchive) {
  fs::create_directory(dir_.Path("links"));
  fs::create_symlink("/etc/passwd", dir_.Path("links/_snapshot"));
  const std::string archive = dir_.Path("links.tar.gz");
  ASSERT_EQ(std::system(("tar --format=ustar -czf '" + archive + "' -C '" + dir_.Path("links") +
                         "' _snapshot")
                            .c_str()),
            0);
  EXPECT_THAT(std::string(OpenSnapshotBase(archive, 40).status().message()),
              HasSubstr("plain files"));
}

TEST_F(BaseStateTest, RefusesACutArchive) {
  const std::string archive = Pack("_snapshot 0");
  std::string bytes = ReadBytes(archive);
  WriteBytes(archive, bytes.substr(0, bytes.size() * 2 / 3));
  const auto base = OpenSnapshotBase(archive, 40);
  ASSERT_TRUE(base.ok()) << base.status();
  EXPECT_EQ((*base)->Write(dir_.Path("out"), nullptr).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace blockreplay::replay
