#include "replay/recording/checktx_log.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/recording/test_recording.h"

namespace blockreplay::replay {
namespace {

using ::testing::HasSubstr;

constexpr char kLine[] =
    R"({"block":2,"error":"","gas_used":7,"gas_wanted":9,"kind":"check","log":"","state_height":1,"tx":3})";

class CheckTxLogTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<RecordedCheck>> Read(const std::string& text) {
    WriteBytes(folder_.Path(kCheckTxFile), Compressed(text));
    Manifest manifest;
    manifest.files.push_back({kCheckTxFile, 0, ""});
    absl::StatusOr<std::unique_ptr<CheckTxLog>> log = CheckTxLog::Open(folder_.Path("."), manifest);
    if (!log.ok()) return log.status();
    std::vector<RecordedCheck> checks;
    RecordedCheck check;
    while (true) {
      const absl::StatusOr<bool> more = (*log)->Next(&check);
      if (!more.ok()) return more.status();
      if (!*more) return checks;
      checks.push_back(check);
    }
  }
  std::string ErrorOf(const std::string& text) {
    return std::string(Read(text).status().message());
  }
  // kLine with one thing replaced.
  static std::string With(const std::string& what, const std::string& replacement) {
    std::string line = kLine;
    line.replace(line.find(what), what.size(), replacement);
    return line;
  }

  TemporaryDir folder_;
};

TEST_F(CheckTxLogTest, ReadsEveryLineWithOrWithoutALastLineEnd) {
  const std::string second = With("\"check\"", "\"recheck\"");
  for (const char* end : {"", "\n"}) {
    const auto checks = Read(std::string(kLine) + "\n" + second + end);
    ASSERT_TRUE(checks.ok()) << checks.status();
    ASSERT_EQ(checks->size(), 2u);
    EXPECT_FALSE(checks->at(0).recheck);
    EXPECT_TRUE(checks->at(1).recheck);
    EXPECT_EQ(checks->at(0).state_height, 1);
    EXPECT_EQ(checks->at(0).block, 2);
    EXPECT_EQ(checks->at(0).tx, 3);
    EXPECT_EQ(checks->at(0).gas_used, 7);
    EXPECT_EQ(checks->at(0).gas_wanted, 9);
  }
}

TEST_F(CheckTxLogTest, ReadsLinesThatAreLongerThanABuffer) {
  const std::string line = With("\"log\":\"\"", "\"log\":\"" + std::string(600'000, 'x') + "\"");
  const auto checks = Read(line + "\n" + line + "\n");
  ASSERT_TRUE(checks.ok()) << checks.status();
  EXPECT_EQ(checks->size(), 2u);
  EXPECT_THAT(ErrorOf(std::string(5'000'000, ' ')), HasSubstr("longer than"));
}

TEST_F(CheckTxLogTest, RefusesWhatItCannotBe) {
  const std::string first = std::string(kLine) + "\n";
  EXPECT_THAT(ErrorOf(first + "nonsense\n"), HasSubstr("line 2: it is no JSON object"));
  EXPECT_THAT(ErrorOf(first + "[]\n"), HasSubstr("line 2: it is no JSON object"));
  EXPECT_THAT(ErrorOf(first + "\n" + first), HasSubstr("line 2"));
  for (const char* name :
       {"block", "error", "gas_used", "gas_wanted", "kind", "state_height", "tx"})
    EXPECT_THAT(ErrorOf(With(std::string("\"") + name + "\"", "\"other\"")), HasSubstr("it needs"));
  EXPECT_THAT(ErrorOf(With(":7", ":18446744073709551615")), HasSubstr("it needs"));
  EXPECT_THAT(ErrorOf(With("\"check\"", "\"deliver\"")), HasSubstr("kind is"));
  EXPECT_THAT(ErrorOf(With("\"tx\":3", "\"tx\":-1")), HasSubstr("tx is out of range"));
  EXPECT_THAT(ErrorOf(With("\"block\":2", "\"block\":1")), HasSubstr("block 1 is not among"));
  EXPECT_THAT(ErrorOf(With("\"block\":2", "\"block\":9223372036854775807")),
              HasSubstr("is not among"));
  EXPECT_THAT(ErrorOf(first + With("\"state_height\":1", "\"state_height\":0")),
              HasSubstr("state_height 0 comes after 1"));
}

TEST_F(CheckTxLogTest, ARecordingNeedNotHaveOne) {
  EXPECT_TRUE(absl::IsNotFound(CheckTxLog::Open(folder_.Path("."), Manifest()).status()));
}

}  // namespace
}  // namespace blockreplay::replay
