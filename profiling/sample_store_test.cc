#include "profiling/sample_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace blockreplay::profiling {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<uintptr_t> kRead{0x10, 0x20};
const std::vector<uintptr_t> kWrite{0x11, 0x20};

void Add(SampleStore& store, const std::vector<uintptr_t>& stack, int64_t height, double count,
         LabelId phase = kNoLabel) {
  LabelValues labels;
  labels.ids[static_cast<int>(LabelKey::kPhase)] = phase;
  labels.height = height;
  store.Add(store.Intern(stack, labels), count, count * 10);
}

// (leaf, phase, height, count, amount), sorted.
using Row = std::tuple<uintptr_t, LabelId, int64_t, double, double>;
std::vector<Row> Rows(const std::vector<SampleSum>& sums) {
  std::vector<Row> rows;
  for (const SampleSum& sum : sums) {
    rows.emplace_back(sum.stack[0], sum.labels.ids[static_cast<int>(LabelKey::kPhase)],
                      sum.labels.height, sum.count, sum.amount);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(SampleStoreTest, SumsByStackLabelsAndBucket) {
  SampleStore store(/*height_bucket=*/100);
  Add(store, kRead, 105, 1);
  Add(store, kRead, 199, 2);
  Add(store, kRead, 200, 4);
  Add(store, kRead, 105, 8, InternLabel("hash"));
  Add(store, kWrite, 0, 16);
  EXPECT_THAT(
      Rows(store.Total()),
      ElementsAre(Row(0x10, kNoLabel, 100, 3, 30), Row(0x10, kNoLabel, 200, 4, 40),
                  Row(0x10, InternLabel("hash"), 100, 8, 80), Row(0x11, kNoLabel, 0, 16, 160)));
}

TEST(SampleStoreTest, NoBucketMeansNoHeights) {
  SampleStore store(/*height_bucket=*/0);
  Add(store, kRead, 105, 1);
  Add(store, kRead, 7, 1);
  EXPECT_THAT(Rows(store.Total()), ElementsAre(Row(0x10, kNoLabel, 0, 2, 20)));
}

TEST(SampleStoreTest, IntervalsBetweenMarks) {
  SampleStore store(/*height_bucket=*/100);
  Add(store, kRead, 1, 1);
  const uint64_t first = store.Mark();
  Add(store, kRead, 2, 2);
  const uint64_t second = store.Mark();
  Add(store, kRead, 2, 4);
  Add(store, kWrite, 13, 8);

  EXPECT_THAT(Rows(store.Between(first, second, 1)), ElementsAre(Row(0x10, kNoLabel, 2, 2, 20)));
  EXPECT_THAT(Rows(store.Between(second, store.Position(), 1)),
              ElementsAre(Row(0x10, kNoLabel, 2, 4, 40), Row(0x11, kNoLabel, 13, 8, 80)));
  EXPECT_THAT(Rows(store.Between(first, store.Position(), 10)),
              ElementsAre(Row(0x10, kNoLabel, 0, 6, 60), Row(0x11, kNoLabel, 10, 8, 80)));
  EXPECT_THAT(store.Between(first, first, 1), IsEmpty());

  // An older mark going away leaves the younger one whole, and marks don't change totals.
  store.ReleaseMark(first);
  EXPECT_THAT(Rows(store.Between(second, store.Position(), 1)),
              ElementsAre(Row(0x10, kNoLabel, 2, 4, 40), Row(0x11, kNoLabel, 13, 8, 80)));
  store.ReleaseMark(second);
  EXPECT_THAT(Rows(store.Total()),
              ElementsAre(Row(0x10, kNoLabel, 0, 7, 70), Row(0x11, kNoLabel, 0, 8, 80)));
}

TEST(SampleStoreDeathTest, IntervalsNeedTheirMark) {
  SampleStore store(0);
  const uint64_t mark = store.Mark();
  Add(store, kRead, 0, 1);
  store.ReleaseMark(mark);
  EXPECT_DEATH(store.Between(mark, store.Position(), 0), "kept from 1 on");
  EXPECT_DEATH(store.ReleaseMark(mark), "released twice");
}

}  // namespace
}  // namespace blockreplay::profiling
