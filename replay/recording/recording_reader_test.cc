#include "replay/recording/recording_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/escaping.h"
#include "replay/recording/check.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;
const std::string kSmall = kFixtures + "/regression/noop-noop";  // 3 blocks
const std::string kWithSnapshot = kFixtures + "/regression-tail/swaps-streaming-swaps-from-41";

// Reads everything and returns the message of the first error; "" if there is none.
std::string ReadError(const std::string& dir) {
  const absl::StatusOr<Manifest> manifest = LoadManifest(dir);
  if (!manifest.ok()) return std::string(manifest.status().message());
  return std::string(CheckRecording(dir, *manifest, [](int64_t) {}).status().message());
}

class RecordingReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    copy_ = dir_.Path("copy");
    CopyRecording(kSmall, copy_);
    blocks_ = ReadBlocks(kSmall);
  }

  // Puts a stream of these blocks into the copy, with a manifest that fits its bytes.
  void SetBlocks(const std::vector<v1::Block>& blocks) {
    std::string stream;
    for (const v1::Block& block : blocks) stream += Delimited(block);
    ReplaceFile(copy_, "blocks.zst", Compressed(stream));
  }

  TemporaryDir dir_;
  std::string copy_;
  std::vector<v1::Block> blocks_;
};

TEST_F(RecordingReaderTest, ReadsWhatWasWritten) {
  EXPECT_EQ(ReadError(copy_), "");
  const std::vector<v1::Block> copied = ReadBlocks(copy_);
  ASSERT_EQ(copied.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(copied[i].SerializeAsString(), blocks_[i].SerializeAsString());
  }
}

// Memos of other chains' transactions reach logs and events as they came.
TEST_F(RecordingReaderTest, LogsAndEventsNeedNotBeUtf8) {
  auto* result = blocks_[1].mutable_response()->add_tx_results();
  result->set_log("memo \xff\xfe");
  result->add_events()->add_attributes()->set_value("\xc3");
  SetBlocks(blocks_);
  const std::vector<v1::Block> read = ReadBlocks(copy_);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[1].SerializeAsString(), blocks_[1].SerializeAsString());
}

TEST_F(RecordingReaderTest, ReadsPartsInOrder) {
  const std::string parts = dir_.Path("parts");
  CopyRecording(kWithSnapshot, parts, [](v1::Block*) {}, {.blocks_per_part = 3});
  EXPECT_EQ(ReadError(parts), "");
  EXPECT_GT(LoadManifest(parts)->StreamFiles("blocks").size(), 2u);
  EXPECT_EQ(ReadBlocks(parts).size(), ReadBlocks(kWithSnapshot).size());
}

TEST_F(RecordingReaderTest, PartNamesMustSayTheirHeight) {
  const std::string parts = dir_.Path("parts");
  CopyRecording(kSmall, parts, [](v1::Block*) {}, {.blocks_per_part = 2});
  std::filesystem::rename(parts + "/blocks-3.zst", parts + "/blocks-4.zst");
  EditManifest(parts, [](nlohmann::json* document) {
    for (auto& file : (*document)["files"]) {
      if (file["name"] == "blocks-3.zst") file["name"] = "blocks-4.zst";
    }
  });
  EXPECT_THAT(ReadError(parts), HasSubstr("blocks-4.zst: begins with height 3, its name says 4"));
}

TEST_F(RecordingReaderTest, SeveralFramesAreOneStream) {
  std::string bytes;
  for (const v1::Block& block : blocks_) {
    const std::string message = Delimited(block);
    // Cut anywhere: frames need not end where messages do.
    bytes += Compressed(message.substr(0, message.size() / 3)) + Compressed("") +
             Compressed(message.substr(message.size() / 3));
  }
  ReplaceFile(copy_, "blocks.zst", bytes);
  EXPECT_EQ(ReadError(copy_), "");
}

TEST_F(RecordingReaderTest, EveryTruncationIsFound) {
  const std::string bytes = ReadBytes(copy_ + "/blocks.zst");
  for (size_t size = 0; size < bytes.size(); size += 37) {
    ReplaceFile(copy_, "blocks.zst", bytes.substr(0, size));
    EXPECT_THAT(ReadError(copy_), AllOf(HasSubstr("blocks"), HasSubstr("height"))) << size;
  }
}

TEST_F(RecordingReaderTest, FlippedBitsNeverPassAsAWholeRecording) {
  const std::string bytes = ReadBytes(copy_ + "/blocks.zst");
  std::mt19937 random(7);  // NOLINT: the same bits in every run
  for (int i = 0; i < 200; ++i) {
    std::string flipped = bytes;
    const size_t at = random() % flipped.size();
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
    ReplaceFile(copy_, "blocks.zst", flipped);
    // A bit of the frame header that says nothing about the contents may go unnoticed; then the
    // contents are the same.
    if (ReadError(copy_).empty()) {
      EXPECT_EQ(ReadBlocks(copy_)[2].SerializeAsString(), blocks_[2].SerializeAsString()) << at;
    }
  }
}

TEST_F(RecordingReaderTest, ALyingLengthPrefixIsFound) {
  // 500 MiB claimed, 3 bytes there.
  ReplaceFile(copy_, "blocks.zst", Compressed(std::string("\x80\x80\x80\xfa\x01", 5) + "abc"));
  EXPECT_THAT(ReadError(copy_), AllOf(HasSubstr("message 1 at uncompressed offset 0"),
                                      HasSubstr("after 3 of its 524288000 bytes")));
  ReplaceFile(copy_, "blocks.zst",
              Compressed(std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10)));
  EXPECT_THAT(ReadError(copy_), HasSubstr("claims 18446744073709551615 bytes"));
  ReplaceFile(copy_, "blocks.zst", Compressed(std::string(11, '\xff')));
  EXPECT_THAT(ReadError(copy_), HasSubstr("no varint"));
  ReplaceFile(copy_, "blocks.zst", Compressed(Delimited(blocks_[0]) + "\xff"));
  EXPECT_THAT(ReadError(copy_), AllOf(HasSubstr("message 2"), HasSubstr("inside a length prefix")));
}

TEST_F(RecordingReaderTest, AWindowAboveTheLimitIsRefused) {
  // A frame header that asks for a window of 2 GiB: magic, descriptor without content size, window
  // exponent 21.
  ReplaceFile(copy_, "blocks.zst", std::string("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9));
  EXPECT_THAT(ReadError(copy_), HasSubstr("damaged zstd stream"));
}

TEST_F(RecordingReaderTest, HeightsMustFollowEachOther) {
  SetBlocks({blocks_[0], blocks_[2]});
  EXPECT_THAT(ReadError(copy_), AllOf(HasSubstr("message 2"), HasSubstr("has height 3, but 2"),
                                      HasSubstr("a block is missing")));
  SetBlocks({blocks_[0], blocks_[1], blocks_[1], blocks_[2]});
  EXPECT_THAT(ReadError(copy_), HasSubstr("has height 2, but 3"));
  SetBlocks({blocks_[1], blocks_[0], blocks_[2]});
  EXPECT_THAT(ReadError(copy_), HasSubstr("has height 2, but 1"));
  SetBlocks({blocks_[0], blocks_[1]});
  EXPECT_THAT(ReadError(copy_), HasSubstr("end before height 3"));
  SetBlocks({blocks_[0], blocks_[1], blocks_[2], blocks_[2]});
  EXPECT_THAT(ReadError(copy_), HasSubstr("comes after the last height"));
  SetBlocks({});
  EXPECT_THAT(ReadError(copy_), HasSubstr("end before height 1"));
}

TEST_F(RecordingReaderTest, MessagesMustDecode) {
  ReplaceFile(copy_, "blocks.zst", Compressed("\x03\xff\xff\xff"));
  EXPECT_THAT(ReadError(copy_), HasSubstr("not a valid blockreplay.v1.Block"));
  ReplaceFile(copy_, "phases.zst", Compressed("\x03\xff\xff\xff"));
  SetBlocks(blocks_);
  EXPECT_THAT(ReadError(copy_), HasSubstr("not a valid blockreplay.v1.BlockPhases"));
}

TEST_F(RecordingReaderTest, BlocksMustFitTheManifest) {
  const auto error_with = [&](const std::function<void(v1::Block*)>& edit) {
    std::vector<v1::Block> blocks = blocks_;
    edit(&blocks[1]);
    SetBlocks(blocks);
    return ReadError(copy_);
  };
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_change_set(0)->set_store_key("gov"); }),
              AllOf(HasSubstr("block 2"), HasSubstr("store \"gov\"")));
  EXPECT_THAT(error_with([](v1::Block* b) {
                b->mutable_commit_info()->mutable_store_infos(0)->set_name("gov");
              }),
              HasSubstr("store \"gov\""));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_app_hash()->at(0) ^= 1; }),
              HasSubstr("but its response has"));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_app_hash()->resize(31); }),
              HasSubstr("31 bytes"));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_request()->set_height(1); }),
              HasSubstr("request is of height 1"));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_request()->add_txs("x"); }),
              HasSubstr("results"));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_init_chain(); }), HasSubstr("init_chain"));
  EXPECT_THAT(error_with([](v1::Block* b) { b->mutable_header()->set_chain_id("x"); }),
              HasSubstr("chain \"x\""));
  std::vector<v1::Block> blocks = blocks_;
  blocks[0].mutable_init_chain()->set_chain_id("other");
  SetBlocks(blocks);
  EXPECT_THAT(ReadError(copy_), HasSubstr("chain \"other\""));
  SetBlocks(blocks_);
  EditManifest(copy_, [](nlohmann::json* d) { (*d)["final_app_hash"] = std::string(64, '0'); });
  EXPECT_THAT(ReadError(copy_), HasSubstr("manifest.json ends with 0000"));
}

TEST_F(RecordingReaderTest, TheSnapshotMustBeTheOneBeforeTheFirstBlock) {
  const std::string copy = dir_.Path("with-snapshot");
  CopyRecording(kWithSnapshot, copy);
  ASSERT_EQ(ReadError(copy), "");
  const std::string snapshot = ReadBytes(copy + "/snapshot/_snapshot");
  const std::string chunk = ReadBytes(copy + "/snapshot/0");

  std::string flipped = chunk;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  ReplaceFile(copy, "snapshot/0", flipped);
  EXPECT_THAT(ReadError(copy), AllOf(HasSubstr("snapshot/0"), HasSubstr("not the chunk")));
  ReplaceFile(copy, "snapshot/0", chunk);

  // Field 1 (height) comes first: 08 <height>.
  std::string other = snapshot;
  ASSERT_EQ(other[0], '\x08');
  other[1] = static_cast<char>(other[1] + 1);
  ReplaceFile(copy, "snapshot/_snapshot", other);
  EXPECT_THAT(ReadError(copy), HasSubstr("a snapshot of height"));
  ReplaceFile(copy, "snapshot/_snapshot", "\xff");
  EXPECT_THAT(ReadError(copy), HasSubstr("not a valid"));
}

}  // namespace
}  // namespace blockreplay::replay
