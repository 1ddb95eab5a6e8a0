#include "profiling/labels.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "profiling/cpu_sampler.h"

namespace blockreplay::profiling {

namespace internal {
constinit thread_local ThreadLabels thread_labels __attribute__((tls_model("initial-exec")));
}  // namespace internal

namespace {

// Leaked on purpose: threads may still intern while static objects are destroyed.
struct Interner {
  std::mutex mutex;
  std::deque<std::string> values{""};  // a deque, so that the views in `ids` stay valid
  std::unordered_map<std::string_view, LabelId> ids;
};

Interner& GetInterner() {
  static auto* interner = new Interner;
  return *interner;
}

}  // namespace

std::string_view LabelKeyName(LabelKey key) {
  switch (key) {
    case LabelKey::kPhase:
      return "phase";
    case LabelKey::kStore:
      return "store";
    case LabelKey::kThreadRole:
      return "thread_role";
    case LabelKey::kMsgType:
      return "msg_type";
  }
  std::fprintf(stderr, "profiling: no label key %d\n", static_cast<int>(key));
  std::abort();
}

LabelId InternLabel(std::string_view value) {
  if (value.empty()) return kNoLabel;
  Interner& interner = GetInterner();
  std::lock_guard lock(interner.mutex);
  if (auto it = interner.ids.find(value); it != interner.ids.end()) return it->second;
  const auto id = static_cast<LabelId>(interner.values.size());
  interner.ids.emplace(interner.values.emplace_back(value), id);
  return id;
}

std::string LabelValue(LabelId id) {
  Interner& interner = GetInterner();
  std::lock_guard lock(interner.mutex);
  if (id >= interner.values.size()) {
    std::fprintf(stderr, "profiling: label id %u was never interned (%zu are)\n", id,
                 interner.values.size());
    std::abort();
  }
  return interner.values[id];
}

ScopedLabels::ScopedLabels(const LabelValues& values) : previous_(CurrentLabels()) {
  for (int i = 0; i < kLabelKeyCount; ++i) {
    if (i == static_cast<int>(LabelKey::kThreadRole)) continue;
    internal::thread_labels.ids[i].store(values.ids[i], std::memory_order_relaxed);
  }
  internal::thread_labels.height.store(values.height, std::memory_order_relaxed);
}

ScopedLabels::~ScopedLabels() {
  for (int i = 0; i < kLabelKeyCount; ++i) {
    if (i == static_cast<int>(LabelKey::kThreadRole)) continue;
    internal::thread_labels.ids[i].store(previous_.ids[i], std::memory_order_relaxed);
  }
  internal::thread_labels.height.store(previous_.height, std::memory_order_relaxed);
}

void SetThreadRole(std::string_view role) {
  internal::thread_labels.ids[static_cast<int>(LabelKey::kThreadRole)].store(
      InternLabel(role), std::memory_order_relaxed);
  // The first thread's name is the process's in ps and top: leave it.
  if (static_cast<pid_t>(syscall(SYS_gettid)) != getpid()) {
    constexpr size_t kKernelNameLimit = 15;
    pthread_setname_np(pthread_self(), std::string(role.substr(0, kKernelNameLimit)).c_str());
  }
  ThreadSampler::Get().RegisterCurrentThread();
}

std::string ThreadRoleOf(std::string_view thread_name, bool is_main) {
  if (is_main) return "main";
  if (thread_name.starts_with("rocksdb:low") || thread_name.starts_with("rocksdb:bottom")) {
    return "compaction";
  }
  if (thread_name.starts_with("rocksdb:high")) return "flush";
  std::string_view stem = thread_name;
  while (!stem.empty() && stem.back() >= '0' && stem.back() <= '9') stem.remove_suffix(1);
  while (!stem.empty() && (stem.back() == '-' || stem.back() == '_' || stem.back() == ':' ||
                           stem.back() == '#' || stem.back() == ' ')) {
    stem.remove_suffix(1);
  }
  return std::string(stem.empty() ? thread_name : stem);
}

}  // namespace blockreplay::profiling
