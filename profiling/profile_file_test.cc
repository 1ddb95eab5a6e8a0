#include "profiling/profile_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;
using ::testing::HasSubstr;

// One sample of every kind of thing.
Profile Valid() {
  Profile profile;
  for (const char* text :
       {"", "cpu", "nanoseconds", "main", "main.cc", "/bin/x", "phase", "hash"}) {
    profile.add_string_table(text);
  }
  auto* type = profile.add_sample_type();
  type->set_type(1);
  type->set_unit(2);
  profile.mutable_period_type()->set_type(1);
  profile.mutable_period_type()->set_unit(2);
  profile.set_default_sample_type(1);
  profile.set_period(10);
  profile.add_comment(3);
  auto* mapping = profile.add_mapping();
  mapping->set_id(1);
  mapping->set_memory_start(0x1000);
  mapping->set_memory_limit(0x2000);
  mapping->set_filename(5);
  auto* function = profile.add_function();
  function->set_id(1);
  function->set_name(3);
  function->set_system_name(3);
  function->set_filename(4);
  auto* location = profile.add_location();
  location->set_id(1);
  location->set_mapping_id(1);
  location->set_address(0x1234);
  auto* line = location->add_line();
  line->set_function_id(1);
  line->set_line(7);
  auto* sample = profile.add_sample();
  sample->add_location_id(1);
  sample->add_value(10);
  auto* label = sample->add_label();
  label->set_key(6);
  label->set_str(7);
  return profile;
}

class ProfileFileTest : public ::testing::Test {
 protected:
  ProfileFileTest() {
    std::string path = ::testing::TempDir() + "/profile_file_test_XXXXXX";
    directory_ = mkdtemp(path.data());
  }
  ~ProfileFileTest() override { std::filesystem::remove_all(directory_); }

  size_t FilesInDirectory() const {
    size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory_)) {
      ++files;
    }
    return files;
  }

  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_;
};

TEST_F(ProfileFileTest, AcceptsAValidProfile) {
  EXPECT_TRUE(CheckProfile(Valid()).ok()) << CheckProfile(Valid());
}

TEST_F(ProfileFileTest, RefusesEachBrokenRule) {
  const std::vector<std::pair<std::string, std::function<void(Profile&)>>> kBreaks = {
      {"string_table", [](Profile& p) { p.set_string_table(0, "x"); }},
      {"string_table", [](Profile& p) { p.clear_string_table(); }},
      {"no sample types", [](Profile& p) { p.clear_sample_type(); }},
      {"sample type's string", [](Profile& p) { p.mutable_sample_type(0)->set_type(99); }},
      {"sample type's string", [](Profile& p) { p.mutable_sample_type(0)->set_unit(-1); }},
      {"period type's string", [](Profile& p) { p.mutable_period_type()->set_unit(99); }},
      {"string 99", [](Profile& p) { p.set_drop_frames(99); }},
      {"comment's string", [](Profile& p) { p.add_comment(99); }},
      {"mapping with id 0", [](Profile& p) { p.mutable_mapping(0)->set_id(0); }},
      {"two mappings", [](Profile& p) { *p.add_mapping() = p.mapping(0); }},
      {"string of mapping", [](Profile& p) { p.mutable_mapping(0)->set_build_id(99); }},
      {"function with id 0", [](Profile& p) { p.mutable_function(0)->set_id(0); }},
      {"two functions", [](Profile& p) { *p.add_function() = p.function(0); }},
      {"string of function", [](Profile& p) { p.mutable_function(0)->set_name(99); }},
      {"location with id 0", [](Profile& p) { p.mutable_location(0)->set_id(0); }},
      {"two locations", [](Profile& p) { *p.add_location() = p.location(0); }},
      {"in mapping 9", [](Profile& p) { p.mutable_location(0)->set_mapping_id(9); }},
      {"outside of its mapping", [](Profile& p) { p.mutable_location(0)->set_address(0x2000); }},
      {"in function 9",
       [](Profile& p) { p.mutable_location(0)->mutable_line(0)->set_function_id(9); }},
      {"2 values for 1", [](Profile& p) { p.mutable_sample(0)->add_value(1); }},
      {"at location 9", [](Profile& p) { p.mutable_sample(0)->add_location_id(9); }},
      {"label's string", [](Profile& p) { p.mutable_sample(0)->mutable_label(0)->set_str(99); }},
      {"without a key", [](Profile& p) { p.mutable_sample(0)->mutable_label(0)->set_key(0); }},
      {"a string and a number",
       [](Profile& p) { p.mutable_sample(0)->mutable_label(0)->set_num(1); }},
  };
  for (const auto& [message, break_it] : kBreaks) {
    Profile profile = Valid();
    break_it(profile);
    EXPECT_THAT(std::string(CheckProfile(profile).message()), HasSubstr(message));
  }
}

TEST_F(ProfileFileTest, ReadsBackWhatItWrote) {
  const std::string path = directory_ + "/cpu.pb.gz";
  ASSERT_TRUE(WriteProfile(Valid(), path).ok());
  EXPECT_TRUE(Content(path).starts_with("\x1f\x8b"));
  const auto profile = ReadProfile(path);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->SerializeAsString(), Valid().SerializeAsString());
  // Not gzipped is as good.
  const auto plain = DecodeProfile(Valid().SerializeAsString());
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(FilesInDirectory(), 1u);
}

TEST_F(ProfileFileTest, RefusesDamagedFiles) {
  const std::string whole = *EncodeProfile(Valid());
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeProfile(whole.substr(0, size)).ok()) << size;
  }
  // From behind the gzip header, which has fields without meaning, everything is under the checksum
  // or is it.
  for (size_t i = 10; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    EXPECT_FALSE(DecodeProfile(flipped).ok()) << i;
  }
}

TEST_F(ProfileFileTest, RefusesMoreThanTheLimit) {
  Profile profile = Valid();
  profile.add_string_table(std::string(1 << 20, 'x'));
  const std::string bytes = *EncodeProfile(profile);
  ASSERT_LT(bytes.size(), 10'000u);
  EXPECT_EQ(DecodeProfile(bytes, 100'000).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ProfileFileTest, DoesNotWriteAnInvalidProfile) {
  Profile profile = Valid();
  profile.mutable_sample(0)->add_location_id(9);
  const std::string path = directory_ + "/cpu.pb.gz";
  EXPECT_FALSE(WriteProfile(profile, path).ok());
  EXPECT_EQ(FilesInDirectory(), 0u);
}

TEST_F(ProfileFileTest, ReplacesAFileOrLeavesItAlone) {
  const std::string path = directory_ + "/file";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(Content(path), "new");
  EXPECT_EQ(FilesInDirectory(), 1u);

  // A link stays a link.
  const std::string link = directory_ + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteFileAtomically(link, "through").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Content(path), "through");
}

TEST_F(ProfileFileTest, SaysPathAndReason) {
  const std::string missing = directory_ + "/missing/cpu.pb.gz";
  const absl::Status status = WriteFileAtomically(missing, "x");
  EXPECT_THAT(std::string(status.message()), HasSubstr(missing));
  EXPECT_THAT(std::string(status.message()), HasSubstr("No such file or directory"));

  // The directory is where the file should go.
  EXPECT_FALSE(WriteFileAtomically(directory_, "x").ok());
  EXPECT_TRUE(std::filesystem::is_directory(directory_));
  EXPECT_EQ(FilesInDirectory(), 0u);

  const auto unread = ReadProfile(missing);
  EXPECT_THAT(std::string(unread.status().message()), HasSubstr(missing));
}

TEST_F(ProfileFileTest, WritesIntoDevicesAndReportsFullOnes) {
  EXPECT_TRUE(WriteFileAtomically("/dev/null", "x").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const absl::Status full = WriteFileAtomically("/dev/full", "x");
  EXPECT_THAT(std::string(full.message()), HasSubstr("No space left on device"));
  EXPECT_THAT(std::string(full.message()), HasSubstr("/dev/full"));
}

}  // namespace
}  // namespace blockreplay::profiling
