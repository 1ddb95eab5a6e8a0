#include "replay/import/disk_space.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint64_t kMib = uint64_t{1} << 20;

DiskNeed Need(uint64_t recording, uint64_t scratch) {
  return {{recording * kMib, 2 * recording * kMib}, {scratch * kMib, 2 * scratch * kMib}};
}
DiskPlaces Places(uint64_t recording, uint64_t scratch, bool same_disk) {
  return {"rec", "/tmp", recording * kMib, scratch * kMib, same_disk};
}

TEST(DiskSpace, IsEnoughWhereEachPlaceHasWhatIsLikely) {
  EXPECT_EQ(CheckDiskSpace(Need(10, 30), Places(20, 60, false)).value(), "");
  EXPECT_EQ(CheckDiskSpace(Need(10, 30), Places(80, 80, true)).value(), "");
}

TEST(DiskSpace, IsRefusedWhereThereIsNotTheLeast) {
  const auto message = [](const DiskPlaces& places) {
    const auto checked = CheckDiskSpace(Need(10, 30), places);
    EXPECT_TRUE(absl::IsResourceExhausted(checked.status())) << checked.status();
    return std::string(checked.status().message());
  };
  EXPECT_THAT(message(Places(9, 1000, false)),
              AllOf(HasSubstr("the recording needs at least 10 MiB"),
                    HasSubstr("disk of rec has 9 MiB free"), HasSubstr("another --out")));
  EXPECT_THAT(message(Places(1000, 29, false)),
              AllOf(HasSubstr("database needs at least 30 MiB"),
                    HasSubstr("disk of /tmp has 29 MiB free"), HasSubstr("TMPDIR")));
  EXPECT_THAT(message(Places(39, 39, true)),
              AllOf(HasSubstr("need at least 40 MiB"), HasSubstr("has 39 MiB free")));
}

TEST(DiskSpace, IsWarnedOfWhereThereIsLessThanIsLikely) {
  EXPECT_THAT(CheckDiskSpace(Need(10, 30), Places(19, 60, false)).value(),
              HasSubstr("the recording needs about 20 MiB"));
  EXPECT_THAT(CheckDiskSpace(Need(10, 30), Places(20, 59, false)).value(),
              HasSubstr("database needs about 60 MiB"));
  EXPECT_THAT(CheckDiskSpace(Need(10, 30), Places(79, 79, true)).value(),
              HasSubstr("need about 80 MiB"));
}

TEST(DiskSpace, KnowsWhichPlacesShareADisk) {
  const TemporaryDir dir;
  const auto here = FindDiskPlaces(dir.Path("no/such/folder/yet"));
  ASSERT_TRUE(here.ok()) << here.status();
  EXPECT_TRUE(here->same_disk);
  EXPECT_GT(here->recording_free, 0u);
  const auto other = FindDiskPlaces("/proc/self");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_FALSE(other->same_disk);
}

}  // namespace
}  // namespace blockreplay::replay
