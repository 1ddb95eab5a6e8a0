#include "replay/record/block_log.h"

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/recording/delimited_reader.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BlockLogTest : public testing::Test {
 protected:
  static const std::vector<v1::Block>& Blocks() {
    static const auto* const blocks = new std::vector<v1::Block>(
        ReadBlocks(BLOCKREPLAY_FIXTURES "/regression/swaps-streaming-swaps"));
    return *blocks;
  }
  static const v1::Block& Block(int64_t height) {
    return Blocks()[static_cast<size_t>(height - 1)];
  }

  std::unique_ptr<BlockLog> Open() {
    auto log = BlockLog::Open(dir_, options_, absl::ZeroDuration(),
                              [&](const std::string& notice) { notices_.push_back(notice); });
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }

  static void Append(BlockLog* log, int64_t first, int64_t last) {
    for (int64_t height = first; height <= last; ++height) {
      const absl::Status status = log->Append(Block(height));
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  // A folder with these heights in it.
  void Write(int64_t first, int64_t last) { Append(Open().get(), first, last); }

  std::vector<StreamRange> Ranges() const { return RangesOf(ReadStream(dir_)->index.parts); }

  // Everything that is recorded is what was appended, read by the reader of recordings where it is
  // a recording's part.
  void ExpectIntact() const {
    const auto contents = ReadStream(dir_);
    ASSERT_TRUE(contents.ok()) << contents.status();
    EXPECT_THAT(contents->damages, IsEmpty());
    for (const auto& [first, part] : contents->index.parts) {
      auto source = OpenZstdFile(absl::StrCat(dir_, "/", part.name()));
      ASSERT_TRUE(source.ok());
      DelimitedReader reader(*std::move(source), part.name());
      std::string message;
      for (int64_t height = first; height <= part.last; ++height) {
        const auto more = reader.Next(&message);
        ASSERT_TRUE(more.ok() && *more) << more.status();
        ASSERT_EQ(message, Block(height).SerializeAsString()) << height;
      }
      EXPECT_FALSE(*reader.Next(&message));
    }
  }

  std::string PathOf(int64_t first) const { return absl::StrCat(dir_, "/blocks-", first, ".zst"); }

  TemporaryDir temporary_;
  const std::string dir_ = temporary_.Path("stream");
  BlockLogOptions options_ = {.names = {}, .blocks_per_part = 10};
  std::vector<std::string> notices_;
};

TEST_F(BlockLogTest, WritesPartsOfARecording) {
  Write(1, 25);
  EXPECT_TRUE(fs::exists(PathOf(1)) && fs::exists(PathOf(11)) && fs::exists(PathOf(21)));
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 25}));
  ExpectIntact();
}

TEST_F(BlockLogTest, GoesOnInTheLastPart) {
  Write(1, 14);
  Write(15, 25);
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 25}));
  EXPECT_FALSE(fs::exists(PathOf(15)));
  ExpectIntact();
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(BlockLogTest, DraftManifestSaysWhatIsThere) {
  options_.names = {
      .chain_id = "thorchain", .application_name = "thornode", .application_version = "1"};
  Write(1, 12);
  const auto index = ParseIndex(ReadBytes(dir_ + "/manifest.draft.json"), "draft");
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(index->names.chain_id, "thorchain");
  EXPECT_EQ(index->parts.at(11).last, 12);
  EXPECT_EQ(index->parts.at(11).size, fs::file_size(PathOf(11)));
  EXPECT_EQ(index->parts.at(1).sha256.size(), 64);
  EXPECT_FALSE(fs::exists(dir_ + "/manifest.json"));
}

// Wherever a writer was killed, all complete frames are kept and the rest is written again.
TEST_F(BlockLogTest, CutsAnIncompleteFrame) {
  Write(1, 2);
  const auto second = ReadStream(dir_)->index.parts.at(1).size;
  Write(3, 3);
  const std::string whole = ReadBytes(PathOf(1));
  for (size_t size = second + 1; size < whole.size(); size += 97) {
    WriteBytes(PathOf(1), whole.substr(0, size));
    notices_.clear();
    Write(3, 4);
    EXPECT_THAT(notices_,
                ElementsAre(HasSubstr(absl::StrCat("cut off ", size - second, " bytes"))));
    EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 4}));
    ExpectIntact();
  }
  EXPECT_FALSE(fs::exists(dir_ + "/set-aside"));
}

TEST_F(BlockLogTest, ForgetsAPartWithoutACompleteBlock) {
  Write(1, 11);
  WriteBytes(PathOf(11), ReadBytes(PathOf(11)).substr(0, 20));
  Open();
  EXPECT_FALSE(fs::exists(PathOf(11)));
  Write(11, 12);
  ExpectIntact();
}

TEST_F(BlockLogTest, KeepsACopyOfWhatIsDamagedOtherwise) {
  Write(1, 9);
  std::string bytes = ReadBytes(PathOf(1));
  const std::string draft = ReadBytes(dir_ + "/manifest.draft.json");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  bytes += "x";  // otherwise the draft manifest is believed
  WriteBytes(PathOf(1), bytes);
  const auto log = Open();
  ASSERT_THAT(notices_, ElementsAre(HasSubstr("set-aside/1")));
  const int64_t last = log->parts().at(1).last;
  EXPECT_GE(last, 1);
  EXPECT_LT(last, 9);
  const std::string tail = ReadBytes(dir_ + "/set-aside/1/blocks-1.zst.damaged");
  EXPECT_EQ(tail, bytes.substr(bytes.size() - tail.size()));
  Append(log.get(), last + 1, 9);
  ExpectIntact();
}

TEST_F(BlockLogTest, AGapBeginsAnotherRange) {
  Write(1, 5);
  Write(8, 12);
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 5}, StreamRange{8, 12}));
  Write(6, 7);
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 12}));
  ExpectIntact();
}

TEST_F(BlockLogTest, FindsWhatItHas) {
  Write(3, 25);
  const auto log = Open();
  for (const int64_t height : {3, 4, 12, 13, 14, 25, 9, 24}) {
    const auto block = log->Find(height);
    ASSERT_TRUE(block.ok() && *block) << height << block.status();
    EXPECT_EQ((*block)->SerializeAsString(), Block(height).SerializeAsString());
  }
  EXPECT_EQ(*log->Find(2), std::nullopt);
  EXPECT_EQ(*log->Find(26), std::nullopt);
}

TEST_F(BlockLogTest, SetsAsideWhatIsSuperseded) {
  Write(1, 25);
  const auto log = Open();
  const auto aside = log->SetAside(16);
  ASSERT_TRUE(aside.ok()) << aside.status();
  EXPECT_THAT(RangesOf(log->parts()), ElementsAre(StreamRange{1, 15}));
  Append(log.get(), 16, 17);
  ExpectIntact();
  const auto old = ReadStream(*aside);
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_THAT(RangesOf(old->index.parts), ElementsAre(StreamRange{16, 25}));
  EXPECT_THAT(old->damages, IsEmpty());
}

TEST_F(BlockLogTest, OneProcessAtATime) {
  const auto log = Open();
  const auto second =
      BlockLog::Open(dir_, options_, absl::Milliseconds(30), [](const std::string&) {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(BlockLogTest, RefusesFoldersOfOthers) {
  options_.names.chain_id = "one";
  Write(1, 2);
  options_.names.chain_id = "two";
  const auto open = [&] {
    return BlockLog::Open(dir_, options_, absl::ZeroDuration(), [](const std::string&) {}).status();
  };
  EXPECT_THAT(open().message(), HasSubstr("chain one"));
  options_.names.chain_id = "";
  EXPECT_TRUE(open().ok());
  WriteBytes(dir_ + "/manifest.json", "{}");
  EXPECT_THAT(open().message(), HasSubstr("complete recording"));
}

TEST_F(BlockLogTest, ReadsPartsWhereTheDraftManifestIsOfNoUse) {
  Write(1, 12);
  for (const std::string text :
       {"", "{}", "{\"format\":\"blockreplay.v1\",\"parts\":[{\"first_height\":-1}]}"}) {
    WriteBytes(dir_ + "/manifest.draft.json", text);
    notices_.clear();
    Open();
    EXPECT_THAT(notices_, ElementsAre(HasSubstr("not used"))) << text;
    EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 12}));
  }
}

TEST_F(BlockLogTest, RefusesPartsThatExcludeEachOther) {
  Write(1, 9);
  fs::copy_file(PathOf(1), PathOf(5));
  EXPECT_EQ(ReadStream(dir_).status().code(), absl::StatusCode::kFailedPrecondition);
}

// No room for a block: it fails, and once there is room again it is as if nothing had been.
TEST_F(BlockLogTest, ComesBackWhenThereIsRoomAgain) {
  const auto log = Open();
  Append(log.get(), 1, 3);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = fs::file_size(PathOf(1)) + 100;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const absl::Status failed = log->Append(Block(4));
  const absl::Status again = log->Append(Block(4));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(failed.message(), HasSubstr("blocks-1.zst"));
  EXPECT_FALSE(again.ok());
  Append(log.get(), 4, 5);
  ASSERT_TRUE(log->Close().ok());
  EXPECT_THAT(Ranges(), ElementsAre(StreamRange{1, 5}));
  ExpectIntact();
}

}  // namespace
}  // namespace blockreplay::replay
