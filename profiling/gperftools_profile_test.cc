#include "profiling/gperftools_profile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace blockreplay::profiling {
namespace {

std::string Words(const std::vector<uint64_t>& words) {
  std::string bytes(words.size() * sizeof(uint64_t), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(GperftoolsProfileTest, ReadsRecords) {
  const auto profile = ParseGperftoolsProfile(
      Words({0, 3, 0, 10000, 0, /**/ 5, 3, 0x400, 0x500, 0x600, /**/ 1, 1, 0x700, /**/ 0, 1, 0}) +
      "00400000-00500000 r-xp 00000000 08:01 1 /bin/x\n");
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->period_nanos, 10'000'000);
  ASSERT_EQ(profile->records.size(), 2u);
  EXPECT_EQ(profile->records[0].count, 5u);
  // The leaf is where it was, callers are where they called.
  EXPECT_EQ(profile->records[0].stack, (std::vector<uintptr_t>{0x400, 0x4ff, 0x5ff}));
  EXPECT_EQ(profile->records[1].count, 1u);
  EXPECT_EQ(profile->records[1].stack, (std::vector<uintptr_t>{0x700}));
}

TEST(GperftoolsProfileTest, RefusesWhatIsNone) {
  EXPECT_FALSE(ParseGperftoolsProfile("").ok());
  EXPECT_FALSE(ParseGperftoolsProfile("MAPPED_LIBRARIES: whatever, text").ok());
  EXPECT_FALSE(ParseGperftoolsProfile(Words({0, 3, 1, 10000, 0, 0, 1, 0})).ok());
  EXPECT_FALSE(ParseGperftoolsProfile(Words({0, 3, 0, 0, 0, 0, 1, 0})).ok());
  EXPECT_FALSE(ParseGperftoolsProfile(Words({0, 3, 0, ~uint64_t{0}, 0, 0, 1, 0})).ok());
}

TEST(GperftoolsProfileTest, RefusesTruncatedAndLyingRecords) {
  const std::string whole =
      Words({0, 3, 0, 10000, 0, /**/ 5, 3, 0x400, 0x500, 0x600, /**/ 1, 1, 0x700, /**/ 0, 1, 0});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseGperftoolsProfile(whole.substr(0, size)).ok()) << size;
  }
  for (const uint64_t depth : {uint64_t{0}, uint64_t{5}, uint64_t{1} << 61, ~uint64_t{0}}) {
    EXPECT_FALSE(ParseGperftoolsProfile(Words({0, 3, 0, 10000, 0, 5, depth, 0x400, 0, 1, 0})).ok())
        << depth;
  }
}

}  // namespace
}  // namespace blockreplay::profiling
