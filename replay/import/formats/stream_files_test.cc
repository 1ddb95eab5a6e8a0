#include "replay/import/formats/stream_files.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "replay/recording/test_recording.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Written by the SDK's own service; see fixtures/import/README.md.
const std::string kFiles = BLOCKREPLAY_FIXTURES "/import/sdk-0.47/files";

class StreamFilesTest : public ::testing::Test {
 protected:
  // A copy of the real files, to be damaged.
  StreamFilesTest() {
    std::filesystem::copy(kFiles, dir_, std::filesystem::copy_options::recursive);
  }

  std::string Bytes(const std::string& name) { return ReadBytes(dir_ + "/" + name); }
  void Write(const std::string& name, const std::string& bytes) {
    WriteBytes(dir_ + "/" + name, bytes);
  }
  // With the length prefix that fits.
  static std::string Prefixed(const std::string& payload) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(payload.size() >> shift & 0xff));
    }
    return bytes + payload;
  }
  std::string ErrorAt(int64_t height) {
    auto files = StreamFiles::Open(dir_);
    if (!files.ok()) return std::string(files.status().message());
    v1::Block block;
    return std::string(files->Read(height, &block).message());
  }

  TemporaryDir folder_;
  const std::string dir_ = folder_.Path("files");
};

TEST_F(StreamFilesTest, GivesWhatTheApplicationSaysOfEachBlock) {
  const auto expected =
      nlohmann::json::parse(ReadBytes(BLOCKREPLAY_FIXTURES "/import/sdk-0.47/expected.json"));
  auto files = StreamFiles::Open(dir_);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_THAT(files->heights(), SizeIs(expected.size()));
  for (const auto& block_expected : expected) {
    const int64_t height = block_expected["height"];
    v1::Block block;
    const absl::Status status = files->Read(height, &block);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(block.height(), height);
    EXPECT_EQ(absl::BytesToHexString(block.app_hash()),
              block_expected["app_hash"].get<std::string>());
    EXPECT_EQ(block.response().app_hash(), block.app_hash());
    EXPECT_EQ(block.request().txs_size(), block_expected["txs"].get<int>());
    EXPECT_EQ(HexOf(ResultsHash(block.response())),
              block_expected["last_results_hash"].get<std::string>());
    EXPECT_EQ(block.request().height(), height);
    EXPECT_EQ(block.request().decided_last_commit().votes_size(), height > 1 ? 1 : 0);
    EXPECT_EQ(block.header().chain_id(), "stream-47");
    EXPECT_EQ(block.response().validator_updates_size(), height == 5 ? 1 : 0);
  }
}

TEST_F(StreamFilesTest, MarksTheEventsOfBeginAndEndBlock) {
  auto files = StreamFiles::Open(dir_);
  v1::Block block;
  ASSERT_TRUE(files->Read(4, &block).ok());
  std::vector<std::string> modes;
  for (const auto& event : block.response().events()) {
    const auto& mode = event.attributes(event.attributes_size() - 1);
    EXPECT_EQ(mode.key(), "mode");
    EXPECT_FALSE(mode.index());
    modes.push_back(event.type() + " " + mode.value());
  }
  EXPECT_THAT(modes, ElementsAre("begin BeginBlock", "begin EndBlock", "end EndBlock"));
}

TEST_F(StreamFilesTest, KeepsTheOrderAndTheKindsOfWrites) {
  auto files = StreamFiles::Open(dir_);
  v1::Block block;
  ASSERT_TRUE(files->Read(1, &block).ok());
  std::vector<std::string> writes;
  for (const auto& write : block.change_set()) {
    writes.push_back(write.store_key() + "/" + write.key() + (write.delete_() ? " deleted" : ""));
  }
  EXPECT_THAT(writes,
              ElementsAre("alpha/count", "alpha/genesis", "alpha/h/-03 deleted", "alpha/h/001",
                          "alpha/height", "beta/dog/d1-0", "beta/empty", "beta/same"));
}

TEST_F(StreamFilesTest, ReadsWritesAloneWhereThereIsNoMeta) {
  for (int h = 1; h <= 9; ++h)
    std::filesystem::remove(dir_ + "/block-" + std::to_string(h) + "-meta");
  auto files = StreamFiles::Open(dir_);
  ASSERT_TRUE(files.ok()) << files.status();
  v1::Block block;
  ASSERT_TRUE(files->Read(3, &block).ok());
  EXPECT_GT(block.change_set_size(), 0);
  EXPECT_FALSE(block.has_request());
  EXPECT_FALSE(block.has_response());
}

TEST_F(StreamFilesTest, FindsFilesOfAPrefixAndRefusesTwo) {
  std::filesystem::create_directory(folder_.Path("own"));
  for (const char* kind : {"-data", "-meta"}) {
    std::filesystem::copy(kFiles + "/block-2" + kind, folder_.Path("own/my-node-block-2") + kind);
  }
  auto files = StreamFiles::Open(folder_.Path("own"));
  ASSERT_TRUE(files.ok()) << files.status();
  v1::Block block;
  EXPECT_TRUE(files->Read(2, &block).ok());
  std::filesystem::copy(kFiles + "/block-3-data", folder_.Path("own/block-3-data"));
  EXPECT_THAT(StreamFiles::Open(folder_.Path("own")).status().message(),
              HasSubstr("several prefixes (\"\", \"my-node-\")"));
}

TEST_F(StreamFilesTest, SaysWhichFileIsDamagedAndWhere) {
  const std::string data = Bytes("block-3-data");
  const std::string meta = Bytes("block-3-meta");
  EXPECT_EQ(ErrorAt(3), "");
  Write("block-3-data", data.substr(0, data.size() - 1));
  EXPECT_THAT(ErrorAt(3), HasSubstr("block-3-data: its length prefix says"));
  Write("block-3-data", "1234");
  EXPECT_THAT(ErrorAt(3), HasSubstr("fewer than its length prefix"));
  Write("block-3-data", Prefixed("\x7f"));
  EXPECT_THAT(ErrorAt(3), HasSubstr("block-3-data: write 0 at offset 8: has 127 bytes"));
  Write("block-3-data", Prefixed("\x03\x0a\x05x"));
  EXPECT_THAT(ErrorAt(3), HasSubstr("is no StoreKVPair"));
  Write("block-3-data", Prefixed(std::string("\x02\x10\x01", 3)));
  EXPECT_THAT(ErrorAt(3), HasSubstr("names no store"));
  Write("block-3-data", Prefixed(std::string(11, '\xff')));
  EXPECT_THAT(ErrorAt(3), HasSubstr("its length is no varint"));
  Write("block-3-data", data);
  Write("block-3-meta", Prefixed("nonsense"));
  EXPECT_THAT(ErrorAt(3), HasSubstr("block-3-meta: is no BlockMetadata"));
  Write("block-3-meta", Bytes("block-4-meta"));
  EXPECT_THAT(ErrorAt(3), HasSubstr("its header is of height 4, not 3"));
  std::string changed = meta;
  const size_t dog = changed.rfind("d3-2");
  ASSERT_NE(dog, std::string::npos);
  // In the response it is not hashed with the transactions; change the request's, which comes
  // first.
  changed[changed.find("d3-0")] = 'e';
  Write("block-3-meta", changed);
  EXPECT_THAT(ErrorAt(3), HasSubstr("transactions has the header's data hash"));
  std::filesystem::remove(dir_ + "/block-3-data");
  EXPECT_THAT(ErrorAt(3), HasSubstr("block-3-data is not there"));
  EXPECT_THAT(StreamFiles::Open(folder_.Path(".")).status().message(),
              HasSubstr("has no files block-<height>-data"));
}

}  // namespace
}  // namespace blockreplay::replay
