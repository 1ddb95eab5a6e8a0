#include "profiling/profile_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "profiling/profile_file.h"
#include "profiling/test_profile.h"

namespace blockreplay::profiling {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

ProfileView ViewOf(TestProfile& profile) {
  EXPECT_TRUE(CheckProfile(profile.profile()).ok()) << CheckProfile(profile.profile());
  return *ProfileView::Create(profile.profile());
}

ProfileRow Row(const std::string& name, int64_t flat, int64_t cumulative) {
  return {name, flat, cumulative};
}

TestProfile Sample() {
  TestProfile profile;
  profile.Add({"sha", "hash", "main"}, {1, 10}, {{"phase", "hash"}, {"store", "bank"}})
      .Add({"sha+hash", "main"}, {2, 20}, {{"phase", "hash"}, {"store", "acc"}})
      .Add({"main"}, {4, 40}, {{"phase", "commit"}})
      .Add({"main", "walk", "walk", "main"}, {8, 80});
  return profile;
}

TEST(ProfileViewTest, StacksAreRootFirstWithInlinedCalls) {
  TestProfile profile = Sample();
  const ProfileView view = ViewOf(profile);
  const auto names = [&](size_t sample) {
    std::vector<std::string> result;
    for (const uint32_t id : view.samples()[sample].stack) result.push_back(view.functions()[id]);
    return result;
  };
  EXPECT_THAT(names(0), ElementsAre("main", "hash", "sha"));
  EXPECT_THAT(names(1), ElementsAre("main", "hash", "sha"));
  EXPECT_THAT(view.LabelKeys(), ElementsAre("phase", "store"));
  EXPECT_EQ(view.LabelOf(view.samples()[1], "store"), "acc");
  EXPECT_EQ(view.LabelOf(view.samples()[3], "store"), "");
}

TEST(ProfileViewTest, SumsByFunctionCountRecursionOnce) {
  TestProfile profile = Sample();
  EXPECT_THAT(SumByFunction(ViewOf(profile), 1),
              ElementsAre(Row("main", 120, 150), Row("sha", 30, 30), Row("walk", 0, 80),
                          Row("hash", 0, 30)));
}

TEST(ProfileViewTest, SumsByOneLabelAndBySeveral) {
  TestProfile profile = Sample();
  const ProfileView view = ViewOf(profile);
  EXPECT_THAT(SumByLabels(view, 0, {"phase"}),
              ElementsAre(Row("(none)", 8, 8), Row("commit", 4, 4), Row("hash", 3, 3)));
  EXPECT_THAT(SumByLabels(view, 0, {"phase", "store"}),
              ElementsAre(Row("(none) / (none)", 8, 8), Row("commit / (none)", 4, 4),
                          Row("hash / acc", 2, 2), Row("hash / bank", 1, 1)));
  EXPECT_EQ(Total(view, 1), 150);
}

TEST(ProfileViewTest, KeepsWhatHasALabel) {
  TestProfile profile = Sample();
  ProfileView view = ViewOf(profile);
  view.Keep("phase", "hash");
  EXPECT_EQ(Total(view, 1), 30);
  view.Keep("store", "");
  EXPECT_EQ(Total(view, 1), 0);
}

TEST(ProfileViewTest, SetsALabelInPlaceOfWhatThereIs) {
  TestProfile profile = Sample();
  ProfileView view = ViewOf(profile);
  view.SetLabel("phase", [&](const ProfileView::Sample& sample) -> std::string {
    return view.LabelOf(sample, "phase") == "hash" ? "" : "other";
  });
  EXPECT_THAT(SumByLabels(view, 0, {"phase", "store"}),
              ElementsAre(Row("other / (none)", 12, 12), Row("(none) / acc", 2, 2),
                          Row("(none) / bank", 1, 1)));
}

TEST(ProfileViewTest, NumericLabelsHaveTheirUnit) {
  TestProfile profile;
  profile.Add({"main"}, {1, 10});
  auto* bytes = profile.profile().mutable_sample(0)->add_label();
  bytes->set_key(profile.String("bytes"));
  bytes->set_num(64);
  bytes->set_num_unit(profile.String("bytes"));
  auto* size = profile.profile().mutable_sample(0)->add_label();
  size->set_key(profile.String("request"));
  size->set_num(3);
  size->set_num_unit(profile.String("kilobytes"));
  const ProfileView view = ViewOf(profile);
  EXPECT_EQ(view.LabelOf(view.samples()[0], "bytes"), "64");
  EXPECT_EQ(view.LabelOf(view.samples()[0], "request"), "3 kilobytes");
}

TEST(ProfileViewTest, TypesByNameOrDefault) {
  TestProfile profile;
  ProfileView view = ViewOf(profile);
  EXPECT_EQ(*view.TypeNamed(""), 1u);  // the last, as pprof does
  EXPECT_EQ(*view.TypeNamed("samples"), 0u);
  EXPECT_THAT(std::string(view.TypeNamed("heap").status().message()),
              HasSubstr("no sample type heap: there are samples, cpu"));
  profile.profile().set_default_sample_type(profile.String("samples"));
  EXPECT_EQ(*ViewOf(profile).TypeNamed(""), 0u);
}

TEST(ProfileViewTest, CodeWithoutNamesIsItsFiles) {
  TestProfile profile;
  profile.Add({"?", "main"}, {1, 10});
  EXPECT_THAT(SumByFunction(ViewOf(profile), 1),
              ElementsAre(Row("[program]", 10, 10), Row("main", 0, 10)));
}

TEST(ProfileViewTest, DropsFramesTheProfileDoesNotWant) {
  TestProfile profile;
  profile.Add({"malloc_slow", "operator new(unsigned long)", "work", "main"}, {1, 10})
      .Add({"operator newly", "main"}, {1, 1})
      // What is at the root stays, or nothing would be left.
      .Add({"work", "operator new(unsigned long)"}, {1, 5});
  profile.profile().set_drop_frames(profile.String("operator new|malloc.*"));
  EXPECT_THAT(FoldedStacks(ViewOf(profile), 1, {}),
              "main;operator newly 1\nmain;work 10\noperator new(unsigned long);work 5\n");
  profile.profile().set_keep_frames(profile.String("operator new"));
  EXPECT_THAT(FoldedStacks(ViewOf(profile), 1, {}),
              HasSubstr("main;work;operator new(unsigned long) 10\n"));
  // An expression that is none drops nothing.
  profile.profile().set_drop_frames(profile.String("("));
  EXPECT_THAT(FoldedStacks(ViewOf(profile), 1, {}),
              HasSubstr("main;work;operator new(unsigned long);malloc_slow 10\n"));
}

TEST(ProfileViewTest, FoldsStacksUnderLabels) {
  TestProfile profile = Sample();
  EXPECT_EQ(FoldedStacks(ViewOf(profile), 1, {"phase"}),
            "(none);main;walk;walk;main 80\n"
            "commit;main 40\n"
            "hash;main;hash;sha 30\n");
  TestProfile odd;
  odd.Add({"a;b\nc"}, {1, 2}).Add({}, {1, 3}).Add({"zero"}, {1, 0});
  EXPECT_EQ(FoldedStacks(ViewOf(odd), 1, {}), "[unknown] 3\na:b c 2\n");
}

TEST(ProfileViewTest, DiffPutsTheLargestChangeFirst) {
  const auto rows = DiffRows({Row("same", 5, 9), Row("gone", 7, 7), Row("caller", 0, 20)},
                             {Row("same", 5, 9), Row("new", 30, 30), Row("caller", 0, 21)});
  std::vector<std::string> names;
  for (const ProfileDiffRow& row : rows) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("new", "gone", "caller", "same"));
  EXPECT_EQ(rows[0].before.flat, 0);
  EXPECT_EQ(rows[0].after.flat, 30);
  EXPECT_EQ(rows[1].before.flat, 7);
}

TEST(ProfileViewTest, SumsStayInRange) {
  TestProfile profile;
  profile.Add({"main"}, {1, kMax}).Add({"main"}, {1, kMax});
  const ProfileView view = ViewOf(profile);
  EXPECT_EQ(Total(view, 1), kMax);
  EXPECT_THAT(SumByFunction(view, 1), ElementsAre(Row("main", kMax, kMax)));
  EXPECT_EQ(SaturatingAdd(-kMax, -kMax), std::numeric_limits<int64_t>::min());
}

TEST(ProfileViewTest, RefusesStacksThatOnlyClaimToBeLarge) {
  TestProfile profile;
  for (int i = 0; i < 100; ++i) profile.Add({"a", "b", "c"}, {1, 1});
  EXPECT_TRUE(ProfileView::Create(profile.profile(), 300).ok());
  EXPECT_EQ(ProfileView::Create(profile.profile(), 299).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ProfileViewTest, FormatsValues) {
  EXPECT_EQ(FormatValue(1'234'567'890, "nanoseconds"), "1.23s");
  EXPECT_EQ(FormatValue(-45'600'000, "nanoseconds"), "-45.6ms");
  EXPECT_EQ(FormatValue(512, "bytes"), "512B");
  EXPECT_EQ(FormatValue(45'600'000, "bytes"), "45.6MB");
  EXPECT_EQ(FormatValue(0, "bytes"), "0");
  EXPECT_EQ(FormatValue(1'000'000, "count"), "1000000");
  EXPECT_EQ(FormatValue(7, "ticks"), "7 ticks");
}

}  // namespace
}  // namespace blockreplay::profiling
