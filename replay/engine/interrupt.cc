#include "replay/engine/interrupt.h"

#include <csignal>

namespace blockreplay::replay {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};

volatile std::sig_atomic_t received = 0;
struct sigaction previous[4];

void Remember(int signal) { received = signal; }

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  for (int i = 0; i < 4; ++i) {
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    if (i < 2) {
      action.sa_handler = Remember;
      action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    } else {
      action.sa_handler = SIG_IGN;
    }
    sigaction(kSignals[i], &action, &previous[i]);
  }
}

InterruptGuard::~InterruptGuard() {
  for (int i = 0; i < 4; ++i) sigaction(kSignals[i], &previous[i], nullptr);
}

int InterruptGuard::Received() { return received; }

}  // namespace blockreplay::replay
