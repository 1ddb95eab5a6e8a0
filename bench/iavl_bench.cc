// IAVL trees under the workload of peer_workload.h.
//
//   iavl_bench workload [--keys=N] [--versions=V] [--ops=M] [--persist=deferred|every]
//   [--engine=memory|rocksdb]
//                       [--fast] [--flush-every=N] [--keep=K] [--cache-mb=N] [--gets=N]
//                       [--no-iterate] [--dir=PATH]
//     one run; one JSON object on standard output. Exits 1 if a root hash is not the known one.
//     Deferred runs write a record with the version's operations to the engine, as a replay does,
//     and flush every N versions. --cache-mb bounds the nodes in memory (and RocksDB's budget is
//     half of it, at most 256 MiB on top).
//   iavl_bench [Google Benchmark's options]
//     the same operations as benchmarks: commit, get, iterate.

#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "storage/iavl/peer_workload.h"
#include "storage/iavl/tree.h"
#include "storage/kv/memory_engine.h"
#include "storage/kv/rocksdb_engine.h"

namespace blockreplay::storage::iavl {
namespace {

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double PeakRssMb() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "iavl_bench: %s\n", message.c_str());
  std::exit(1);
}

void Check(const absl::Status& status) {
  if (!status.ok()) Fail(status.ToString());
}

std::string Hex(const Hash& hash) {
  std::string hex;
  char digits[3];
  for (const uint8_t byte : hash) {
    std::snprintf(digits, sizeof(digits), "%02x", byte);
    hex += digits;
  }
  return hex;
}

struct Settings {
  uint64_t keys = 100'000;
  int64_t versions = 500;
  int64_t ops = 1000;
  Persist persist = Persist::kDeferred;
  bool rocksdb = true;
  bool fast = false;
  int64_t flush_every = 100;
  int64_t keep = 0;
  size_t cache_mb = 0;
  int64_t gets = 200'000;
  bool iterate = true;
  std::string dir;
};

// A tree over an engine, driven like the tree of a replay.
class Runner {
 public:
  explicit Runner(const Settings& settings) : settings_(settings), workload_(settings.keys) {
    if (settings_.rocksdb) {
      directory_ = settings_.dir.empty() ? std::filesystem::temp_directory_path() /
                                               ("iavl_bench." + std::to_string(::getpid()))
                                         : std::filesystem::path(settings_.dir);
      std::filesystem::create_directories(directory_);
      RocksDbOptions options;
      options.memory_budget_bytes = settings_.cache_mb == 0
                                        ? size_t{256} << 20
                                        : std::min<size_t>(256, settings_.cache_mb / 2) << 20;
      auto engine = RocksDbEngine::Open((directory_ / "application.db").string(), options);
      Check(engine.status());
      engine_ = *std::move(engine);
    } else {
      engine_ = std::make_unique<MemoryEngine>();
    }
    TreeOptions options;
    options.persist = settings_.persist;
    options.fast_nodes = settings_.fast;
    WriteBatch batch;
    auto tree = Tree::Load(engine_.get(), "s/k:main/", options, 0, &batch);
    Check(tree.status());
    Check(engine_->Write(batch, Durability::kProcessCrash));
    tree_ = *std::move(tree);
  }

  ~Runner() {
    tree_.reset();
    engine_.reset();
    if (!directory_.empty() && settings_.dir.empty()) std::filesystem::remove_all(directory_);
  }

  void Load() {
    std::string key;
    std::string value;
    for (uint64_t i = 0; i < settings_.keys; ++i) {
      PeerWorkload::Key(i, &key);
      PeerWorkload::Value(i, tree_->next_version(), &value);
      Check(tree_->Set(key, value));
      if ((i + 1) % PeerWorkload::kLoadBatch == 0 || i + 1 == settings_.keys) {
        CommitVersion(/*flush=*/true);
      }
    }
  }

  void BuildVersion() {
    const int64_t version = tree_->next_version();
    for (int64_t i = 0; i < settings_.ops; ++i) {
      workload_.Next(version, &operation_);
      Check(operation_.is_delete ? tree_->Delete(operation_.key)
                                 : tree_->Set(operation_.key, operation_.value));
      if (settings_.persist == Persist::kDeferred) {
        log_.append(operation_.key);
        log_.append(operation_.value);
      }
    }
  }

  void CommitVersion(bool flush) {
    batch_.Clear();
    Check(tree_->Commit(&batch_).status());
    const int64_t version = tree_->version();
    if (settings_.persist == Persist::kDeferred) {
      if (flush) {
        Check(tree_->Flush(&batch_));
        batch_.DeleteRange("blockreplay/wal/", "blockreplay/wal0");
      } else {
        batch_.Put("blockreplay/wal/" + std::to_string(version), log_);
      }
      log_.clear();
    } else if (settings_.keep > 0 && version > settings_.keep) {
      Check(tree_->DeleteVersionsTo(version - settings_.keep, &batch_));
    }
    written_ += batch_.byte_size();
    Check(engine_->Write(batch_, Durability::kProcessCrash));
    if (settings_.cache_mb > 0) tree_->Trim(settings_.cache_mb << 20);
    for (const PeerRoot& known : kPeerRoots) {
      if (known.keys != settings_.keys || known.version != version || settings_.ops != 1000) {
        continue;
      }
      const std::string root = Hex(tree_->hash());
      if (root != known.root) {
        Fail("version " + std::to_string(version) + ": root " + root + ", expected " + known.root);
      }
      ++verified_;
    }
  }

  void Versions(int64_t count) {
    for (int64_t i = 1; i <= count; ++i) {
      BuildVersion();
      CommitVersion(i % settings_.flush_every == 0);
    }
  }

  int64_t Gets(int64_t count) {
    PeerWorkload stream(0, /*seed=*/2);
    std::string key;
    int64_t hits = 0;
    for (int64_t i = 0; i < count; ++i) {
      workload_.RandomKey(&stream, &key);
      const auto found = tree_->Find(key);
      Check(found.status());
      hits += found->has_value() ? 1 : 0;
      if (settings_.cache_mb > 0 && i % 10'000 == 0) tree_->Trim(settings_.cache_mb << 20);
    }
    return hits;
  }

  int64_t Iterate() {
    int64_t bytes = 0;
    const auto it = tree_->NewIterator(KeyRange::All(), Direction::kForward);
    for (; it->Valid(); it->Next()) {
      bytes += static_cast<int64_t>(it->key().size() + it->value().size());
    }
    Check(it->status());
    return bytes;
  }

  Tree* tree() { return tree_.get(); }
  uint64_t written() const { return written_; }
  int verified() const { return verified_; }

 private:
  const Settings settings_;
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tree> tree_;
  PeerWorkload workload_;
  PeerWorkload::Operation operation_;
  WriteBatch batch_;
  std::string log_;
  uint64_t written_ = 0;
  int verified_ = 0;
};

Settings ParseSettings(int argc, char** argv) {
  Settings settings;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
    const auto number = [&value] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (name == "--keys") {
      settings.keys = number();
    } else if (name == "--versions") {
      settings.versions = static_cast<int64_t>(number());
    } else if (name == "--ops") {
      settings.ops = static_cast<int64_t>(number());
    } else if (name == "--persist") {
      settings.persist = value == "every" ? Persist::kEvery : Persist::kDeferred;
    } else if (name == "--engine") {
      settings.rocksdb = value == "rocksdb";
    } else if (name == "--fast") {
      settings.fast = true;
    } else if (name == "--flush-every") {
      settings.flush_every = static_cast<int64_t>(number());
    } else if (name == "--keep") {
      settings.keep = static_cast<int64_t>(number());
    } else if (name == "--cache-mb") {
      settings.cache_mb = number();
    } else if (name == "--gets") {
      settings.gets = static_cast<int64_t>(number());
    } else if (name == "--no-iterate") {
      settings.iterate = false;
    } else if (name == "--dir") {
      settings.dir = value;
    } else {
      Fail("unknown argument " + std::string(argument));
    }
  }
  if (settings.flush_every < 1 || settings.keys < 2) Fail("numbers must be positive");
  return settings;
}

int RunWorkload(const Settings& settings) {
  Runner runner(settings);
  const double load_start = CpuSeconds();
  runner.Load();
  const double load_cpu = CpuSeconds() - load_start;

  const double cpu_start = CpuSeconds();
  const double wall_start = WallSeconds();
  const uint64_t written_start = runner.written();
  runner.Versions(settings.versions);
  const double cpu = CpuSeconds() - cpu_start;
  const double wall = WallSeconds() - wall_start;
  const double ops = static_cast<double>(settings.versions * settings.ops);
  const double peak_rss = PeakRssMb();

  const double get_start = CpuSeconds();
  const int64_t hits = runner.Gets(settings.gets);
  const double get_cpu = CpuSeconds() - get_start;

  double iterate_cpu = 0;
  if (settings.iterate) {
    runner.Iterate();
    const double iterate_start = CpuSeconds();
    runner.Iterate();
    iterate_cpu = CpuSeconds() - iterate_start;
  }
  std::printf(
      "{\"keys\": %llu, \"versions\": %lld, \"persist\": \"%s\", \"engine\": \"%s\", "
      "\"fast\": %s, \"load_cpu_s\": %.3f, \"cpu_us_per_op\": %.3f, \"wall_us_per_op\": %.3f, "
      "\"batch_bytes_per_op\": %.0f, \"get_ns\": %.0f, \"get_hits\": %lld, "
      "\"iterate_ns_per_key\": %.1f, \"node_mb\": %.1f, \"peak_rss_mb_write\": %.1f, "
      "\"peak_rss_mb\": %.1f, \"version\": %lld, \"size\": %lld, \"height\": %d, \"root\": "
      "\"%s\", \"known_roots_matched\": %d}\n",
      static_cast<unsigned long long>(settings.keys), static_cast<long long>(settings.versions),
      settings.persist == Persist::kEvery ? "every" : "deferred",
      settings.rocksdb ? "rocksdb" : "memory", settings.fast ? "true" : "false", load_cpu,
      cpu / ops * 1e6, wall / ops * 1e6,
      static_cast<double>(runner.written() - written_start) / ops,
      get_cpu / static_cast<double>(std::max<int64_t>(settings.gets, 1)) * 1e9,
      static_cast<long long>(hits), iterate_cpu / static_cast<double>(runner.tree()->size()) * 1e9,
      static_cast<double>(runner.tree()->memory_bytes()) / 1e6, peak_rss, PeakRssMb(),
      static_cast<long long>(runner.tree()->version()),
      static_cast<long long>(runner.tree()->size()), runner.tree()->height(),
      Hex(runner.tree()->hash()).c_str(), runner.verified());
  return 0;
}

void BM_Commit(benchmark::State& state, Persist persist, bool rocksdb) {
  Settings settings;
  settings.keys = static_cast<uint64_t>(state.range(0));
  settings.persist = persist;
  settings.rocksdb = rocksdb;
  Runner runner(settings);
  runner.Load();
  for (auto _ : state) runner.Versions(1);
  state.SetItemsProcessed(state.iterations() * settings.ops);
}

void BM_Get(benchmark::State& state) {
  Settings settings;
  settings.keys = static_cast<uint64_t>(state.range(0));
  settings.rocksdb = false;
  Runner runner(settings);
  runner.Load();
  constexpr int64_t kGets = 10'000;
  for (auto _ : state) benchmark::DoNotOptimize(runner.Gets(kGets));
  state.SetItemsProcessed(state.iterations() * kGets);
}

void BM_Iterate(benchmark::State& state) {
  Settings settings;
  settings.keys = static_cast<uint64_t>(state.range(0));
  settings.rocksdb = false;
  Runner runner(settings);
  runner.Load();
  for (auto _ : state) benchmark::DoNotOptimize(runner.Iterate());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(BM_Commit, deferred_rocksdb, Persist::kDeferred, true)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Commit, every_rocksdb, Persist::kEvery, true)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Get)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Iterate)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace blockreplay::storage::iavl

int main(int argc, char** argv) {
  using namespace blockreplay::storage::iavl;
  if (argc > 1 && std::string_view(argv[1]) == "workload") {
    return RunWorkload(ParseSettings(argc, argv));
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
