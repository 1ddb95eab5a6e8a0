// IAVL trees under the workload of peer_workload.h.
//
//   iavl_bench workload [options]
//     one run; one JSON object on standard output. Exits 1 if a root hash is not the known one.
//     --keys=N --versions=V --ops=M      default 100,000, 500, 1,000
//     --persist=deferred|every           deferred runs write a record with each version's
//                                        operations to the engine, as a replay does
//     --flush-every=N                    deferred: versions between two flushes (default 1,000)
//     --engine=rocksdb|memory --fast --keep=K --gets=N --no-iterate --dir=PATH
//     --cache-mb=N                       bound for nodes in memory; RocksDB gets half as much, at
//                                        most 256 MiB, on top
//     --bulk                             import the keys as one balanced tree instead of setting
//                                        them; for trees that do not fit in memory. No known roots.
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
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "storage/iavl/importer.h"
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
  int64_t flush_every = 1000;
  int64_t keep = 0;
  size_t cache_mb = 0;
  int64_t gets = 200'000;
  bool iterate = true;
  bool bulk = false;
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
      rocksdb_ = engine->get();
      engine_ = *std::move(engine);
    } else {
      engine_ = std::make_unique<MemoryEngine>();
    }
    options_.persist = settings_.persist;
    options_.fast_nodes = settings_.fast;
    WriteBatch batch;
    auto tree = Tree::Load(engine_.get(), kPrefix, options_, 0, &batch);
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
    if (settings_.bulk) {
      Import();
      return;
    }
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

  // The keys 0 .. N-1 at version 1, as the importer builds them from a stream.
  void Import() {
    if (rocksdb_ == nullptr) Fail("--bulk needs RocksDB");
    std::vector<uint32_t> order(settings_.keys);  // of the keys
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [](uint32_t a, uint32_t b) { return PeerWorkload::Mix(a) < PeerWorkload::Mix(b); });
    ImportOptions import_options;
    if (settings_.cache_mb > 0) import_options.memory_limit = settings_.cache_mb << 20;
    Importer importer(kPrefix, options_, 1, import_options);
    const std::unique_ptr<BulkLoader> loader = rocksdb_->NewBulkLoader();
    const auto add = [&](const ExportNode& node) {
      Check(importer.Add(node, &batch_));
      if (batch_.byte_size() < size_t{4} << 20) return;
      Check(loader->Add(batch_));
      batch_.Clear();
    };
    std::string key;
    std::string value;
    // Returns the height.
    const std::function<int32_t(size_t, size_t)> build = [&](size_t from, size_t to) -> int32_t {
      ExportNode node;
      node.version = 1;
      if (to - from == 1) {
        PeerWorkload::Key(order[from], &key);
        PeerWorkload::Value(order[from], 1, &value);
        node.key = key;
        node.value = value;
        add(node);
        return 0;
      }
      const size_t middle = from + (to - from + 1) / 2;
      const int32_t left = build(from, middle);
      node.height = 1 + std::max(left, build(middle, to));
      PeerWorkload::Key(order[middle], &key);
      node.key = key;
      add(node);
      return node.height;
    };
    build(0, order.size());
    auto tree = importer.Finish(engine_.get(), &batch_);
    Check(tree.status());
    Check(loader->Add(batch_));
    Check(loader->Finish());
    tree_ = *std::move(tree);
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
      if (known.keys != settings_.keys || known.version != version || settings_.ops != 1000 ||
          settings_.bulk) {
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
    std::string key;
    int64_t hits = 0;
    for (int64_t i = 0; i < count; ++i) {
      workload_.RandomKey(&get_stream_, &key);
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
  static constexpr char kPrefix[] = "s/k:main/";

  std::filesystem::path directory_;
  TreeOptions options_;
  RocksDbEngine* rocksdb_ = nullptr;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tree> tree_;
  PeerWorkload workload_;
  PeerWorkload get_stream_{0, /*seed=*/2};
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
    } else if (name == "--bulk") {
      settings.bulk = true;
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

  // Rounds, since on a busy machine others empty the caches: the best one is near what an idle one
  // gives.
  constexpr int kGetRounds = 10;
  double get_cpu = 0;
  double best_get_cpu = 0;
  int64_t hits = 0;
  for (int round = 0; round < kGetRounds; ++round) {
    const double get_start = CpuSeconds();
    hits += runner.Gets(settings.gets / kGetRounds);
    const double spent = CpuSeconds() - get_start;
    get_cpu += spent;
    best_get_cpu = round == 0 ? spent : std::min(best_get_cpu, spent);
  }

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
      "\"batch_bytes_per_op\": %.0f, \"get_ns\": %.0f, \"get_best_ns\": %.0f, \"get_hits\": %lld, "
      "\"iterate_ns_per_key\": %.1f, \"node_mb\": %.1f, \"peak_rss_mb_write\": %.1f, "
      "\"peak_rss_mb\": %.1f, \"version\": %lld, \"size\": %lld, \"height\": %d, \"root\": "
      "\"%s\", \"known_roots_matched\": %d}\n",
      static_cast<unsigned long long>(settings.keys), static_cast<long long>(settings.versions),
      settings.persist == Persist::kEvery ? "every" : "deferred",
      settings.rocksdb ? "rocksdb" : "memory", settings.fast ? "true" : "false", load_cpu,
      cpu / ops * 1e6, wall / ops * 1e6,
      static_cast<double>(runner.written() - written_start) / ops,
      get_cpu / static_cast<double>(std::max<int64_t>(settings.gets, 1)) * 1e9,
      best_get_cpu * kGetRounds / static_cast<double>(std::max<int64_t>(settings.gets, 1)) * 1e9,
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
