#include "keeper/thorchain/common/semver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/ip_address.h"

namespace blockreplay::keeper::thorchain {
namespace {

SemVer Version(std::string_view text) {
  const std::optional<SemVer> version = SemVer::Parse(text);
  EXPECT_TRUE(version.has_value()) << text;
  return version.value_or(SemVer());
}

// The examples of precedence in Semantic Versioning 2.0.0, point 11.
TEST(SemVerTest, OrdersAsTheStandardSays) {
  constexpr std::array<std::string_view, 11> kAscending{
      "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
      "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
      "1.0.0-rc.1",  "1.0.0",         "2.0.0",
      "2.1.0",       "2.1.1"};
  for (size_t a = 0; a < kAscending.size(); ++a) {
    for (size_t b = 0; b < kAscending.size(); ++b) {
      EXPECT_EQ(Version(kAscending[a]) <=> Version(kAscending[b]), a <=> b)
          << kAscending[a] << " and " << kAscending[b];
    }
  }
}

TEST(SemVerTest, LeavesTheBuildOutOfTheOrder) {
  EXPECT_EQ(Version("1.0.0+a"), Version("1.0.0+b"));
  EXPECT_EQ(Version("1.0.0-rc.1+b.7").ToString(), "1.0.0-rc.1+b.7");
}

TEST(SemVerTest, RefusesWhatIsNoVersion) {
  for (const std::string_view text :
       {"", "1", "1.2", "1.2.3.4", "01.2.3", "1.02.3", "1.2.03", "v1.2.3", "1.2.x", "-1.2.3",
        "1.2.3-", "1.2.3+", "1.2.3-a..b", "1.2.3-01", "1.2.3-a_b", " 1.2.3", "1.2.3 ",
        "18446744073709551616.0.0"}) {
    EXPECT_FALSE(SemVer::Parse(text).has_value()) << text;
    EXPECT_TRUE(SemVer::ParseOrZero(text).IsZero()) << text;
  }
  EXPECT_EQ(Version("18446744073709551615.0.0").major_number, UINT64_MAX);
}

TEST(IpAddressTest, TakesWhatGoTakes) {
  for (const char* text :
       {"1.2.3.4", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::68", "::ffff:192.0.2.1"}) {
    EXPECT_TRUE(IsIpAddress(text)) << text;
  }
  for (const char* text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4 ",
                           "fe80::1%lo", ":::", "1.2.3.4/8", "localhost"}) {
    EXPECT_FALSE(IsIpAddress(text)) << text;
  }
  EXPECT_FALSE(IsIpAddress(std::string("1.2.3.4\0", 8)));
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
