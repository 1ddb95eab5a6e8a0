#pragma once

namespace blockreplay::bench {

// The main function of a benchmark program. Takes Google Benchmark's options, and `--gotest`, with
// which results are printed as Go's benchmarks do, for benchstat:
// "BenchmarkName <iterations> <ns> ns/op <bytes> B/op <allocations> allocs/op" and further
// counters. Times are CPU time, or what the benchmark measured itself.
int RunBenchmarks(int argc, char** argv);

}  // namespace blockreplay::bench
