#include "profiling/profile_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiling/profile_file.h"
#include "profiling/test_util.h"

namespace blockreplay::profiling {

// Two functions of our own, to have addresses that can be symbolised.
__attribute__((noinline)) int BuilderLeaf(int value) { return value * 3; }
__attribute__((noinline)) int BuilderRoot(int value) { return BuilderLeaf(value) + 1; }

namespace {

using perftools::profiles::Profile;
using ::testing::ElementsAre;

class ProfileBuilderTest : public ::testing::Test {
 protected:
  ProfileBuilderTest() : symbolizer_(*Symbolizer::ForThisProcess()) {}

  ProfileBuilder CpuBuilder() {
    return ProfileBuilder(symbolizer_.get(), {{"samples", "count"}, {"cpu", "nanoseconds"}}, "cpu",
                          {"cpu", "nanoseconds"}, 10'000'000);
  }

  std::unique_ptr<Symbolizer> symbolizer_;
  const uintptr_t leaf_ = reinterpret_cast<uintptr_t>(&BuilderLeaf) + 1;
  const uintptr_t root_ = reinterpret_cast<uintptr_t>(&BuilderRoot) + 1;
};

LabelValues Labels(const char* phase, int64_t height) {
  LabelValues labels;
  labels.ids[static_cast<int>(LabelKey::kPhase)] = InternLabel(phase);
  labels.height = height;
  return labels;
}

TEST_F(ProfileBuilderTest, WritesWhatPprofWants) {
  ProfileBuilder builder = CpuBuilder();
  builder.AddSample({leaf_, root_}, Labels("hash", 1200), {2, 20'000'000});
  builder.SetTime(1'700'000'000'000'000'000, 5'000'000'000);
  builder.SetDropFrames("malloc");
  builder.AddComment("recording 12ab");
  builder.AddComment("blocks 1 to 2");
  const Profile profile = builder.Build();

  ASSERT_TRUE(CheckProfile(profile).ok()) << CheckProfile(profile);
  ASSERT_EQ(profile.sample_type_size(), 2);
  EXPECT_EQ(StringOf(profile, profile.sample_type(0).type()), "samples");
  EXPECT_EQ(StringOf(profile, profile.sample_type(0).unit()), "count");
  EXPECT_EQ(StringOf(profile, profile.sample_type(1).type()), "cpu");
  EXPECT_EQ(StringOf(profile, profile.sample_type(1).unit()), "nanoseconds");
  EXPECT_EQ(StringOf(profile, profile.default_sample_type()), "cpu");
  EXPECT_EQ(StringOf(profile, profile.period_type().type()), "cpu");
  EXPECT_EQ(StringOf(profile, profile.period_type().unit()), "nanoseconds");
  EXPECT_EQ(profile.period(), 10'000'000);
  EXPECT_EQ(profile.time_nanos(), 1'700'000'000'000'000'000);
  EXPECT_EQ(profile.duration_nanos(), 5'000'000'000);
  EXPECT_EQ(StringOf(profile, profile.drop_frames()), "malloc");
  ASSERT_EQ(profile.comment_size(), 2);
  EXPECT_EQ(StringOf(profile, profile.comment(0)), "recording 12ab");

  // The main binary, with everything said.
  ASSERT_EQ(profile.mapping_size(), 1);
  EXPECT_TRUE(profile.mapping(0).has_functions());
  EXPECT_TRUE(profile.mapping(0).has_filenames());
  EXPECT_TRUE(profile.mapping(0).has_line_numbers());
  EXPECT_TRUE(profile.mapping(0).has_inline_frames());
  EXPECT_EQ(StringOf(profile, profile.mapping(0).build_id()).size(), 40u);

  ASSERT_EQ(profile.sample_size(), 1);
  const auto& sample = profile.sample(0);
  EXPECT_THAT(sample.value(), ElementsAre(2, 20'000'000));
  ASSERT_EQ(sample.location_id_size(), 2);
  const auto& location = profile.location(static_cast<int>(sample.location_id(0)) - 1);
  EXPECT_EQ(location.address(), leaf_);
  ASSERT_EQ(location.line_size(), 1);
  const auto& function = profile.function(static_cast<int>(location.line(0).function_id()) - 1);
  EXPECT_EQ(StringOf(profile, function.name()), "blockreplay::profiling::BuilderLeaf(int)");
  EXPECT_EQ(StringOf(profile, function.system_name()), "_ZN11blockreplay9profiling11BuilderLeafEi");
  EXPECT_GT(function.start_line(), 0);
  EXPECT_EQ(location.line(0).line(), function.start_line());

  ASSERT_EQ(sample.label_size(), 2);
  EXPECT_EQ(StringOf(profile, sample.label(0).key()), "phase");
  EXPECT_EQ(StringOf(profile, sample.label(0).str()), "hash");
  EXPECT_EQ(StringOf(profile, sample.label(1).key()), "height");
  EXPECT_EQ(sample.label(1).num(), 1200);
  EXPECT_EQ(StringOf(profile, sample.label(1).num_unit()), "height");
}

TEST_F(ProfileBuilderTest, MergesEqualSamplesOnly) {
  ProfileBuilder builder = CpuBuilder();
  builder.AddSample({leaf_, root_}, Labels("hash", 0), {1, 10});
  builder.AddSample({leaf_, root_}, Labels("hash", 0), {2, 20});
  builder.AddSample({leaf_, root_}, Labels("commit", 0), {4, 40});
  builder.AddSample({leaf_, root_}, Labels("hash", 100), {8, 80});
  builder.AddSample({root_}, Labels("hash", 0), {16, 160});
  const Profile profile = builder.Build();
  ASSERT_TRUE(CheckProfile(profile).ok()) << CheckProfile(profile);
  std::vector<int64_t> counts;
  for (const auto& sample : profile.sample()) counts.push_back(sample.value(0));
  EXPECT_THAT(counts, ::testing::UnorderedElementsAre(3, 4, 8, 16));
  EXPECT_EQ(profile.location_size(), 2);
  EXPECT_EQ(profile.function_size(), 2);
}

TEST_F(ProfileBuilderTest, RoundsOnceAfterMerging) {
  ProfileBuilder builder = CpuBuilder();
  for (int i = 0; i < 10; ++i) builder.AddSample({leaf_}, {}, {0.25, 0.3});
  builder.AddSample({root_}, {}, {0.2, 0.4});
  const Profile profile = builder.Build();
  ASSERT_EQ(profile.sample_size(), 1);
  EXPECT_THAT(profile.sample(0).value(), ElementsAre(3, 3));
}

TEST_F(ProfileBuilderTest, KeepsAddressesThatNothingIsKnownOf) {
  ProfileBuilder builder = CpuBuilder();
  builder.AddSample({0x10, root_}, {}, {1, 10});
  const Profile profile = builder.Build();
  ASSERT_TRUE(CheckProfile(profile).ok()) << CheckProfile(profile);
  EXPECT_EQ(profile.location(0).mapping_id(), 0u);
  EXPECT_EQ(profile.location(0).address(), 0x10u);
  EXPECT_EQ(profile.location(0).line_size(), 0);
}

TEST_F(ProfileBuilderTest, SameSamplesSameBytes) {
  const auto build = [this](bool reversed) {
    ProfileBuilder builder = CpuBuilder();
    std::vector<std::pair<std::vector<uintptr_t>, LabelValues>> samples;
    for (int i = 0; i < 50; ++i) {
      samples.push_back({{leaf_, root_}, Labels(i % 2 == 0 ? "hash" : "commit", i)});
    }
    // Addresses are met in the same order either way.
    if (reversed) std::reverse(samples.begin(), samples.end());
    for (const auto& [stack, labels] : samples) builder.AddSample(stack, labels, {1, 10});
    return builder.Build().SerializeAsString();
  };
  EXPECT_EQ(build(false), build(true));
}

TEST_F(ProfileBuilderTest, EmptyProfilesAreValid) {
  const Profile profile = CpuBuilder().Build();
  EXPECT_TRUE(CheckProfile(profile).ok()) << CheckProfile(profile);
  EXPECT_EQ(profile.sample_size(), 0);
  EXPECT_EQ(profile.mapping_size(), 1);
}

}  // namespace
}  // namespace blockreplay::profiling
