#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiling/labels.h"

namespace blockreplay::storage {

// A fixed set of threads that share the items of one job at a time with the thread that asks for
// it.
//
// Threads: Run is for one thread at a time; cpu_nanos for any.
class WorkerPool {
 public:
  // `threads` counts the caller: 1 means that Run works alone. `role` is the others' thread role in
  // profiles.
  WorkerPool(int threads, const std::string& role);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls `work(i)` once for each i below `count`, lower ones first, and returns when all calls
  // have. What the calls did is visible to the caller then. Workers carry the caller's profile
  // labels.
  void Run(size_t count, const std::function<void(size_t)>& work);

  // CPU time of each thread of the pool inside calls of `work`, in nanoseconds since the start;
  // without the caller's.
  std::vector<int64_t> cpu_nanos() const;

 private:
  void WorkerMain(size_t worker, const std::string& role);
  void TakeItems();

  mutable std::mutex mutex_;
  std::condition_variable job_given_;
  std::condition_variable job_done_;
  uint64_t jobs_ = 0;  // number of jobs given so far
  bool stopping_ = false;
  size_t busy_ = 0;  // workers that have not finished the present job
  std::vector<int64_t> cpu_nanos_;

  // The present job. Written under mutex_ before the workers are woken.
  const std::function<void(size_t)>* work_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  profiling::LabelValues labels_;

  std::vector<std::thread> workers_;
};

}  // namespace blockreplay::storage
