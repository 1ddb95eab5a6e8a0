#include "profiling/process_stats.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "profiling/labels.h"
#include "profiling/test_util.h"
#include "profiling/thread_clock.h"

namespace blockreplay::profiling {
namespace {

TEST(ProcessStatsTest, ProcessUsageGrowsWithWork) {
  const ProcessUsage before = GetProcessUsage();
  UseCpu(50'000'000);
  const ProcessUsage after = GetProcessUsage();
  // getrusage counts in ticks on some kernels.
  EXPECT_GE(after.cpu_nanos() - before.cpu_nanos(), 30'000'000);
  EXPECT_GT(after.peak_rss_bytes, 1 << 20);
}

TEST(ProcessStatsTest, MemoryIsSeen) {
  const MemoryUsage before = GetMemoryUsage();
  EXPECT_GT(before.rss_bytes, 1 << 20);
  EXPECT_GE(before.peak_rss_bytes, before.rss_bytes / 2);
  EXPECT_GT(before.virtual_bytes, before.rss_bytes);
  EXPECT_GT(before.page_table_bytes, 0);
  EXPECT_GT(before.mappings, 10);
  constexpr size_t kSize = 64 << 20;
  const std::vector<char> memory(kSize, 1);
  // Or the compiler leaves it out.
  asm volatile("" : : "r"(memory.data()) : "memory");
  EXPECT_GE(CurrentRssBytes(), static_cast<int64_t>(kSize));
  EXPECT_GE(GetMemoryUsage().peak_rss_bytes, before.rss_bytes + static_cast<int64_t>(kSize) / 2);
}

TEST(ProcessStatsTest, HostIsDescribed) {
  const HostInfo host = GetHostInfo();
  EXPECT_GT(host.cores_online, 0);
  EXPECT_GT(host.cores_allowed, 0);
  EXPECT_LE(host.cores_allowed, host.cores_online);
  EXPECT_TRUE(host.kernel.starts_with("Linux ")) << host.kernel;
  EXPECT_GT(host.memory_bytes, 1 << 20);
  const auto load = GetLoadAverage();
  ASSERT_TRUE(load.has_value());
  EXPECT_GE(load->one_minute, 0);
  const auto cpu = GetMachineCpu();
  ASSERT_TRUE(cpu.has_value());
  EXPECT_GT(cpu->total_nanos, 0);
  EXPECT_GE(cpu->total_nanos, cpu->idle_nanos + cpu->steal_nanos);
}

TEST(ProcessStatsTest, ThreadClocksByRole) {
  std::thread worker([] {
    SetThreadRole("worker-1");
    UseCpu(20'000'000);
    EXPECT_GE(ThreadCpuNanosByRole()["worker"], 20'000'000);
  });
  worker.join();
  int64_t total = 0;
  {
    ScopedThreadCpu scope(&total);
    UseCpu(10'000'000);
  }
  EXPECT_GE(total, 10'000'000);
  EXPECT_GE(ThreadCpuNanosByRole()["main"], total);
}

TEST(ProcessStatsTest, AllocationsAreCountedExactly) {
  const auto before = GetAllocationTotals();
  if (!before.has_value()) GTEST_SKIP() << "not linked with profiling_allocator";
  EXPECT_TRUE(AllocatorName().starts_with("tcmalloc")) << AllocatorName();
  EXPECT_GT(before->allocations, 0);

  // Through pointers that the compiler can't see through, or it leaves the pairs out.
  void* (*volatile allocate)(size_t) = std::malloc;
  void* (*volatile reallocate)(void*, size_t) = std::realloc;
  void* (*volatile allocate_zeroed)(size_t, size_t) = std::calloc;
  void* (*volatile allocate_aligned)(size_t, size_t) = std::aligned_alloc;
  void* (*volatile new_object)(size_t) = ::operator new;
  void* (*volatile new_array)(size_t) = ::operator new[];
  void* (*volatile new_aligned)(size_t, std::align_val_t) = ::operator new;
  for (int i = 0; i < 1000; ++i) {
    std::free(reallocate(allocate(10), 100));
    std::free(allocate_zeroed(10, 100));
    std::free(allocate_aligned(64, 128));
    ::operator delete(new_object(1));
    ::operator delete[](new_array(2));
    ::operator delete(new_aligned(256, std::align_val_t{64}), std::align_val_t{64});
  }
  const auto after = GetAllocationTotals();
  EXPECT_EQ(after->allocations - before->allocations, 7 * 1000);
  EXPECT_EQ(after->bytes - before->bytes, (10 + 100 + 1000 + 128 + 1 + 2 + 256) * 1000);
}

TEST(ProcessStatsTest, AllocationsOfEndedThreadsStayCounted) {
  const auto before = GetAllocationTotals();
  if (!before.has_value()) GTEST_SKIP() << "not linked with profiling_allocator";
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      void* (*volatile new_object)(size_t) = ::operator new;
      for (int j = 0; j < 1000; ++j) ::operator delete(new_object(1 << 10));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto after = GetAllocationTotals();
  EXPECT_GE(after->allocations - before->allocations, 8 * 1000);
  EXPECT_GE(after->bytes - before->bytes, 8 * 1000 * 1024);
  EXPECT_LE(after->bytes - before->bytes, 8 * 1000 * 1024 + 100'000);
}

TEST(ProcessStatsTest, InstructionsWhereTheyCount) {
  const auto counter = InstructionCounter::Open();
  if (!counter.ok()) {
    EXPECT_TRUE(absl::IsUnavailable(counter.status())) << counter.status();
    GTEST_SKIP() << counter.status();
  }
  UseCpu(10'000'000);
  const auto instructions = (*counter)->Read();
  ASSERT_TRUE(instructions.has_value());
  EXPECT_GT(*instructions, 1'000'000);
}

}  // namespace
}  // namespace blockreplay::profiling
