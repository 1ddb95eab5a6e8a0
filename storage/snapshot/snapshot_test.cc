#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "leveldb/db.h"
#include "nlohmann/json.hpp"
#include "storage/kv/rocksdb_engine.h"
#include "storage/snapshot/item_reader.h"
#include "storage/snapshot/item_writer.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay::storage::snapshot {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kFixtures = std::string(BLOCKREPLAY_FIXTURES) + "/iavl/snapshot/";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteFile(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

// Hands out `bytes` in pieces of `piece` bytes.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::string bytes, size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  absl::StatusOr<std::string_view> Next() override {
    const size_t at = std::exchange(at_, std::min(bytes_.size(), at_ + piece_));
    return std::string_view(bytes_).substr(at, at_ - at);
  }
  std::string Position() const override { return absl::StrCat("byte ", at_); }

 private:
  std::string bytes_;
  size_t piece_;
  size_t at_ = 0;
};

std::string Compress(const std::string& plain) {
  std::string out(compressBound(plain.size()), '\0');
  uLongf size = out.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(out.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  out.resize(size);
  return out;
}

std::string Uncompress(const std::string& bytes, size_t size) {
  std::string out(size + 1, '\0');
  uLongf got = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  out.resize(got);
  return out;
}

absl::StatusOr<std::vector<SnapshotItem>> ReadAll(ByteSource* source) {
  ItemReader reader(source);
  std::vector<SnapshotItem> items;
  while (true) {
    absl::StatusOr<const SnapshotItem*> item = reader.Next();
    if (!item.ok()) return item.status();
    if (*item == nullptr) return items;
    items.push_back(**item);
  }
}

absl::StatusOr<std::vector<SnapshotItem>> ReadBytes(const std::string& compressed,
                                                    size_t piece = 1000) {
  MemorySource source(compressed, piece);
  return ReadAll(&source);
}

std::string Error(const absl::StatusOr<std::vector<SnapshotItem>>& result) {
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss) << result.status();
  return std::string(result.status().message());
}

class SnapshotDirTest : public ::testing::Test {
 protected:
  SnapshotDirTest() {
    char name[] = "/tmp/snapshot_test.XXXXXX";
    dir_ = mkdtemp(name);
  }
  ~SnapshotDirTest() override { fs::remove_all(dir_); }

  // The fixture's snapshot in the archive layout, with its real metadata.
  fs::path Archive() {
    const fs::path archive = dir_ / "archive";
    fs::create_directories(archive);
    fs::copy_file(kFixtures + "chunk_0", archive / "0");
    WriteFile(archive / "_snapshot", Metadata());
    return archive;
  }
  static std::string Metadata() {
    std::ifstream in(kFixtures + "snapshot.json");
    return absl::HexStringToBytes(nlohmann::json::parse(in)["snapshot_proto"].get<std::string>());
  }
  static absl::StatusOr<std::vector<SnapshotItem>> ReadDir(const fs::path& path) {
    absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(path.string());
    if (!dir.ok()) return dir.status();
    ChunkSource source(*dir);
    return ReadAll(&source);
  }

  fs::path dir_;
};

TEST(ItemReader, ReadsTheNodesItems) {
  const std::string chunk = ReadFile(kFixtures + "chunk_0");
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}, chunk.size()}) {
    MemorySource source(chunk, piece);
    ItemReader reader(&source);
    std::vector<std::string> stores;
    uint64_t nodes = 0;
    while (true) {
      absl::StatusOr<const SnapshotItem*> item = reader.Next();
      ASSERT_TRUE(item.ok()) << item.status();
      if (*item == nullptr) break;
      if ((*item)->has_store()) stores.push_back((*item)->store().name());
      nodes += (*item)->has_iavl() ? 1 : 0;
    }
    EXPECT_THAT(stores, ::testing::ElementsAre("acc", "bank", "empty", "gov"));
    EXPECT_EQ(reader.items(), nodes + stores.size());
    EXPECT_EQ(reader.stream_bytes(), ReadFile(kFixtures + "items.bin").size());
  }
}

TEST(ItemWriter, WritesTheNodesItems) {
  const absl::StatusOr<std::vector<SnapshotItem>> items =
      ReadBytes(ReadFile(kFixtures + "chunk_0"));
  ASSERT_TRUE(items.ok());
  std::string compressed;
  ItemWriter writer([&](std::string_view bytes) {
    compressed.append(bytes);
    return absl::OkStatus();
  });
  for (const SnapshotItem& item : *items) ASSERT_TRUE(writer.Add(item).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::string plain = ReadFile(kFixtures + "items.bin");
  EXPECT_EQ(Uncompress(compressed, plain.size()), plain);
  EXPECT_EQ(compressed.substr(0, 2),
            ReadFile(kFixtures + "chunk_0").substr(0, 2));  // the level's mark
}

TEST(ItemReader, EveryCutIsNoticed) {
  const std::string chunk = ReadFile(kFixtures + "chunk_0");
  for (size_t size = 0; size < chunk.size(); size += 97) {
    EXPECT_THAT(Error(ReadBytes(chunk.substr(0, size))), HasSubstr("too early")) << size;
  }
  EXPECT_THAT(Error(ReadBytes(chunk.substr(0, chunk.size() - 1))), HasSubstr("too early"));
  EXPECT_THAT(Error(ReadBytes(chunk + "x")), HasSubstr("after the end"));
  EXPECT_THAT(Error(ReadBytes(chunk + "x", 1)), HasSubstr("after the end"));
}

TEST(ItemReader, EveryFlippedBitIsNoticed) {
  const std::string chunk = ReadFile(kFixtures + "chunk_0");
  for (size_t i = 0; i < chunk.size(); i += 41) {
    std::string changed = chunk;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(ReadBytes(changed).ok()) << i;  // zlib's Adler-32 at the latest
  }
}

TEST(ItemReader, LyingLengths) {
  // 64,000,001 and 2^63 bytes.
  EXPECT_THAT(Error(ReadBytes(Compress("\x81\xa0\xc2\x1e"))),
              HasSubstr("64000001 bytes; the limit is 64000000"));
  EXPECT_THAT(Error(ReadBytes(Compress("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"))),
              HasSubstr("limit"));
  EXPECT_THAT(Error(ReadBytes(Compress(std::string(11, '\xff')))), HasSubstr("does not fit"));
  EXPECT_THAT(Error(ReadBytes(Compress("\x80"))), HasSubstr("within a length"));
  // 64,000,000 bytes claimed, 3 there.
  EXPECT_THAT(Error(ReadBytes(Compress("\x80\xa0\xc2\x1e"
                                       "abc"))),
              HasSubstr("3 bytes into an item of 64000000"));
}

TEST(ItemReader, ItemsThatAreNone) {
  EXPECT_THAT(Error(ReadBytes(Compress("\x02\x0a\x05"))), HasSubstr("not a SnapshotItem"));
  EXPECT_THAT(Error(ReadBytes(Compress(std::string(1, '\0')))), HasSubstr("unknown kind"));
  EXPECT_THAT(Error(ReadBytes(Compress("\x02\x2a" + std::string(1, '\0')))),
              HasSubstr("unknown kind"));
  EXPECT_THAT(Error(ReadBytes("not zlib at all")), HasSubstr("not a zlib stream"));
  EXPECT_THAT(Error(ReadBytes("")), HasSubstr("too early"));
  const auto none = ReadBytes(Compress(""));
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->empty());
}

TEST(ItemReader, LargeItemsAndExtensions) {
  std::vector<SnapshotItem> items(5);
  items[0].mutable_store()->set_name("acc");
  items[1].mutable_extension()->set_name("wasm");
  items[1].mutable_extension()->set_format(1);
  items[2].mutable_extension_payload()->set_payload(std::string(3'000'000, 'p'));
  items[3].mutable_extension_payload();
  items[4].mutable_extension()->set_name("without payloads");
  std::string compressed;
  ItemWriter writer([&](std::string_view bytes) {
    compressed.append(bytes);
    return absl::OkStatus();
  });
  for (const SnapshotItem& item : items) ASSERT_TRUE(writer.Add(item).ok());
  ASSERT_TRUE(writer.Finish().ok());
  const auto read = ReadBytes(compressed);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ((*read)[i].SerializeAsString(), items[i].SerializeAsString()) << i;
  }
  SnapshotItem huge;
  huge.mutable_extension_payload()->set_payload(std::string(kMaxItemBytes, 'p'));
  EXPECT_FALSE(writer.Add(huge).ok());
}

TEST_F(SnapshotDirTest, ReadsTheArchiveLayout) {
  const fs::path archive = Archive();
  absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(archive.string());
  ASSERT_TRUE(dir.ok()) << dir.status();
  EXPECT_EQ(dir->metadata().height(), 10u);
  EXPECT_TRUE(dir->has_hashes());
  const auto items = ReadDir(archive);
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_GT(items->size(), 100u);
}

TEST_F(SnapshotDirTest, ReadsSmallChunksOfANode) {
  const fs::path chunks = dir_ / "snapshots" / "10" / "3";
  for (int i = 0; i < 5; ++i) {
    WriteFile(chunks / absl::StrCat(i), ReadFile(kFixtures + absl::StrCat("small_chunk_0", i)));
  }
  WriteFile(dir_ / "snapshots" / "9" / "3" / "0", "older");
  const size_t expected = ReadBytes(ReadFile(kFixtures + "chunk_0"))->size();
  for (const fs::path& path : {chunks, chunks.parent_path(), dir_ / "snapshots"}) {
    absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(path.string());
    ASSERT_TRUE(dir.ok()) << dir.status();
    EXPECT_EQ(dir->metadata().height(), 10u);
    EXPECT_EQ(dir->metadata().chunks(), 5u);
    EXPECT_FALSE(dir->has_hashes());
    const auto items = ReadDir(path);
    ASSERT_TRUE(items.ok()) << items.status();
    EXPECT_EQ(items->size(), expected);
  }
}

// The node's own record of its snapshots.
TEST_F(SnapshotDirTest, ReadsTheHashesOfANode) {
  const fs::path snapshots = dir_ / "snapshots";
  const fs::path chunk = snapshots / "10" / "3" / "0";
  WriteFile(chunk, ReadFile(kFixtures + "chunk_0"));
  const auto put = [&](const std::string& key, const std::string& value) {
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB* db = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, (snapshots / "metadata.db").string(), &db).ok());
    EXPECT_TRUE(db->Put({}, key, value).ok());
    delete db;
  };
  const auto open = [&] {
    return std::string(SnapshotDir::Open(snapshots.string()).status().message());
  };
  const std::string key("\1\0\0\0\0\0\0\0\x0a\0\0\0\3", 13);
  put("something else", "");
  EXPECT_THAT(open(), HasSubstr("has not finished it"));
  put(key, "\x0a\x05");
  EXPECT_THAT(open(), HasSubstr("bad record"));
  put(key, Metadata());
  absl::StatusOr<SnapshotDir> dir = SnapshotDir::Open(snapshots.string());
  ASSERT_TRUE(dir.ok()) << dir.status();
  EXPECT_TRUE(dir->has_hashes());
  EXPECT_TRUE(ReadDir(snapshots).ok());
  std::string bytes = ReadFile(chunk);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  WriteFile(chunk, bytes);
  EXPECT_THAT(std::string(ReadDir(snapshots).status().message()),
              HasSubstr("chunk 0 has the SHA-256"));
  // A node on another kind of database: nothing to compare with.
  fs::remove_all(snapshots / "metadata.db");
  ASSERT_TRUE(RocksDbEngine::Open((snapshots / "metadata.db").string(), {}).ok());
  dir = SnapshotDir::Open(snapshots.string());
  ASSERT_TRUE(dir.ok()) << dir.status();
  EXPECT_FALSE(dir->has_hashes());
}

TEST_F(SnapshotDirTest, NamesTheChunkWithAWrongHash) {
  const fs::path archive = Archive();
  std::string chunk = ReadFile(archive / "0");
  chunk[chunk.size() / 2] = static_cast<char>(chunk[chunk.size() / 2] ^ 1);
  WriteFile(archive / "0", chunk);
  const auto items = ReadDir(archive);
  EXPECT_EQ(items.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(items.status().message()),
              HasSubstr("archive/0: chunk 0 has the SHA-256"));
}

TEST_F(SnapshotDirTest, ChecksTheHashOfTheWhole) {
  const fs::path archive = Archive();
  Snapshot metadata;
  ASSERT_TRUE(metadata.ParseFromString(Metadata()));
  metadata.set_hash(std::string(32, 'x'));
  WriteFile(archive / "_snapshot", metadata.SerializeAsString());
  EXPECT_THAT(std::string(ReadDir(archive).status().message()), HasSubstr("all chunks together"));
}

TEST_F(SnapshotDirTest, RefusesMetadataThatDoesNotFit) {
  const fs::path archive = Archive();
  Snapshot real;
  ASSERT_TRUE(real.ParseFromString(Metadata()));
  const auto open = [&](auto&& change) {
    Snapshot metadata = real;
    change(&metadata);
    WriteFile(archive / "_snapshot", metadata.SerializeAsString());
    return std::string(SnapshotDir::Open(archive.string()).status().message());
  };
  EXPECT_EQ(open([](Snapshot*) {}), "");
  EXPECT_THAT(open([](Snapshot* s) { s->set_format(2); }), HasSubstr("format 2; only format 3"));
  EXPECT_THAT(open([](Snapshot* s) { s->set_height(0); }), HasSubstr("height 0"));
  EXPECT_THAT(open([](Snapshot* s) { s->set_chunks(0); }), HasSubstr("without chunks"));
  EXPECT_THAT(open([](Snapshot* s) { s->set_chunks(4'000'000'000); }), HasSubstr("hashes of 1"));
  EXPECT_THAT(open([](Snapshot* s) { s->set_hash("short"); }), HasSubstr("32 bytes"));
  EXPECT_THAT(open([](Snapshot* s) {
                s->set_chunks(2);
                s->mutable_metadata()->add_chunk_hashes(std::string(32, 'x'));
              }),
              HasSubstr("chunk 1 of 2 is missing"));
  WriteFile(archive / "_snapshot", Metadata());
  WriteFile(archive / "1", "x");
  EXPECT_THAT(std::string(SnapshotDir::Open(archive.string()).status().message()),
              HasSubstr("does not have"));
  WriteFile(archive / "_snapshot", "\x0a\x05");
  EXPECT_THAT(std::string(SnapshotDir::Open(archive.string()).status().message()),
              HasSubstr("not a Snapshot message"));
  EXPECT_EQ(SnapshotDir::Open((dir_ / "none").string()).status().code(),
            absl::StatusCode::kNotFound);
  fs::create_directories(dir_ / "bare");
  EXPECT_EQ(SnapshotDir::Open((dir_ / "bare").string()).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(SnapshotDirTest, WritesWhatItReads) {
  // Values that do not compress, so that there is more than one chunk.
  uint64_t state = 1;
  const auto noise = [&](size_t size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<char>(state >> 56);
    }
    return bytes;
  };
  const fs::path path = dir_ / "new";
  absl::StatusOr<std::unique_ptr<SnapshotDirWriter>> writer =
      SnapshotDirWriter::Create(path.string(), 77);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<std::string> written;
  for (int i = 0; i < 23; ++i) {
    SnapshotItem item;
    item.mutable_iavl()->set_key(absl::StrCat("key", i));
    item.mutable_iavl()->set_value(noise(1'000'000));
    item.mutable_iavl()->set_version(i);
    written.push_back(item.SerializeAsString());
    ASSERT_TRUE((*writer)->Add(item).ok());
  }
  EXPECT_FALSE(fs::exists(path));
  const absl::StatusOr<Snapshot> metadata = (*writer)->Finish();
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_EQ(metadata->chunks(), 3u);
  EXPECT_EQ(metadata->height(), 77u);
  EXPECT_EQ(fs::file_size(path / "0"), 10'000'000u);
  EXPECT_EQ(fs::file_size(path / "1"), 10'000'000u);
  EXPECT_FALSE(fs::exists(path.string() + ".partial"));
  const auto read = ReadDir(path);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) EXPECT_EQ((*read)[i].SerializeAsString(), written[i]);

  EXPECT_EQ(SnapshotDirWriter::Create(path.string(), 1).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(SnapshotDirTest, AnUnfinishedSnapshotIsRemoved) {
  const fs::path path = dir_ / "new";
  {
    absl::StatusOr<std::unique_ptr<SnapshotDirWriter>> writer =
        SnapshotDirWriter::Create(path.string(), 77);
    ASSERT_TRUE(writer.ok());
    SnapshotItem item;
    item.mutable_store()->set_name("acc");
    ASSERT_TRUE((*writer)->Add(item).ok());
  }
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace blockreplay::storage::snapshot
