#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "perftools/profiles/profile.pb.h"
#include "profiling/thread_clock.h"

namespace blockreplay::profiling {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BLOCKREPLAY_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define BLOCKREPLAY_TSAN 1
#endif

// ThreadSanitizer holds signals back until the thread comes by one of its interceptors, and merges
// them: samples then are neither where they should be nor as many.
#if defined(BLOCKREPLAY_TSAN)
inline constexpr bool kSignalsArriveAtOnce = false;
#else
inline constexpr bool kSignalsArriveAtOnce = true;
#endif

// Keeps the CPU busy until the calling thread has used this much CPU time.
__attribute__((noinline)) inline void UseCpu(int64_t nanos) {
  const int64_t end = ThreadCpuNanos() + nanos;
  volatile uint64_t state = 1;
  while (ThreadCpuNanos() < end) {
    for (int i = 0; i < 1000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
  }
}

inline std::string StringOf(const perftools::profiles::Profile& profile, int64_t index) {
  return profile.string_table(static_cast<int>(index));
}

// The sums of the samples' values at `value` by their label `key`; "" for samples without.
inline std::map<std::string, int64_t> SumByLabel(const perftools::profiles::Profile& profile,
                                                 const std::string& key, int value) {
  std::map<std::string, int64_t> sums;
  for (const auto& sample : profile.sample()) {
    std::string text;
    for (const auto& label : sample.label()) {
      if (StringOf(profile, label.key()) != key) continue;
      text = label.str() != 0 ? StringOf(profile, label.str()) : std::to_string(label.num());
    }
    sums[text] += sample.value(value);
  }
  return sums;
}

// The sum of the values at `value` of samples with a function of this name on the stack.
inline int64_t SumUnder(const perftools::profiles::Profile& profile, const std::string& function,
                        int value) {
  std::map<uint64_t, bool> functions;
  for (const auto& entry : profile.function()) {
    functions[entry.id()] = StringOf(profile, entry.name()).find(function) != std::string::npos;
  }
  std::map<uint64_t, bool> locations;
  for (const auto& location : profile.location()) {
    locations[location.id()] =
        std::any_of(location.line().begin(), location.line().end(),
                    [&](const auto& line) { return functions[line.function_id()]; });
  }
  int64_t sum = 0;
  for (const auto& sample : profile.sample()) {
    if (std::any_of(sample.location_id().begin(), sample.location_id().end(),
                    [&](uint64_t id) { return locations[id]; })) {
      sum += sample.value(value);
    }
  }
  return sum;
}

inline int64_t Sum(const perftools::profiles::Profile& profile, int value) {
  int64_t sum = 0;
  for (const auto& sample : profile.sample()) sum += sample.value(value);
  return sum;
}

}  // namespace blockreplay::profiling
