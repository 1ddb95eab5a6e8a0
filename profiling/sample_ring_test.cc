#include "profiling/sample_ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace blockreplay::profiling {
namespace {

struct Popped {
  SampleHead head;
  std::vector<uintptr_t> stack;
};

bool Pop(SampleRing& ring, Popped* popped) {
  uintptr_t stack[kMaxStackDepth];
  size_t depth = 0;
  if (!ring.Pop(&popped->head, stack, &depth)) return false;
  popped->stack.assign(stack, stack + depth);
  return true;
}

SampleHead HeadWith(uint32_t count) {
  SampleHead head;
  head.source = count % 2 == 0 ? SampleSource::kCpu : SampleSource::kWall;
  head.count = count;
  head.nanos = int64_t{count} * 10'000'000;
  head.labels.ids[0] = count + 1;
  head.labels.ids[3] = 0xffffffff;
  head.labels.height = 24'000'000'000 + count;
  return head;
}

TEST(SampleRingTest, GivesBackWhatWasPut) {
  const auto ring = std::make_unique<SampleRing>();
  Popped popped;
  EXPECT_FALSE(Pop(*ring, &popped));
  // Many times round.
  for (uint32_t i = 0; i < 5000; ++i) {
    std::vector<uintptr_t> stack(i % (kMaxStackDepth + 1), 0x7f0000000000 + i);
    ASSERT_TRUE(ring->Push(HeadWith(i), stack));
    ASSERT_TRUE(Pop(*ring, &popped));
    EXPECT_EQ(popped.stack, stack);
    EXPECT_EQ(popped.head.source, HeadWith(i).source);
    EXPECT_EQ(popped.head.count, i);
    EXPECT_EQ(popped.head.nanos, HeadWith(i).nanos);
    EXPECT_EQ(popped.head.labels, HeadWith(i).labels);
  }
  EXPECT_FALSE(Pop(*ring, &popped));
}

TEST(SampleRingTest, RefusesWhenFullAndKeepsWhatItHas) {
  const auto ring = std::make_unique<SampleRing>();
  const std::vector<uintptr_t> stack(100, 1);
  uint32_t put = 0;
  while (ring->Push(HeadWith(put), stack)) ++put;
  EXPECT_GT(put, 50u);
  EXPECT_FALSE(ring->Push(HeadWith(put), stack));
  Popped popped;
  for (uint32_t i = 0; i < put; ++i) {
    ASSERT_TRUE(Pop(*ring, &popped));
    EXPECT_EQ(popped.head.count, i);
  }
  EXPECT_FALSE(Pop(*ring, &popped));
  EXPECT_TRUE(ring->Push(HeadWith(put), stack));
}

TEST(SampleRingTest, ReaderAndWriterAtOnce) {
  const auto ring = std::make_unique<SampleRing>();
  constexpr uint32_t kSamples = 20'000;
  std::thread writer([&] {
    for (uint32_t i = 0; i < kSamples;) {
      if (ring->Push(HeadWith(i), std::vector<uintptr_t>(i % 40, i))) ++i;
    }
  });
  for (uint32_t i = 0; i < kSamples;) {
    Popped popped;
    if (!Pop(*ring, &popped)) continue;
    ASSERT_EQ(popped.head.count, i);
    ASSERT_EQ(popped.stack, std::vector<uintptr_t>(i % 40, i));
    ++i;
  }
  writer.join();
}

}  // namespace
}  // namespace blockreplay::profiling
