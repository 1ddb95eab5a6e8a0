// Native THORChain phases on the state of the recording `thor-2000`, with its real transactions:
// CPU time of this thread, allocations and bytes for each. Every sample is executed on a branch of
// the state right before it, again and again, so what can be remembered is remembered, except
// verified attestations: those are forgotten, unless the benchmark's name ends in "Seen".
//
// "…Signatures" are the same samples' signature verifications alone, by libsecp256k1, with keys
// parsed and messages hashed beforehand. `--gotest` prints for benchstat, `--disable=NAME,…`
// switches optimisations off (docs/native-execution.md).

#include <benchmark/benchmark.h>
#include <secp256k1.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "bench/allocation_counter.h"
#include "bench/go_reporter.h"
#include "cosmos/tx/v1beta1/tx.pb.h"
#include "keeper/chain.h"
#include "keeper/optimisations.h"
#include "keeper/sdk/tx.h"
#include "keeper/thorchain/ante.h"
#include "keeper/thorchain/bech32_addresses.h"
#include "keeper/thorchain/handlers/register.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/stores.h"
#include "keeper/verify/phase_verifier.h"
#include "profiling/thread_clock.h"
#include "replay/native/chain_spec.h"
#include "replay/native/memory_state.h"
#include "replay/recording/recording_reader.h"
#include "types/records.pb.h"

namespace blockreplay::bench {
namespace {

using keeper::Optimisation;
using keeper::OptimisationSet;
using keeper::sdk::MultiStore;

constexpr const char* kRecording = BLOCKREPLAY_FIXTURES "/thor-2000";
// Blocks whose phases are the samples, after enough others for the state to be full.
constexpr int64_t kFirst = 1000;
constexpr int64_t kLast = 1029;

OptimisationSet switched_off;

template <typename T>
T Get(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "keeper_bench: %s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}
void Check(const absl::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "keeper_bench: %s\n", status.ToString().c_str());
    std::exit(1);
  }
}

// A phase, and the state before it.
struct Sample {
  const v1::Block* block;
  int tx_index;  // -1: begin block
  MultiStore* state;

  const std::string& tx() const { return block->request().txs(tx_index); }
};
using Samples = std::vector<Sample>;

// The recording around the samples. Each block has a branch of the state after kFirst - 1 with the
// writes of the blocks before it, each sample one of its block's with the phases before it.
class Recording {
 public:
  Recording() {
    const replay::Manifest manifest = Get(replay::LoadManifest(kRecording));
    spec_ = replay::ChainSpecOf(manifest);
    chain_ = Get(keeper::NewChain(spec_));
    base_ = Get(replay::MemoryState::Load(kRecording, manifest, chain_->store_names()));
    replay::BlockReader blocks(kRecording, manifest);
    replay::PhasesReader all_phases(kRecording, manifest);
    v1::BlockPhases phases;
    auto block = std::make_unique<v1::Block>();
    while (Get(blocks.Next(block.get())) && block->height() <= kLast) {
      if (block->height() < kFirst) {
        Check(base_->Apply(*block));
        continue;
      }
      while (phases.height() < block->height() && Get(all_phases.Next(&phases))) {
      }
      phases_.push_back(std::make_unique<v1::BlockPhases>(phases));
      blocks_.push_back(std::move(block));
      Add(*blocks_.back(), *phases_.back());
      block = std::make_unique<v1::Block>();
    }
  }

  keeper::Chain& chain() { return *chain_; }
  const keeper::ChainSpec& spec() const { return spec_; }
  const std::map<std::string, Samples>& by_kind() const { return by_kind_; }

  // Of all kinds whose name begins so, successful ones only.
  Samples OfKind(const std::string& prefix) const {
    Samples samples;
    for (const auto& [kind, of_kind] : by_kind_) {
      if (kind.rfind(prefix, 0) == 0 && kind.find("(failed)") == std::string::npos) {
        samples.insert(samples.end(), of_kind.begin(), of_kind.end());
      }
    }
    return samples;
  }

 private:
  MultiStore* NewBranch() {
    branches_.push_back(std::make_unique<MultiStore>(base_->stores()));
    return branches_.back().get();
  }

  void Add(const v1::Block& block, const v1::BlockPhases& phases) {
    MultiStore* const before = NewBranch();
    for (size_t i = 0; i + 1 < blocks_.size(); ++i) ApplyChangeSet(*blocks_[i], before);
    by_kind_["BEGIN"].push_back({&block, -1, before});
    const v1::Phase* begin = nullptr;
    std::map<int, const v1::Phase*> txs;
    for (const v1::Phase& phase : phases.phases()) {
      if (phase.kind() == v1::Phase::BEGIN_BLOCK) begin = &phase;
      if (phase.kind() == v1::Phase::TX) txs[static_cast<int>(phase.tx_index())] = &phase;
    }
    std::vector<const v1::Phase*> earlier{begin};
    for (int i = 0; i < block.request().txs_size(); ++i) {
      std::string kind = chain_->DescribeTx(block.request().txs(i));
      if (block.response().tx_results(i).code() != 0) kind += " (failed)";
      branches_.push_back(std::make_unique<MultiStore>(before));
      MultiStore* const state = branches_.back().get();
      for (const v1::Phase* phase : earlier) {
        Get(keeper::RecordedWrites::From(phase, chain_->store_names())).ApplyTo(state);
      }
      by_kind_[kind].push_back({&block, i, state});
      const auto phase = txs.find(i);
      if (phase != txs.end()) earlier.push_back(phase->second);
    }
  }

  void ApplyChangeSet(const v1::Block& block, MultiStore* state) const {
    for (const auto& pair : block.change_set()) {
      const auto& names = chain_->store_names();
      const auto name = std::lower_bound(names.begin(), names.end(), pair.store_key());
      auto& store = state->store(static_cast<int>(name - names.begin()));
      if (pair.delete_()) {
        store.Delete(pair.key());
      } else {
        store.Set(pair.key(), pair.value());
      }
    }
  }

  keeper::ChainSpec spec_;
  std::unique_ptr<keeper::Chain> chain_;
  std::unique_ptr<replay::MemoryState> base_;
  std::vector<std::unique_ptr<v1::Block>> blocks_;
  std::vector<std::unique_ptr<v1::BlockPhases>> phases_;
  std::vector<std::unique_ptr<MultiStore>> branches_;
  std::map<std::string, Samples> by_kind_;
};

Recording& TheRecording() {
  static auto* const recording = new Recording;
  return *recording;
}

// The parts of the chain that phases don't give apart.
class Parts {
 public:
  Parts()
      : build_(Get(keeper::thorchain::Build::Make(TheRecording().spec().version,
                                                  TheRecording().spec().build_tags,
                                                  TheRecording().spec().constants_version, {}))) {
    managers_.keeper = &keeper_;
    keeper::thorchain::RegisterHandlers(&managers_, &router_);
  }

  keeper::sdk::Result<keeper::sdk::Tx> Decode(std::string_view bytes) const {
    keeper::sdk::Result<keeper::sdk::Tx> tx = keeper::sdk::DecodeTx(bytes, router_);
    if (tx.ok()) return tx;
    ::types::InjectTx envelope;
    if (!envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return tx;
    keeper::sdk::Tx injected;
    injected.injected = true;
    if (!keeper::sdk::UnpackMessages(envelope.messages(), router_, &injected)) return tx;
    return injected;
  }
  keeper::sdk::Error Ante(const keeper::sdk::Tx& tx, keeper::sdk::GasMeter* meter,
                          keeper::sdk::Context* context) const {
    return keeper::thorchain::RunAnte(keeper_, tx, meter, context);
  }

  // Forgets the block before.
  void StartBlock(const v1::Block& block) {
    block_.chain_id = TheRecording().spec().chain_id;
    block_.height = block.height();
    block_.time_seconds = block.request().time().seconds();
    block_.time_nanos = block.request().time().nanos();
    block_.request = &block.request();
    managers_ = {};
    managers_.keeper = &keeper_;
  }
  const keeper::sdk::BlockInfo& block() const { return block_; }

 private:
  const keeper::thorchain::Build build_;
  keeper::thorchain::Bech32Addresses addresses_{build_.network};
  keeper::sdk::AuthKeeper auth_{keeper::thorchain::kAccStore, &addresses_,
                                keeper::thorchain::ModulePermissions()};
  keeper::sdk::BankKeeper bank_{keeper::thorchain::kBankStore, &auth_, {}};
  keeper::thorchain::Keeper keeper_{&build_, &addresses_, &auth_, &bank_};
  keeper::thorchain::Managers managers_;
  keeper::sdk::MessageRouter router_;
  keeper::sdk::BlockInfo block_;
};

Parts& TheParts() {
  static auto* const parts = new Parts;
  return *parts;
}

// Measures one operation after the other, and nothing between them.
class Meter {
 public:
  explicit Meter(benchmark::State* state) : state_(state) {}
  ~Meter() {
    const auto per_operation = [](double total) {
      return benchmark::Counter(total, benchmark::Counter::kAvgIterations);
    };
    state_->counters["B/op"] = per_operation(static_cast<double>(bytes_));
    state_->counters["allocs/op"] = per_operation(static_cast<double>(allocations_));
  }
  template <typename Operation>
  void Measure(Operation&& operation) {
    const Allocations before = CountedAllocations();
    const int64_t start = profiling::ThreadCpuNanos();
    operation();
    const int64_t nanos = profiling::ThreadCpuNanos() - start;
    const Allocations after = CountedAllocations();
    bytes_ += after.bytes - before.bytes;
    allocations_ += after.count - before.count;
    state_->SetIterationTime(static_cast<double>(nanos) / 1e9);
  }

 private:
  benchmark::State* const state_;
  uint64_t bytes_ = 0;
  uint64_t allocations_ = 0;
};

// Executes the samples in turn, as whole phases.
void RunPhases(benchmark::State& state, const Samples& samples, bool seen) {
  if (samples.empty()) return state.SkipWithError("no samples");
  OptimisationSet off = switched_off;
  if (!seen) off.Add(Optimisation::kAttestations);
  keeper::SwitchOff(off);
  keeper::Chain& chain = TheRecording().chain();
  // Once each, not measured: what is remembered is there from the first measured one on.
  size_t next = 0;
  const auto run = [&](auto&& measure) {
    const Sample& sample = samples[next++ % samples.size()];
    Check(chain.StartBlock(sample.block->request()));
    MultiStore branch(sample.state);
    measure([&] {
      const absl::StatusOr<keeper::PhaseResult> result =
          sample.tx_index < 0 ? chain.BeginBlock(&branch)
                              : chain.DeliverTx(sample.tx_index, &branch);
      if (!result.ok() || result->code != 0) state.SkipWithError("the phase failed");
    });
  };
  for (size_t i = 0; i < samples.size(); ++i) run([](auto&& operation) { operation(); });
  Meter meter(&state);
  for (auto _ : state) run([&](auto&& operation) { meter.Measure(operation); });
}

// ---- Signatures ----

struct Signed {
  keeper::sdk::Sha256Digest digest;
  secp256k1_ecdsa_signature signature;
  secp256k1_pubkey key;
};

const secp256k1_context* Secp256k1() {
  static const secp256k1_context* const context =
      secp256k1_context_create(SECP256K1_CONTEXT_VERIFY);
  return context;
}

bool Verify(const Signed& item) {
  return secp256k1_ecdsa_verify(Secp256k1(), &item.signature, item.digest.data(), &item.key) == 1;
}

void AddAttestation(const std::string& bytes, const keeper::thorchain::Attestation& attestation,
                    std::vector<Signed>* items) {
  Signed item;
  item.digest = keeper::sdk::Sha256Of(bytes);
  const auto* const signature =
      reinterpret_cast<const unsigned char*>(attestation.signature.data());
  const auto* const key = reinterpret_cast<const unsigned char*>(attestation.pub_key.data());
  if (attestation.signature.size() == 64 &&
      secp256k1_ecdsa_signature_parse_compact(Secp256k1(), &item.signature, signature) == 1 &&
      secp256k1_ec_pubkey_parse(Secp256k1(), &item.key, key, attestation.pub_key.size()) == 1 &&
      Verify(item)) {
    items->push_back(item);
  }
}

template <typename Message>
const Message* MessageOf(const keeper::sdk::Tx& tx, std::string_view type_url) {
  if (tx.messages.empty() || tx.messages[0].type_url != type_url) return nullptr;
  return &keeper::sdk::TypedMessageHandler<Message>::Value(*tx.messages[0].message);
}

// Of a transaction's signers any key and signature do: all cost the same.
std::vector<Signed> SignaturesOf(const Sample& sample, const Signed& any) {
  namespace tc = keeper::thorchain;
  std::vector<Signed> items;
  const keeper::sdk::Tx tx = *TheParts().Decode(sample.tx());
  if (const auto* message = MessageOf<tc::MsgObservedTxQuorum>(tx, "/types.MsgObservedTxQuorum")) {
    const std::string bytes = tc::Encode(message->quo_tx->obs_tx.tx);
    for (const auto& attestation : message->quo_tx->attestations) {
      AddAttestation(bytes, attestation, &items);
    }
  } else if (const auto* batch =
                 MessageOf<tc::MsgPriceFeedQuorumBatch>(tx, "/types.MsgPriceFeedQuorumBatch")) {
    for (const auto& quorum : batch->quo_price_feeds) {
      for (const auto& attestation : quorum.attestations) {
        AddAttestation(tc::Encode(*quorum.price_feed), attestation, &items);
      }
    }
  }
  for (size_t i = 0; i < tx.signatures.size(); ++i) items.push_back(any);
  return items;
}

const Signed& AnySignature() {
  static const Signed any = [] {
    for (const Sample& sample : TheRecording().OfKind("inject:/types.MsgObservedTxQuorum")) {
      const std::vector<Signed> items = SignaturesOf(sample, {});
      if (!items.empty()) return items.front();
    }
    std::abort();
  }();
  return any;
}

void RunSignatures(benchmark::State& state, const Samples& samples) {
  if (samples.empty()) return state.SkipWithError("no samples");
  std::vector<std::vector<Signed>> items;
  for (const Sample& sample : samples) items.push_back(SignaturesOf(sample, AnySignature()));
  size_t next = 0;
  size_t verified = 0;
  {
    Meter meter(&state);
    for (auto _ : state) {
      const std::vector<Signed>& of_sample = items[next++ % items.size()];
      meter.Measure([&] {
        for (const Signed& item : of_sample) benchmark::DoNotOptimize(Verify(item));
      });
      verified += of_sample.size();
    }
  }
  state.counters["signatures/op"] =
      benchmark::Counter(static_cast<double>(verified), benchmark::Counter::kAvgIterations);
}

// ---- Parts of user transactions ----

// A user's transaction on a branch of the state before it.
class UserTx {
 public:
  explicit UserTx(const Sample& sample)
      : tx_(Start(sample)),
        branch_(sample.state),
        context_(keeper::sdk::Context(&TheParts().block(), &branch_, &first_gas_, &events_)
                     .WithTxBytes(sample.tx())) {}

  bool Ante() { return TheParts().Ante(tx_, &gas_, &context_).ok(); }
  // On the state that the ante chain leaves.
  bool Handle() const {
    return std::all_of(tx_.messages.begin(), tx_.messages.end(),
                       [&](const keeper::sdk::TxMessage& message) {
                         return message.handler->Handle(context_, *message.message).ok();
                       });
  }

 private:
  static keeper::sdk::Tx Start(const Sample& sample) {
    TheParts().StartBlock(*sample.block);
    return *TheParts().Decode(sample.tx());
  }

  keeper::sdk::Tx tx_;
  MultiStore branch_;
  keeper::sdk::GasMeter first_gas_ = keeper::sdk::GasMeter::Infinite();
  keeper::sdk::GasMeter gas_ = keeper::sdk::GasMeter::Infinite();
  keeper::sdk::EventManager events_;
  keeper::sdk::Context context_;
};

// `run(tx, measure)` runs a sample's transaction, and gives the part to be measured to `measure`.
template <typename Run>
void RunParts(benchmark::State& state, const Samples& samples, Run&& run) {
  if (samples.empty()) return state.SkipWithError("no samples");
  keeper::SwitchOff(switched_off);
  size_t next = 0;
  Meter meter(&state);
  for (auto _ : state) {
    UserTx tx(samples[next++ % samples.size()]);
    run(&tx, [&](auto&& part) { meter.Measure(part); });
  }
}

void RunHandlers(benchmark::State& state, const Samples& samples) {
  RunParts(state, samples, [&](UserTx* tx, auto&& measure) {
    if (!tx->Ante()) return state.SkipWithError("the ante failed");
    measure([&] {
      if (!tx->Handle()) state.SkipWithError("the message failed");
    });
  });
}

void RunAnte(benchmark::State& state, const Samples& samples) {
  RunParts(state, samples, [&](UserTx* tx, auto&& measure) {
    measure([&] {
      if (!tx->Ante()) state.SkipWithError("the ante failed");
    });
  });
}

// After another transaction of the block, with nothing written since that the fee depends on.
void RunNextAnte(benchmark::State& state, const Samples& samples) {
  size_t next = 0;
  RunParts(state, samples, [&](UserTx* tx, auto&& measure) {
    UserTx before(samples[next++ % samples.size()]);
    if (!before.Ante()) return state.SkipWithError("the ante failed");
    measure([&] {
      if (!tx->Ante()) state.SkipWithError("the ante failed");
    });
  });
}

void RunDecode(benchmark::State& state, const Samples& samples) {
  size_t next = 0;
  Meter meter(&state);
  for (auto _ : state) {
    const Sample& sample = samples[next++ % samples.size()];
    meter.Measure([&] {
      const keeper::sdk::Result<keeper::sdk::Tx> tx = TheParts().Decode(sample.tx());
      if (!tx.ok()) state.SkipWithError("malformed");
    });
  }
}

// What it would cost to reach a store as the node does: an interface around a context of its own.
class BoxedStores {
 public:
  virtual ~BoxedStores() = default;
  virtual keeper::sdk::KVStore Open(std::string_view name) const = 0;
};
class ContextStores : public BoxedStores {
 public:
  explicit ContextStores(const keeper::sdk::Context& context) : context_(context) {}
  keeper::sdk::KVStore Open(std::string_view name) const override {
    const auto& names = keeper::thorchain::StoreNames();
    const auto found = std::lower_bound(names.begin(), names.end(), name);
    return context_.kv(static_cast<int>(found - names.begin()));
  }

 private:
  keeper::sdk::Context context_;
};

template <bool kBoxed>
void OpenStore(benchmark::State& state) {
  const Sample& sample = TheRecording().by_kind().at("BEGIN").front();
  TheParts().StartBlock(*sample.block);
  MultiStore branch(sample.state);
  keeper::sdk::GasMeter gas = keeper::sdk::GasMeter::Infinite();
  keeper::sdk::EventManager events;
  const keeper::sdk::Context context(&TheParts().block(), &branch, &gas, &events);
  for (auto _ : state) {
    if constexpr (kBoxed) {
      const std::unique_ptr<BoxedStores> stores = std::make_unique<ContextStores>(context);
      benchmark::DoNotOptimize(stores->Open("thorchain"));
    } else {
      benchmark::DoNotOptimize(context.kv(keeper::thorchain::kThorchainStore));
    }
  }
}

// ---- The list ----

using Run = std::function<void(benchmark::State&, const Samples&)>;

void Register(const std::string& name, Samples samples, const Run& run) {
  benchmark::RegisterBenchmark(
      ("BM_" + name).c_str(),
      [samples = std::move(samples), run](benchmark::State& state) { run(state, samples); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

void RegisterPhases(const std::string& name, const Samples& samples) {
  Register(name, samples, [](auto& state, const Samples& of) { RunPhases(state, of, false); });
}

void RegisterSeenPhases(const std::string& name, const Samples& samples) {
  Register(name, samples, [](auto& state, const Samples& of) { RunPhases(state, of, true); });
}

// Nodes collect attestations before they propose them: none of the samples is alone. So these are
// the same messages, each with its first attestation only.
Samples WithOneAttestation(const Samples& samples) {
  static auto* const blocks = new std::vector<std::unique_ptr<v1::Block>>;
  Samples single;
  for (const Sample& sample : samples) {
    ::types::InjectTx envelope;
    keeper::thorchain::MsgObservedTxQuorum message;
    if (!envelope.ParseFromString(sample.tx()) || envelope.messages_size() != 1 ||
        !keeper::thorchain::Decode(envelope.messages(0).value(), &message) || !message.quo_tx ||
        message.quo_tx->attestations.empty()) {
      continue;
    }
    message.quo_tx->attestations.resize(1);
    envelope.mutable_messages(0)->set_value(keeper::thorchain::Encode(message));
    auto block = std::make_unique<v1::Block>();
    block->set_height(sample.block->height());
    *block->mutable_request() = sample.block->request();
    block->mutable_request()->set_txs(sample.tx_index, envelope.SerializeAsString());
    single.push_back({block.get(), sample.tx_index, sample.state});
    blocks->push_back(std::move(block));
  }
  return single;
}

void RegisterAll() {
  const Recording& recording = TheRecording();
  const Samples batch = recording.OfKind("inject:/types.MsgObservedTxQuorum");
  const Samples single = WithOneAttestation(batch);
  for (const auto& [name, samples] : {std::pair{std::string("ObservedTxQuorumSingle"), single},
                                      {std::string("ObservedTxQuorumBatch"), batch}}) {
    RegisterPhases(name, samples);
    RegisterSeenPhases(name + "Seen", samples);
    Register(name + "Signatures", samples, RunSignatures);
  }
  const Samples feeds = recording.OfKind("inject:/types.MsgPriceFeedQuorumBatch");
  RegisterPhases("PriceFeedQuorumBatch", feeds);
  RegisterSeenPhases("PriceFeedQuorumBatchSeen", feeds);
  Register("PriceFeedQuorumBatchSignatures", feeds, RunSignatures);
  RegisterPhases("BeginBlock", recording.OfKind("BEGIN"));
  for (const auto& [name, kind] : std::vector<std::pair<std::string, std::string>>{
           {"TssKeysignFail", "/types.MsgTssKeysignFail"},
           {"BankMsgSend", "/cosmos.bank"},
           {"MsgSend", "/types.MsgSend"},
           {"MsgDeposit", "/types.MsgDeposit"}}) {
    const Samples samples = recording.OfKind(kind);
    RegisterPhases(name, samples);
    Register(name + "Signatures", samples, RunSignatures);
    Register(name + "Ante", samples, RunAnte);
    Register(name + "NextAnte", samples, RunNextAnte);
    Register(name + "Handler", samples, RunHandlers);
  }
  for (const auto& [kind, samples] : recording.by_kind()) {
    if (kind == "BEGIN" || kind.find("(failed)") != std::string::npos) continue;
    std::string name = "Decode/";
    for (const char c : kind) {
      if (c == ' ') continue;
      name += c == '/' ? '.' : c;
    }
    Register(name, samples, RunDecode);
  }
  benchmark::RegisterBenchmark("BM_OpenStore", OpenStore<false>);
  benchmark::RegisterBenchmark("BM_OpenStoreBoxed", OpenStore<true>);
}

}  // namespace

int Main(int argc, char** argv) {
  constexpr std::string_view kDisable = "--disable=";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.rfind(kDisable, 0) == 0) {
      const std::vector<std::string> names =
          absl::StrSplit(argv[i] + kDisable.size(), ',', absl::SkipEmpty());
      switched_off = Get(keeper::ParseOptimisations(names));
    } else {
      argv[kept++] = argv[i];
    }
  }
  RegisterAll();
  return RunBenchmarks(kept, argv);
}

}  // namespace blockreplay::bench

int main(int argc, char** argv) { return blockreplay::bench::Main(argc, argv); }
