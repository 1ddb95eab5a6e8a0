#include "replay/record/base_choice.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Of the state after block 100.
constexpr char kSnapshot[] = BLOCKREPLAY_FIXTURES "/thor-2000/snapshot";

class BaseChoiceTest : public testing::Test {
 protected:
  // A folder as nodes keep it, with states of these heights (what is in them is not looked at).
  std::string NodeSnapshots(const std::vector<int64_t>& heights) const {
    const std::string dir = temporary_.Path("snapshots");
    for (const int64_t height : heights) {
      const std::string chunks = absl::StrCat(dir, "/", height, "/3");
      fs::create_directories(chunks);
      for (const char* chunk : {"/0", "/1"})
        fs::copy_file(absl::StrCat(kSnapshot, chunk), chunks + chunk);
    }
    return dir;
  }
  TemporaryDir temporary_;
};

TEST_F(BaseChoiceTest, TakesTheSnapshotThatFits) {
  const auto choice = ChooseBase({{57, 300}}, {.snapshots = kSnapshot});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->base->height(), 100);
  EXPECT_EQ(choice->range, (StreamRange{101, 300}));
}

TEST_F(BaseChoiceTest, TakesTheOneThatMakesTheLongestRecording) {
  const std::string snapshots = NodeSnapshots({10, 50, 75, 120, 400});
  const std::vector<StreamRange> ranges = {{45, 60}, {70, 299}, {301, 330}};
  EXPECT_EQ(ChooseBase(ranges, {.snapshots = snapshots})->range, (StreamRange{76, 299}));
  EXPECT_EQ(ChooseBase(ranges, {.snapshots = snapshots, .from = 121})->range,
            (StreamRange{121, 299}));
  EXPECT_EQ(ChooseBase(ranges, {.snapshots = snapshots, .to = 80})->range, (StreamRange{51, 60}));
}

TEST_F(BaseChoiceTest, NeedsNoneFromGenesis) {
  const auto choice = ChooseBase({{1, 300}}, {.snapshots = kSnapshot, .genesis_height = 1});
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->base, nullptr);
  EXPECT_EQ(choice->range, (StreamRange{1, 300}));
  EXPECT_FALSE(ChooseBase({{2, 300}}, {.genesis_height = 1}).ok());
}

TEST_F(BaseChoiceTest, SaysWhatIsMissing) {
  const absl::Status status = ChooseBase({{57, 99}, {103, 300}}, {.snapshots = kSnapshot}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  for (const char* part :
       {"57 to 99, 103 to 300", "the states of 100", "snapshot-interval", "--genesis"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
  EXPECT_THAT(ChooseBase({}, {}).status().message(), HasSubstr("no block"));
  EXPECT_THAT(ChooseBase({{1, 9}}, {.from = 10}).status().message(), HasSubstr("1 to 9"));
}

TEST_F(BaseChoiceTest, SaysWhySnapshotsAreOfNoUse) {
  const std::string snapshots = NodeSnapshots({20, 30});
  fs::remove(snapshots + "/20/3/0");
  EXPECT_EQ(ChooseBase({{15, 99}}, {.snapshots = snapshots})->range, (StreamRange{31, 99}));
  EXPECT_THAT(ChooseBase({{15, 29}}, {.snapshots = snapshots}).status().message(),
              HasSubstr("not usable"));
  EXPECT_FALSE(ChooseBase({{15, 29}}, {.snapshots = temporary_.Path("nothing")}).ok());
}

}  // namespace
}  // namespace blockreplay::replay
