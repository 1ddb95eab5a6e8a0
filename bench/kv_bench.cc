// The engine under the load of IAVL: nodes of about 110 bytes below keys of a store prefix, a
// version and a nonce. Times are CPU times of the whole process, RocksDB's threads included.

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "storage/kv/rocksdb_engine.h"
#include "storage/kv/write_batch.h"

namespace blockreplay::storage {
namespace {

class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "blockreplay-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~ScratchDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

std::unique_ptr<RocksDbEngine> Open(const std::string& path, const RocksDbOptions& options = {}) {
  auto engine = RocksDbEngine::Open(path, options);
  Check(engine.status());
  return std::move(*engine);
}

constexpr std::string_view kPrefix = "s/k:thorchain/";

std::string NodeKey(uint64_t version, uint32_t nonce) {
  std::string key(kPrefix);
  key.push_back('s');
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(version >> shift));
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(nonce >> shift));
  return key;
}

std::string NodeValue(std::mt19937_64& random) {
  std::string value(80 + random() % 60, '\0');
  // Half of a node is hashes, the rest is text of keys.
  for (size_t i = 0; i < value.size(); ++i) {
    value[i] = i < value.size() / 2 ? static_cast<char>(random()) : "swap/pool/BTC.BTC"[i % 17];
  }
  return value;
}

// A restored tree: nodes of many versions in no order, in batches.
std::vector<WriteBatch> RestoredNodes(size_t count) {
  std::mt19937_64 random(1);
  std::vector<WriteBatch> batches(1);
  for (size_t i = 0; i < count; ++i) {
    if (batches.back().count() == 10000) batches.emplace_back();
    batches.back().Put(NodeKey(random() % 1'000'000, static_cast<uint32_t>(i)), NodeValue(random));
  }
  return batches;
}

void BM_RestoreByWrite(benchmark::State& state) {
  const auto batches = RestoredNodes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    const ScratchDirectory dir;
    const auto engine = Open(dir.path() + "/db");
    for (const WriteBatch& batch : batches) Check(engine->Write(batch, Durability::kProcessCrash));
    Check(engine->Flush());
    Check(engine->WaitForBackgroundWork());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RestoreByWrite)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

void BM_RestoreByBulkLoad(benchmark::State& state) {
  const auto batches = RestoredNodes(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    const ScratchDirectory dir;
    const auto engine = Open(dir.path() + "/db");
    const auto loader = engine->NewBulkLoader();
    for (const WriteBatch& batch : batches) Check(loader->Add(batch));
    Check(loader->Finish());
    Check(engine->WaitForBackgroundWork());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RestoreByBulkLoad)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime();

// One batch per block of 5,000 new nodes and the deletion of as many old ones.
void BM_Blocks(benchmark::State& state) {
  constexpr uint32_t kNodes = 5000;
  const ScratchDirectory dir;
  const auto engine = Open(dir.path() + "/db");
  std::mt19937_64 random(1);
  std::vector<std::string> values;
  for (uint32_t i = 0; i < kNodes; ++i) values.push_back(NodeValue(random));
  uint64_t version = 0;
  for (auto _ : state) {
    ++version;
    WriteBatch batch;
    for (uint32_t i = 0; i < kNodes; ++i) batch.Put(NodeKey(version, i), values[i]);
    if (version > 10) {
      for (uint32_t i = 0; i < kNodes; ++i) batch.Delete(NodeKey(version - 10, i));
    }
    Check(engine->Write(batch, Durability::kProcessCrash));
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(BM_Blocks)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

// Reads of existing nodes at random, all blocks in the cache.
void BM_ReadNode(benchmark::State& state) {
  const auto count = static_cast<uint64_t>(state.range(0));
  const ScratchDirectory dir;
  RocksDbOptions options;
  options.memory_budget_bytes = size_t{512} << 20;
  const auto engine = Open(dir.path() + "/db", options);
  std::mt19937_64 random(1);
  const auto loader = engine->NewBulkLoader();
  WriteBatch batch;
  for (uint64_t i = 0; i < count; ++i) {
    batch.Put(NodeKey(i / 1000, static_cast<uint32_t>(i % 1000)), NodeValue(random));
    if (batch.count() == 10000) {
      Check(loader->Add(batch));
      batch.Clear();
    }
  }
  Check(loader->Add(batch));
  Check(loader->Finish());
  Check(engine->CompactAll());
  std::string value;
  for (const auto it = engine->NewIterator(KeyRange::All(), Direction::kForward); it->Valid();) {
    it->Next();
  }
  for (auto _ : state) {
    const uint64_t i = random() % count;
    const auto found = engine->Get(NodeKey(i / 1000, static_cast<uint32_t>(i % 1000)), &value);
    Check(found.status());
    if (!*found) std::abort();
  }
}
BENCHMARK(BM_ReadNode)->Arg(1'000'000)->Unit(benchmark::kMicrosecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace blockreplay::storage

BENCHMARK_MAIN();
