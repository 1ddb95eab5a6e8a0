#include "profiling/profile_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiling/profile_file.h"
#include "profiling/profile_view.h"
#include "profiling/test_profile.h"
#include "profiling/test_util.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Profile Merged(const std::vector<Profile>& profiles) {
  auto merged = MergeProfiles(profiles);
  EXPECT_TRUE(merged.ok()) << merged.status();
  EXPECT_TRUE(CheckProfile(*merged).ok()) << CheckProfile(*merged);
  return *std::move(merged);
}

TEST(ProfileMergeTest, EqualSamplesAddUp) {
  TestProfile a;
  a.Add({"leaf", "main"}, {1, 10}, {{"phase", "hash"}}).Add({"main"}, {2, 20});
  TestProfile b;
  b.Add({"main"}, {4, 40}).Add({"leaf", "main"}, {8, 80}, {{"phase", "hash"}});
  b.Add({"leaf", "main"}, {16, 160}, {{"phase", "commit"}});
  const Profile merged = Merged({a.profile(), b.profile()});
  EXPECT_EQ(merged.sample_size(), 3);
  EXPECT_EQ(merged.function_size(), 2);
  EXPECT_EQ(merged.mapping_size(), 1);
  EXPECT_EQ(FoldedStacks(*ProfileView::Create(merged), 1, {"phase"}),
            "(none);main 60\ncommit;main;leaf 160\nhash;main;leaf 90\n");
}

TEST(ProfileMergeTest, OtherLoadAddressesAreTheSamePlaces) {
  TestProfile a;
  a.Add({"leaf", "main"}, {1, 10});
  TestProfile::Options elsewhere;
  elsewhere.load_address = 0x7f0000000000;
  TestProfile b(elsewhere);
  b.Add({"leaf", "main"}, {2, 20});
  Profile merged = Merged({a.profile(), b.profile()});
  EXPECT_EQ(merged.sample_size(), 1);
  EXPECT_EQ(merged.location_size(), 2);

  elsewhere.build_id = "another";
  TestProfile c(elsewhere);
  c.Add({"leaf", "main"}, {4, 40});
  merged = Merged({a.profile(), c.profile()});
  EXPECT_EQ(merged.sample_size(), 2);
  EXPECT_EQ(merged.mapping_size(), 2);
  EXPECT_EQ(Sum(merged, 1), 50);
}

TEST(ProfileMergeTest, HeadersAreJoined) {
  TestProfile a;
  a.profile().set_time_nanos(2000);
  a.profile().set_duration_nanos(5);
  a.profile().set_period(10);
  a.profile().add_comment(a.String("both"));
  TestProfile b;
  b.profile().set_time_nanos(1000);
  b.profile().set_duration_nanos(7);
  b.profile().set_default_sample_type(b.String("samples"));
  b.profile().add_comment(b.String("second"));
  b.profile().add_comment(b.String("both"));
  const Profile merged = Merged({a.profile(), b.profile()});
  EXPECT_EQ(merged.time_nanos(), 1000);
  EXPECT_EQ(merged.duration_nanos(), 12);
  EXPECT_EQ(merged.period(), 10);
  EXPECT_EQ(StringOf(merged, merged.default_sample_type()), "samples");
  std::vector<std::string> comments;
  for (const int64_t comment : merged.comment()) comments.push_back(StringOf(merged, comment));
  EXPECT_THAT(comments, ElementsAre("both", "second"));
}

TEST(ProfileMergeTest, WhatCancelsOutIsLeftOut) {
  TestProfile a;
  a.Add({"main"}, {1, 10}).Add({"leaf"}, {1, 1});
  TestProfile b;
  b.Add({"main"}, {-1, -10});
  EXPECT_EQ(Merged({a.profile(), b.profile()}).sample_size(), 1);
}

TEST(ProfileMergeTest, OneProfileStaysWhatItIs) {
  TestProfile a;
  a.Add({"leaf+main", "?"}, {1, 10}, {{"phase", "hash"}});
  const Profile merged = Merged({a.profile()});
  EXPECT_EQ(FoldedStacks(*ProfileView::Create(merged), 1, {"phase"}),
            FoldedStacks(*ProfileView::Create(a.profile()), 1, {"phase"}));
}

TEST(ProfileMergeTest, RefusesDifferentThings) {
  TestProfile cpu;
  TestProfile::Options heap_options;
  heap_options.types = {{"inuse_objects", "count"}, {"inuse_space", "bytes"}};
  TestProfile heap(heap_options);
  const auto merged =
      MergeProfiles(std::vector<Profile>{cpu.profile(), cpu.profile(), heap.profile()});
  EXPECT_EQ(merged.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(merged.status().message()),
      HasSubstr("samples/count cpu/nanoseconds, period /; number 3 has inuse_objects/count"));
  EXPECT_FALSE(MergeProfiles({}).ok());
}

}  // namespace
}  // namespace blockreplay::profiling
