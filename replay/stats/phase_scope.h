#pragma once

#include <array>
#include <cstddef>

#include "profiling/labels.h"
#include "replay/stats/phases.h"

namespace blockreplay::replay {

// Time and profile samples of the thread go to one phase until the scope closes.
class PhaseScope {
 public:
  PhaseScope(PhaseClock* clock, Phase phase)
      : clock_(clock), label_(profiling::LabelKey::kPhase, LabelOf(phase)) {
    clock_->Enter(phase);
  }
  ~PhaseScope() { clock_->Enter(Phase::kOther); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  static profiling::LabelId LabelOf(Phase phase) {
    static const auto labels = [] {
      std::array<profiling::LabelId, kPhaseCount> ids{};
      for (size_t i = 0; i < kPhaseCount; ++i) ids[i] = profiling::InternLabel(kPhaseNames[i]);
      return ids;
    }();
    return labels[static_cast<size_t>(phase)];
  }

  PhaseClock* clock_;
  profiling::ScopedLabel label_;
};

}  // namespace blockreplay::replay
