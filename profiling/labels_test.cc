#include "profiling/labels.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace blockreplay::profiling {
namespace {

LabelId Current(LabelKey key) { return CurrentLabels().ids[static_cast<int>(key)]; }

TEST(LabelsTest, EqualValuesHaveEqualIds) {
  const LabelId hash = InternLabel("hash");
  EXPECT_EQ(InternLabel(std::string("ha") + "sh"), hash);
  EXPECT_NE(InternLabel("commit"), hash);
  EXPECT_EQ(LabelValue(hash), "hash");
  EXPECT_EQ(InternLabel(""), kNoLabel);
  EXPECT_EQ(LabelValue(kNoLabel), "");
}

TEST(LabelsTest, ScopesNestAndRestore) {
  const LabelId outer = InternLabel("outer");
  const LabelId inner = InternLabel("inner");
  const LabelId bank = InternLabel("bank");
  EXPECT_EQ(CurrentLabels(), LabelValues{});
  {
    ScopedLabel phase(LabelKey::kPhase, outer);
    ScopedLabel store(LabelKey::kStore, bank);
    ScopedHeight height(7);
    {
      ScopedLabel nested(LabelKey::kPhase, inner);
      ScopedHeight next(8);
      EXPECT_EQ(Current(LabelKey::kPhase), inner);
      EXPECT_EQ(Current(LabelKey::kStore), bank);
      EXPECT_EQ(CurrentLabels().height, 8);
    }
    EXPECT_EQ(Current(LabelKey::kPhase), outer);
    EXPECT_EQ(CurrentLabels().height, 7);
  }
  EXPECT_EQ(CurrentLabels(), LabelValues{});
}

TEST(LabelsTest, WorkersTakeLabelsOverButKeepTheirRole) {
  const LabelId phase = InternLabel("deliver_tx");
  LabelValues handed_over;
  {
    ScopedLabel scope(LabelKey::kPhase, phase);
    ScopedLabel role(LabelKey::kThreadRole, InternLabel("main"));
    ScopedHeight height(42);
    handed_over = CurrentLabels();
  }
  std::thread worker([&] {
    SetThreadRole("worker");
    {
      ScopedLabels scope(handed_over);
      EXPECT_EQ(Current(LabelKey::kPhase), phase);
      EXPECT_EQ(CurrentLabels().height, 42);
      EXPECT_EQ(LabelValue(Current(LabelKey::kThreadRole)), "worker");
    }
    EXPECT_EQ(Current(LabelKey::kPhase), kNoLabel);
    EXPECT_EQ(CurrentLabels().height, 0);
    EXPECT_EQ(LabelValue(Current(LabelKey::kThreadRole)), "worker");
  });
  worker.join();
}

TEST(LabelsTest, ThreadsInternTheSameValuesAtOnce) {
  std::vector<std::vector<LabelId>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 200; ++i) mine.push_back(InternLabel("concurrent" + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
}

TEST(LabelsTest, RolesOfThreads) {
  EXPECT_EQ(ThreadRoleOf("blockreplay", true), "main");
  EXPECT_EQ(ThreadRoleOf("rocksdb:low", false), "compaction");
  EXPECT_EQ(ThreadRoleOf("rocksdb:low1", false), "compaction");
  EXPECT_EQ(ThreadRoleOf("rocksdb:bottom", false), "compaction");
  EXPECT_EQ(ThreadRoleOf("rocksdb:high", false), "flush");
  EXPECT_EQ(ThreadRoleOf("hash-3", false), "hash");
  EXPECT_EQ(ThreadRoleOf("worker_12", false), "worker");
  EXPECT_EQ(ThreadRoleOf("17", false), "17");
  EXPECT_EQ(ThreadRoleOf("", false), "");
}

}  // namespace
}  // namespace blockreplay::profiling
