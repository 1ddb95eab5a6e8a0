// Whatever is switched off, each phase answers the same and is compared with what the real node
// did.

#include "keeper/optimisations.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "keeper/sdk/str_cat.h"
#include "replay/native/memory_verify.h"

namespace blockreplay::replay {
namespace {

// Whole answers of phases, as text. Writes are compared with the recorded ones by the verifier.
class Answers : public keeper::PhaseObserver {
 public:
  void OnStart(keeper::PhaseKind, int index, const std::string& name) override {
    answers_.push_back(keeper::sdk::StrCat(name, " ", index));
  }
  void OnFinish(keeper::PhaseKind, int, const keeper::PhaseResult* result) override {
    std::string& answer = answers_.back();
    if (result == nullptr) return;
    keeper::sdk::StrAppend(&answer, " ", result->codespace, "/", result->code, " gas ",
                           result->gas_wanted, " ", result->gas_used, " data ", result->data,
                           " log ", result->log);
    for (const keeper::sdk::Event& event : result->events) {
      keeper::sdk::StrAppend(&answer, "\n", event.type);
      for (const keeper::sdk::Attribute& attribute : event.attributes) {
        keeper::sdk::StrAppend(&answer, " ", attribute.key, "=", attribute.value);
      }
    }
  }
  const std::vector<std::string>& answers() const { return answers_; }

 private:
  std::vector<std::string> answers_;
};

struct Outcome {
  std::vector<std::string> answers;
  std::string table;
  std::string differences;
};

// Blocks of the recording with a small validator set up to and beyond its first churn: keygen,
// rotation, migrations, bonds, leaving nodes.
Outcome RunWithout(keeper::OptimisationSet set) {
  keeper::SwitchOff(set);
  Answers answers;
  MemoryVerifyOptions options;
  options.to = 250;
  options.verifier.keep_differences = SIZE_MAX;
  options.verifier.observer = &answers;
  const absl::StatusOr<keeper::Coverage> coverage =
      MemoryVerify(BLOCKREPLAY_FIXTURES "/thor-churn", options);
  keeper::SwitchOff({});
  EXPECT_TRUE(coverage.ok()) << coverage.status();
  if (!coverage.ok()) return {};
  return {answers.answers(), coverage->TableToString(), coverage->DifferencesToString()};
}

class OptimisationTest : public ::testing::TestWithParam<size_t> {};

TEST_P(OptimisationTest, ChangesNothing) {
  static const Outcome with_all = RunWithout({});
  ASSERT_GT(with_all.answers.size(), 1000U);
  const Outcome without = RunWithout({static_cast<keeper::Optimisation>(GetParam())});
  EXPECT_EQ(without.differences, with_all.differences);
  EXPECT_EQ(without.table, with_all.table);
  ASSERT_EQ(without.answers.size(), with_all.answers.size());
  for (size_t i = 0; i < with_all.answers.size(); ++i) {
    ASSERT_EQ(without.answers[i], with_all.answers[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimisationTest,
                         ::testing::Range(size_t{0}, keeper::kOptimisationNames.size()),
                         [](const ::testing::TestParamInfo<size_t>& tested) {
                           std::string name(keeper::kOptimisationNames[tested.param]);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(OptimisationsTest, NothingIsChangedByAllOfThem) {
  keeper::OptimisationSet all;
  for (size_t i = 0; i < keeper::kOptimisationNames.size(); ++i) {
    all.Add(static_cast<keeper::Optimisation>(i));
  }
  const Outcome with_all = RunWithout({});
  const Outcome without = RunWithout(all);
  EXPECT_EQ(without.differences, with_all.differences);
  EXPECT_EQ(without.answers, with_all.answers);
}

}  // namespace
}  // namespace blockreplay::replay
