#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace blockreplay::profiling {

// What a thread is doing, as labels that every profile sample taken on it carries.
//
// Code opens scopes; profilers read the calling thread's labels, the CPU profiler from within a
// signal handler on that very thread. A scope costs a thread-local load and two stores whether or
// not a profiler runs, so scopes may stand on hot paths (per store, per transaction), though not
// per key. Nothing here allocates except InternLabel.
//
//   static const LabelId kHash = InternLabel("hash");
//   ScopedLabel phase(LabelKey::kPhase, kHash);
//
// Scopes must close in the reverse order of opening, on the thread that opened them.

enum class LabelKey : uint8_t {
  kPhase,       // "phase": decode, begin_block, deliver_tx, end_block, apply, hash, commit, …
  kStore,       // "store": name of the store that is worked on
  kThreadRole,  // "thread_role": main, hash, compaction, flush, …
  kMsgType,     // "msg_type": type of the message that is executed
};
inline constexpr int kLabelKeyCount = 4;

// The name under which a label appears in profiles.
std::string_view LabelKeyName(LabelKey key);

// A label value. Ids are process-wide, dense, never freed and never reused; 0 means "no label".
using LabelId = uint32_t;
inline constexpr LabelId kNoLabel = 0;

// The id of `value`, the same for equal values; kNoLabel for "". Takes a lock and may allocate:
// call it once per value and keep the id. Meant for a bounded set of names (stores, message types),
// not for keys or hashes. Thread-safe.
LabelId InternLabel(std::string_view value);

// The value behind an id that InternLabel returned; "" for kNoLabel. Thread-safe.
std::string LabelValue(LabelId id);

// A copy of one thread's labels.
struct LabelValues {
  LabelId ids[kLabelKeyCount] = {};
  int64_t height = 0;  // 0: none

  friend bool operator==(const LabelValues&, const LabelValues&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const LabelValues& values) {
    return H::combine(H::combine_contiguous(std::move(h), values.ids, kLabelKeyCount),
                      values.height);
  }
};

namespace internal {

// Atomics because a signal handler on the same thread reads them; relaxed order suffices there and
// costs nothing.
struct ThreadLabels {
  std::atomic<LabelId> ids[kLabelKeyCount] = {};
  std::atomic<int64_t> height{0};
};

// initial-exec: the handler must reach it without a call that may allocate. constinit: no
// initialisation guard.
extern constinit thread_local ThreadLabels thread_labels __attribute__((tls_model("initial-exec")));

}  // namespace internal

// The calling thread's labels. Async-signal-safe.
inline LabelValues CurrentLabels() {
  LabelValues values;
  for (int i = 0; i < kLabelKeyCount; ++i) {
    values.ids[i] = internal::thread_labels.ids[i].load(std::memory_order_relaxed);
  }
  values.height = internal::thread_labels.height.load(std::memory_order_relaxed);
  return values;
}

// Sets one label of the calling thread until the scope closes, then restores what was there.
class [[nodiscard]] ScopedLabel {
 public:
  ScopedLabel(LabelKey key, LabelId id)
      : key_(key), previous_(Value().load(std::memory_order_relaxed)) {
    Value().store(id, std::memory_order_relaxed);
  }
  ~ScopedLabel() { Value().store(previous_, std::memory_order_relaxed); }
  ScopedLabel(const ScopedLabel&) = delete;
  ScopedLabel& operator=(const ScopedLabel&) = delete;

 private:
  std::atomic<LabelId>& Value() const {
    return internal::thread_labels.ids[static_cast<int>(key_)];
  }

  LabelKey key_;
  LabelId previous_;
};

// Sets the height that the calling thread works for; profiles carry it rounded down to a bucket.
class [[nodiscard]] ScopedHeight {
 public:
  explicit ScopedHeight(int64_t height)
      : previous_(internal::thread_labels.height.load(std::memory_order_relaxed)) {
    internal::thread_labels.height.store(height, std::memory_order_relaxed);
  }
  ~ScopedHeight() { internal::thread_labels.height.store(previous_, std::memory_order_relaxed); }
  ScopedHeight(const ScopedHeight&) = delete;
  ScopedHeight& operator=(const ScopedHeight&) = delete;

 private:
  int64_t previous_;
};

// Gives a worker thread the labels of the thread that handed it the work (`CurrentLabels()` there)
// until the scope closes. The worker keeps its own thread role.
class [[nodiscard]] ScopedLabels {
 public:
  explicit ScopedLabels(const LabelValues& values);
  ~ScopedLabels();
  ScopedLabels(const ScopedLabels&) = delete;
  ScopedLabels& operator=(const ScopedLabels&) = delete;

 private:
  LabelValues previous_;
};

// Names the calling thread's role for the rest of its life and makes it known to a running (or
// later) profiler at once. To be called first thing in every thread that we create: other threads
// are found by polling, and get a role from the name the kernel knows them by (see ThreadRoleOf).
// Also sets that name, so that tools outside show it.
void SetThreadRole(std::string_view role);

// The role of a thread that never called SetThreadRole, from the name the kernel has for it and
// from whether it is the process's first thread: RocksDB's pools `rocksdb:low` and `rocksdb:bottom`
// compact, `rocksdb:high` flushes; the first thread is "main"; others keep their name, without a
// trailing counter.
std::string ThreadRoleOf(std::string_view thread_name, bool is_main);

}  // namespace blockreplay::profiling
