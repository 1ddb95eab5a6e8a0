#include "storage/multistore/worker_pool.h"

#include "profiling/thread_clock.h"

namespace blockreplay::storage {

WorkerPool::WorkerPool(int threads, const std::string& role) {
  const size_t workers = threads > 1 ? static_cast<size_t>(threads - 1) : 0;
  cpu_nanos_.resize(workers);
  workers_.reserve(workers);
  for (size_t i = 0; i < workers; ++i) {
    workers_.emplace_back([this, i, role] { WorkerMain(i, role); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  job_given_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::TakeItems() {
  for (size_t i = next_.fetch_add(1, std::memory_order_relaxed); i < count_;
       i = next_.fetch_add(1, std::memory_order_relaxed)) {
    (*work_)(i);
  }
}

void WorkerPool::Run(size_t count, const std::function<void(size_t)>& work) {
  if (workers_.empty() || count < 2) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = &work;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    labels_ = profiling::CurrentLabels();
    busy_ = workers_.size();
    ++jobs_;
  }
  job_given_.notify_all();
  TakeItems();
  std::unique_lock<std::mutex> lock(mutex_);
  job_done_.wait(lock, [this] { return busy_ == 0; });
}

std::vector<int64_t> WorkerPool::cpu_nanos() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cpu_nanos_;
}

void WorkerPool::WorkerMain(size_t worker, const std::string& role) {
  profiling::SetThreadRole(role);
  uint64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    job_given_.wait(lock, [&] { return stopping_ || jobs_ != done; });
    if (stopping_) return;
    done = jobs_;
    const profiling::LabelValues labels = labels_;
    lock.unlock();
    const int64_t start = profiling::ThreadCpuNanos();
    {
      const profiling::ScopedLabels scope(labels);
      TakeItems();
    }
    const int64_t used = profiling::ThreadCpuNanos() - start;
    lock.lock();
    cpu_nanos_[worker] += used;
    if (--busy_ == 0) job_done_.notify_one();
  }
}

}  // namespace blockreplay::storage
