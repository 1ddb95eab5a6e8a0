#include "replay/recording/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "replay/recording/sha256.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFixtures = BLOCKREPLAY_FIXTURES;

json ValidDocument() { return json::parse(ReadBytes(kFixtures + "/thor-churn/manifest.json")); }

std::string MessageFor(const std::function<void(json*)>& edit) {
  json document = ValidDocument();
  edit(&document);
  const absl::StatusOr<Manifest> manifest = ParseManifest(document.dump(), "m.json");
  EXPECT_FALSE(manifest.ok());
  return std::string(manifest.status().message());
}

TEST(Manifest, ReadsEveryRecordingOfTheFixtures) {
  int recordings = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFixtures)) {
    if (entry.path().filename() != "manifest.json") continue;
    const std::string dir = entry.path().parent_path().string();
    const absl::StatusOr<Manifest> manifest = LoadManifest(dir);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    EXPECT_TRUE(VerifyFiles(dir, *manifest).ok());
    ++recordings;
  }
  EXPECT_GE(recordings, 100);
}

TEST(Manifest, HasTheFieldsOfTheDocument) {
  const absl::StatusOr<Manifest> manifest = LoadManifest(kFixtures + "/thor-churn");
  ASSERT_TRUE(manifest.ok());
  EXPECT_EQ(manifest->chain_id, "thorchain-1");
  EXPECT_EQ(manifest->application_name, "thornode");
  EXPECT_EQ(manifest->application_version, "3.17.0");
  EXPECT_EQ(manifest->first_height, 51);
  EXPECT_EQ(manifest->last_height, 610);
  EXPECT_EQ(manifest->blocks(), 560);
  EXPECT_EQ(manifest->base->height, 50);
  EXPECT_EQ(manifest->stores.size(), 12u);
  EXPECT_THAT(manifest->StreamFiles("blocks"), ElementsAre("blocks.zst"));
  EXPECT_EQ(json::parse(ManifestToJson(*manifest)), ValidDocument());
}

TEST(Manifest, DigestIsOfTheSortedLines) {
  Manifest manifest;
  manifest.files = {{"b", 1, "22"}, {"a b", 1, "11"}, {"a", 2, "00"}};
  EXPECT_EQ(RecordingDigest(manifest), HexOf(Sha256Of("a 00\na b 11\nb 22\n")));
}

TEST(Manifest, EveryRequiredFieldIsMissed) {
  for (const char* field : {"format", "chain_id", "application", "first_height", "last_height",
                            "blocks", "stores", "final_app_hash", "files"}) {
    EXPECT_THAT(MessageFor([&](json* d) { d->erase(field); }),
                HasSubstr("m.json: field \"" + std::string(field) + "\" must be"))
        << field;
  }
  EXPECT_THAT(MessageFor([](json* d) { (*d)["application"].erase("version"); }),
              HasSubstr("\"application.version\""));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["files"][2].erase("sha256"); }),
              HasSubstr("\"files[2].sha256\""));
  EXPECT_THAT(MessageFor([](json* d) { d->erase("base_app_hash"); }),
              HasSubstr("\"base_app_hash\""));
  EXPECT_THAT(MessageFor([](json* d) { d->erase("base_height"); }), HasSubstr("\"base_height\""));
}

TEST(Manifest, ValuesThatDoNotFitAreNamed) {
  EXPECT_THAT(MessageFor([](json* d) { (*d)["format"] = "blockreplay.v2"; }),
              HasSubstr("\"format\""));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["blocks"] = 559; }), HasSubstr("\"blocks\" is 559"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["first_height"] = 611; }), HasSubstr("below"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["first_height"] = -1; }), HasSubstr("first_height"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["first_height"] = 51.5; }), HasSubstr("first_height"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["last_height"] = uint64_t{1} << 63; }),
              HasSubstr("last_height"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["base_height"] = 49; }), HasSubstr("one below"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["final_app_hash"] = std::string(64, 'A'); }),
              HasSubstr("lower-case hex"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["final_app_hash"] = std::string(62, 'a'); }),
              HasSubstr("32 bytes"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["stores"].push_back("acc"); }),
              HasSubstr("\"stores\""));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["files"][0]["size"] = -1; }), HasSubstr("size"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["files"][0]["name"] = "x.zst"; }),
              HasSubstr("blocks.zst"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["files"][1] = (*d)["files"][0]; }), HasSubstr("once"));
  for (const char* name : {"../x", "/etc/passwd", "a/../../b", "a//b", "./a", "a\nb"}) {
    EXPECT_THAT(MessageFor([&](json* d) { (*d)["files"][1]["name"] = name; }),
                HasSubstr("a path inside the recording"))
        << name;
  }
}

TEST(Manifest, BaseAndSnapshotBelongTogether) {
  EXPECT_THAT(MessageFor([](json* d) {
                d->erase("base_height");
                d->erase("base_app_hash");
              }),
              HasSubstr("a snapshot is listed"));
  EXPECT_THAT(MessageFor([](json* d) { (*d)["files"].erase(4); }), HasSubstr("snapshot/_snapshot"));
}

TEST(Manifest, PartsAreOrderedByHeight) {
  json document = ValidDocument();
  json file = document["files"][0];
  for (const char* name : {"blocks-51.zst", "blocks-100.zst", "blocks-99.zst"}) {
    file["name"] = name;
    document["files"].push_back(file);
  }
  EXPECT_THAT(std::string(ParseManifest(document.dump(), "m.json").status().message()),
              HasSubstr("both blocks.zst and parts"));
  document["files"].erase(0);
  const absl::StatusOr<Manifest> manifest = ParseManifest(document.dump(), "m.json");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_THAT(manifest->StreamFiles("blocks"),
              ElementsAre("blocks-51.zst", "blocks-99.zst", "blocks-100.zst"));
}

TEST(Manifest, WhatIsNoJsonIsRefused) {
  for (const std::string text : {"", "{", "[]", "3", "{\"format\":\"blockreplay.v1\"", "\xff\xfe",
                                 "{\"format\":\"\xff\"}"}) {
    EXPECT_FALSE(ParseManifest(text, "m.json").ok()) << text;
  }
  const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  EXPECT_FALSE(ParseManifest(deep, "m.json").ok());
}

TEST(Manifest, FilesThatDifferAreNamed) {
  TemporaryDir dir;
  const std::string copy = dir.Path("copy");
  CopyRecording(kFixtures + "/regression/noop-noop", copy);
  const absl::StatusOr<Manifest> manifest = LoadManifest(copy);
  ASSERT_TRUE(manifest.ok());
  ASSERT_TRUE(VerifyFiles(copy, *manifest).ok());

  std::string bytes = ReadBytes(copy + "/phases.zst");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteBytes(copy + "/phases.zst", bytes);
  EXPECT_THAT(std::string(VerifyFiles(copy, *manifest).message()),
              HasSubstr("phases.zst has SHA-256"));
  bytes.pop_back();
  WriteBytes(copy + "/phases.zst", bytes);
  EXPECT_THAT(std::string(VerifyFiles(copy, *manifest).message()), HasSubstr("phases.zst has"));
  std::filesystem::remove(copy + "/phases.zst");
  EXPECT_THAT(std::string(VerifyFiles(copy, *manifest).message()), HasSubstr("phases.zst"));
}

TEST(Manifest, AFolderWithoutOneIsExplained) {
  TemporaryDir dir;
  EXPECT_THAT(std::string(LoadManifest(dir.Path("nothing")).status().message()),
              HasSubstr("a recording is a folder with a manifest.json"));
}

}  // namespace
}  // namespace blockreplay::replay
