// The workloads of gno.land's mempool and blocks that users compare, on the state and with the
// transactions of the recording of 300 blocks. Besides time: allocations and bytes per operation.
// With --benchmark_repetitions and --benchmark_out the results can be compared by tools; `--gotest`
// prints them as Go's benchmarks do, for benchstat.

#include <benchmark/benchmark.h>
#include <secp256k1.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/allocation_counter.h"
#include "bench/go_reporter.h"
#include "blockreplay/v1/recording.pb.h"
#include "keeper/gno/testing/native_chain.h"
#include "keeper/gno/testing/recording_file.h"
#include "storage/multistore/worker_pool.h"
#include "storage/sha256.h"

namespace blockreplay::keeper::gno {
namespace {

using testing::NativeChain;

constexpr TxRules kRules{.setparam_hook = true};

const std::vector<v1::Block>& Blocks() {
  static const auto* const blocks = [] {
    auto read = testing::ReadMessages<v1::Block>(BLOCKREPLAY_FIXTURES "/gno-sends-300/blocks.zst");
    if (!read.ok()) {
      std::fprintf(stderr, "%s\n", read.status().ToString().c_str());
      std::exit(1);
    }
    return new std::vector<v1::Block>(*std::move(read));
  }();
  return *blocks;
}

std::unique_ptr<NativeChain> ChainAt(size_t height, storage::WorkerPool* workers = nullptr) {
  auto chain = std::make_unique<NativeChain>(Blocks()[0].init_chain().chain_id(), workers);
  if (!chain->InitChain(Blocks()[0].init_chain()).ok()) std::abort();
  for (size_t b = 0; b < height; ++b) {
    if (!chain->Execute(Blocks()[b].request()).ok()) std::abort();
  }
  return chain;
}

constexpr size_t kHeight = 2;

// Single sends of the next block, signed with secp256k1, that pass on their own.
std::vector<std::string> PlainSends(NativeChain* chain) {
  std::vector<std::string> sends;
  Checker checker({.rules = kRules});
  Scratch scratch;
  for (const std::string& bytes : Blocks()[kHeight].request().txs()) {
    checker.Committed(chain->committed(), chain->main_store());
    Tx tx;
    if (!tx.Decode(bytes, &scratch) || tx.msgs.size() != 1 || tx.signatures.size() != 1) continue;
    if (tx.msgs[0].coins.size() != 1 || tx.msgs[0].coins[0].denom != kNativeDenom) continue;
    if (tx.signatures[0].pub_key.kind == PubKey::Kind::kEd25519 ||
        tx.signatures[0].pub_key.kind == PubKey::Kind::kMultisig) {
      continue;
    }
    if (checker.Check(bytes).error == Error::kNone) sends.push_back(bytes);
  }
  return sends;
}

class Counters {
 public:
  explicit Counters(benchmark::State* state) : state_(state), start_(bench::CountedAllocations()) {}
  void Pause() {
    state_->PauseTiming();
    paused_ = bench::CountedAllocations();
  }
  void Resume() {
    const bench::Allocations now = bench::CountedAllocations();
    start_.count += now.count - paused_.count;
    start_.bytes += now.bytes - paused_.bytes;
    state_->ResumeTiming();
  }
  void Report() {
    const bench::Allocations now = bench::CountedAllocations();
    const auto per_operation = [](uint64_t total) {
      return benchmark::Counter(static_cast<double>(total), benchmark::Counter::kAvgIterations);
    };
    state_->counters["allocs/op"] = per_operation(now.count - start_.count);
    state_->counters["B/op"] = per_operation(now.bytes - start_.bytes);
  }

 private:
  benchmark::State* const state_;
  bench::Allocations start_;
  bench::Allocations paused_;
};

// What a recheck is measured against: one verification with its key parsed anew, and the hash of
// the sign bytes.
void BM_VerifyAndHash(benchmark::State& state) {
  const auto chain = ChainAt(kHeight);
  const std::string bytes = PlainSends(chain.get()).at(0);
  Scratch scratch;
  Tx tx;
  tx.Decode(bytes, &scratch);
  // Any key and signature of the right form cost the same; the sign bytes are of the right size.
  std::string sign_bytes;
  tx.SignBytes("rec-sends-1", 1000, 7, &sign_bytes);
  const secp256k1_context* const context = secp256k1_context_static;
  const std::string key =
      "\x02\x79\xbe\x66\x7e\xf9\xdc\xbb\xac\x55\xa0\x62\x95\xce\x87\x0b\x07\x02\x9b\xfc\xdb\x2d\xce"
      "\x28\xd9\x59\xf2\x81\x5b\x16\xf8\x17\x98";
  for (auto _ : state) {
    const storage::Hash hash = storage::Sha256(std::string_view(sign_bytes));
    secp256k1_pubkey parsed;
    secp256k1_ecdsa_signature signature;
    benchmark::DoNotOptimize(secp256k1_ec_pubkey_parse(
        context, &parsed, reinterpret_cast<const unsigned char*>(key.data()), key.size()));
    benchmark::DoNotOptimize(secp256k1_ecdsa_signature_parse_compact(
        context, &signature,
        reinterpret_cast<const unsigned char*>(tx.signatures[0].signature.data())));
    benchmark::DoNotOptimize(secp256k1_ecdsa_verify(context, &signature, hash.data(), &parsed));
  }
}
BENCHMARK(BM_VerifyAndHash);

// A pool of sends is rechecked after each commit, as often as the pool is used up.
void RunChecks(benchmark::State& state, const CheckOptions& options) {
  const auto chain = ChainAt(kHeight);
  const std::vector<std::string> sends = PlainSends(chain.get());
  Checker checker(options);
  checker.Committed(chain->committed(), chain->main_store());
  for (const std::string& tx : sends) checker.Check(tx);
  checker.Committed(chain->committed(), chain->main_store());
  size_t next = 0;
  Counters counters(&state);
  for (auto _ : state) {
    if (next == sends.size()) {
      counters.Pause();
      next = 0;
      checker.Committed(chain->committed(), chain->main_store());
      counters.Resume();
    }
    if (checker.Check(sends[next++]).error != Error::kNone) state.SkipWithError("failed");
  }
  counters.Report();
}

void BM_CheckTxRecheck(benchmark::State& state) { RunChecks(state, {.rules = kRules}); }
BENCHMARK(BM_CheckTxRecheck);

void BM_CheckTxRecheckNoMemo(benchmark::State& state) {
  RunChecks(state, {.rules = kRules, .memo_params = false, .memo_fee_collector = false});
}
BENCHMARK(BM_CheckTxRecheckNoMemo);

void BM_CheckTxRecheckVerifiedBefore(benchmark::State& state) {
  RunChecks(state, {.rules = kRules, .signature_cache = 1 << 14});
}
BENCHMARK(BM_CheckTxRecheckVerifiedBefore);

// The first check of a transaction: nothing of it was seen before.
void BM_CheckTx(benchmark::State& state) {
  const auto chain = ChainAt(kHeight);
  const std::vector<std::string> sends = PlainSends(chain.get());
  auto checker = std::make_unique<Checker>(CheckOptions{.rules = kRules});
  checker->Committed(chain->committed(), chain->main_store());
  size_t next = 0;
  Counters counters(&state);
  for (auto _ : state) {
    if (next == sends.size()) {
      counters.Pause();
      next = 0;
      checker = std::make_unique<Checker>(CheckOptions{.rules = kRules});
      checker->Committed(chain->committed(), chain->main_store());
      counters.Resume();
    }
    if (checker->Check(sends[next++]).error != Error::kNone) state.SkipWithError("failed");
  }
  counters.Report();
}
BENCHMARK(BM_CheckTx);

void BM_DeliverTx(benchmark::State& state) {
  const auto chain = ChainAt(kHeight);
  const std::vector<std::string> sends = PlainSends(chain.get());
  TxRunner runner(kRules);
  const CommittedBlock block = chain->committed();
  std::vector<sdk::BaseStore*> stores{chain->main_store(), chain->main_store()};
  auto branch = std::make_unique<sdk::MultiStore>(stores);
  auto main = std::make_unique<BranchState>(&branch->store(kMainStore));
  size_t next = 0;
  Counters counters(&state);
  for (auto _ : state) {
    if (next == sends.size()) {
      counters.Pause();
      next = 0;
      branch = std::make_unique<sdk::MultiStore>(stores);
      main = std::make_unique<BranchState>(&branch->store(kMainStore));
      counters.Resume();
    }
    GasMeter meter = GasMeter::Infinite();
    const TxResult result =
        runner.Run(sends[next++], {.mode = Mode::kDeliver,
                                   .chain_id = block.chain_id,
                                   .height = block.height + 1,
                                   .time = block.time,
                                   .max_gas = block.max_gas,
                                   .estimated_depth = EstimatedDepth(block.keys),
                                   .state = main.get(),
                                   .block_meter = &meter});
    if (result.error != Error::kNone) state.SkipWithError("failed");
  }
  counters.Report();
}
BENCHMARK(BM_DeliverTx);

// Recorded blocks of 100 transactions, with hashing and commit of the tree.
void RunBlocks(benchmark::State& state, storage::WorkerPool* workers) {
  auto chain = ChainAt(kHeight, workers);
  size_t next = kHeight;
  Counters counters(&state);
  for (auto _ : state) {
    if (next == Blocks().size()) {
      counters.Pause();
      chain = ChainAt(kHeight, workers);
      next = kHeight;
      counters.Resume();
    }
    if (!chain->Execute(Blocks()[next++].request()).ok()) state.SkipWithError("failed");
  }
  counters.Report();
}

void BM_Block100WithCommit(benchmark::State& state) { RunBlocks(state, nullptr); }
BENCHMARK(BM_Block100WithCommit)->Unit(benchmark::kMillisecond);

// With signatures verified on two threads: wall time, as the CPU time stays the same.
void BM_Block100WithCommit2Threads(benchmark::State& state) {
  storage::WorkerPool workers(2, "executor");
  RunBlocks(state, &workers);
}
BENCHMARK(BM_Block100WithCommit2Threads)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace blockreplay::keeper::gno

int main(int argc, char** argv) { return blockreplay::bench::RunBenchmarks(argc, argv); }
