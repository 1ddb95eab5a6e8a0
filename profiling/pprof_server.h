#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiling/profiler.h"

namespace blockreplay::profiling {

struct ListenAddress {
  std::string host;
  int port = 0;  // 0: any that is free
};
// "HOST:PORT", "[IPv6]:PORT", ":PORT" or "PORT"; without a host 127.0.0.1, so that nothing outside
// of this machine is served unless asked for.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// Serves profiles of this process over HTTP at the paths, with the parameters, that Go programs
// have them at, so that `go tool pprof http://…/debug/pprof/heap` and whatever else knows these
// works:
//
//   /debug/pprof/                    index page
//   /debug/pprof/profile?seconds=N   CPU from now on, for 30 seconds by default
//   /debug/pprof/heap, allocs        the heap; they differ in what is shown first
//   /debug/pprof/growth              where the heap grew
//   /debug/pprof/cmdline, symbol     the command line; names of addresses (symbol?0x1234+0x5678)
//
// `seconds=N` on heap and allocs gives what changed in that time, `debug=1` text to read. Only GET
// is allowed (405), one CPU profile at a time (409). Connections are served by a few threads of the
// role "http".
class PprofServer {
 public:
  struct Options {
    ListenAddress address;
    // Go into every profile.
    std::vector<std::string> comments;
    // Whether profiles of CPU time, of the heap, come from the profiler that UseProfiler gives (503
    // until it has). Else the server samples itself: CPU when asked, the heap from Start on.
    bool cpu_from_profiler = false;
    bool heap_from_profiler = false;
  };

  // Listens when it returns. Unavailable: the address can't be had.
  static absl::StatusOr<std::unique_ptr<PprofServer>> Start(const Options& options);
  // Answers the requests that are waiting with what there is until now, and stops.
  virtual ~PprofServer() = default;

  // A profiler that outlives its use here by being shared. Thread-safe.
  virtual void UseProfiler(std::shared_ptr<Profiler> profiler) = 0;

  // "http://127.0.0.1:6060/debug/pprof/"
  virtual std::string url() const = 0;

 protected:
  PprofServer() = default;
};

}  // namespace blockreplay::profiling
