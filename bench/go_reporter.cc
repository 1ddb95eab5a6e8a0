#include "bench/go_reporter.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace blockreplay::bench {
namespace {

class GoReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::fprintf(stderr, "%s: %s\n", run.run_name.str().c_str(), run.error_message.c_str());
        continue;
      }
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      std::string name = run.run_name.function_name;
      if (name.rfind("BM_", 0) == 0) name.erase(0, 3);
      const double seconds = run.run_name.time_type == "manual_time" ? run.real_accumulated_time
                                                                     : run.cpu_accumulated_time;
      std::printf("Benchmark%s %lld %.1f ns/op", name.c_str(),
                  static_cast<long long>(run.iterations),
                  seconds * 1e9 / static_cast<double>(run.iterations));
      for (const auto& [counter, value] : run.counters) {
        std::printf(" %.1f %s", value.value, counter.c_str());
      }
      std::printf("\n");
    }
  }
};

}  // namespace

int RunBenchmarks(int argc, char** argv) {
  bool go = false;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--gotest") {
      go = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  GoReporter reporter;
  if (go) {
    benchmark::RunSpecifiedBenchmarks(&reporter);
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  return 0;
}

}  // namespace blockreplay::bench
