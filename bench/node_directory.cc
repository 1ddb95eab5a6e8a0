// A node's data directory of any size, made up: what `blockreplay import --home` is measured on.
//
//   node_directory write DIR [KEYS] [BLOCKS]   goleveldb-shaped databases: KEYS keys in the state
//   of
//                                              height 1, then BLOCKS blocks with 150 writes each
//   node_directory scan DIR                    reads every record of its databases once
//
// Both print the CPU seconds that they took. bench/import.sh compares them with an import.
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/recording/sha256.h"
#include "replay/verify/header_hash.h"
#include "replay/verify/results_hash.h"
#include "storage/kv/read_only.h"
#include "storage/kv/rocksdb_engine.h"
#include "storage/multistore/multistore.h"
#include "tendermint/abci/types.pb.h"
#include "tendermint/state/types.pb.h"
#include "tendermint/store/types.pb.h"
#include "tendermint/types/block.pb.h"

namespace blockreplay {
namespace {

namespace fs = std::filesystem;

constexpr int kStores = 5;
constexpr int kUpdates = 120;
constexpr int kInserts = 20;
constexpr int kDeletes = 10;
constexpr int kTxs = 10;
constexpr size_t kPartBytes = size_t{64} << 10;
constexpr const char* kDatabases[] = {"application.db", "blockstore.db", "state.db"};

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}
void Check(const leveldb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}
template <typename T>
T Value(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

std::string Raw(const std::array<uint8_t, 32>& hash) { return {hash.begin(), hash.end()}; }

class LevelDb {
 public:
  explicit LevelDb(const std::string& path) {
    leveldb::Options options;
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.write_buffer_size = size_t{16} << 20;
    leveldb::DB* db = nullptr;
    Check(leveldb::DB::Open(options, path, &db));
    db_.reset(db);
  }
  void Put(const std::string& key, const std::string& value) { Check(db_->Put({}, key, value)); }
  void Put(std::string_view key, std::string_view value) {
    Check(db_->Put({}, {key.data(), key.size()}, {value.data(), value.size()}));
  }

 private:
  std::unique_ptr<leveldb::DB> db_;
};

// The state: keys are numbered, and a number says the store and the bytes of the key.
class State {
 public:
  State(const std::string& path, int64_t keys) : keys_(static_cast<uint64_t>(keys)) {
    storage::RocksDbOptions options;
    options.memory_budget_bytes = size_t{256} << 20;
    engine_ = Value(storage::RocksDbEngine::Open(path, options));
    storage::MultistoreOptions multistore;
    for (int i = 0; i < kStores; ++i) multistore.stores.push_back({absl::StrCat("store", i)});
    multistore.persistence = storage::Persistence::kEvery;
    multistore.threads = 2;
    multistore.cache_bytes = size_t{1} << 30;
    stores_ = Value(storage::Multistore::Open(engine_.get(), multistore));
    for (uint64_t key = 0; key < keys_; ++key) Set(key);
    Flush();
  }

  void WriteBlock() {
    for (int i = 0; i < kUpdates; ++i) Set(random_() % keys_);
    for (int i = 0; i < kInserts; ++i) Set(keys_++);
    for (int i = 0; i < kDeletes; ++i) {
      const uint64_t key = random_() % keys_;
      block_[StoreOf(key)][KeyOf(key)] = std::nullopt;
    }
    Flush();
  }
  std::string Commit(const storage::BlockTime& time) {
    Check(stores_->WorkingCommit(time).status());
    Check(stores_->Commit());
    return Raw(stores_->app_hash());
  }
  void CopyTo(LevelDb* db) {
    Check(stores_->Close());
    const auto it = engine_->NewIterator(storage::KeyRange::All(), storage::Direction::kForward);
    for (; it->Valid(); it->Next()) db->Put(it->key(), it->value());
    Check(it->status());
  }

 private:
  // Spread over the tree, as hashes and addresses are.
  static std::string KeyOf(uint64_t number) {
    const replay::Sha256Digest digest = replay::Sha256Of(absl::StrCat(number));
    return std::string(digest.begin(), digest.begin() + 24);
  }
  storage::Store* StoreOf(uint64_t number) {
    return stores_->store(absl::StrCat("store", number % kStores));
  }
  // As a node's branch is flushed: keys ascending, which decides the shape of the trees.
  void Flush() {
    for (const auto& [store, writes] : block_) {
      for (const auto& [key, value] : writes) {
        Check(value ? store->Set(key, *value) : store->Delete(key));
      }
    }
    block_.clear();
  }
  void Set(uint64_t number) {
    std::string value(60 + random_() % 80, '\0');
    for (char& c : value) c = static_cast<char>(random_() % 64);
    block_[StoreOf(number)][KeyOf(number)] = std::move(value);
  }

  uint64_t keys_;
  std::map<storage::Store*, std::map<std::string, std::optional<std::string>>> block_;
  std::mt19937_64 random_{1};
  std::unique_ptr<storage::RocksDbEngine> engine_;
  std::unique_ptr<storage::Multistore> stores_;
};

// The chain: one validator, who signs everything.
class Chain {
 public:
  explicit Chain(const std::string& dir)
      : blocks_(dir + "/blockstore.db"), states_(dir + "/state.db") {
    tendermint::state::ValidatorsInfo info;
    auto* validator = info.mutable_validator_set()->add_validators();
    validator->set_address(std::string(20, 'v'));
    validator->set_voting_power(10);
    info.set_last_height_changed(1);
    states_.Put("validatorsKey:1", info.SerializeAsString());
    info.clear_validator_set();
    without_set_ = info.SerializeAsString();
  }

  static storage::BlockTime TimeOf(int64_t height) { return {1'700'000'000 + 6 * height, 0}; }

  // The block that leads to `app_hash`.
  void Add(int64_t height, const std::string& app_hash) {
    tendermint::types::Block block;
    tendermint::abci::RequestFinalizeBlock request;
    tendermint::abci::ResponseFinalizeBlock response;
    for (int i = 0; i < kTxs; ++i) {
      const std::string tx = absl::StrCat(height, "/", i, std::string(300, 't'));
      block.mutable_data()->add_txs(tx);
      request.add_txs(tx);
      auto* result = response.add_tx_results();
      result->set_gas_wanted(100'000);
      result->set_gas_used(50'000 + i);
      result->add_events()->set_type(std::string(200, 'e'));
    }
    response.set_app_hash(app_hash);
    block.mutable_evidence();
    if (height > 1) {
      auto* signature = block.mutable_last_commit()->add_signatures();
      signature->set_block_id_flag(tendermint::types::BLOCK_ID_FLAG_COMMIT);
      signature->set_validator_address(std::string(20, 'v'));
    }
    auto* header = block.mutable_header();
    header->set_chain_id("synthetic-1");
    header->set_height(height);
    header->mutable_time()->set_seconds(TimeOf(height).seconds);
    header->set_data_hash(Raw(replay::DataHash(request.txs())));
    header->set_app_hash(last_app_hash_);
    header->set_last_results_hash(last_results_hash_);
    last_app_hash_ = app_hash;
    last_results_hash_ = Raw(replay::ResultsHash(response));

    const std::string bytes = block.SerializeAsString();
    tendermint::types::BlockMeta meta;
    *meta.mutable_header() = *header;
    meta.mutable_block_id()->set_hash(Raw(replay::HeaderHash(*header)));
    uint32_t parts = 0;
    for (size_t offset = 0; offset < bytes.size(); offset += kPartBytes) {
      tendermint::types::Part part;
      part.set_index(parts);
      part.set_bytes(bytes.substr(offset, kPartBytes));
      blocks_.Put(absl::StrCat("P:", height, ":", parts++), part.SerializeAsString());
    }
    meta.mutable_block_id()->mutable_part_set_header()->set_total(parts);
    blocks_.Put(absl::StrCat("H:", height), meta.SerializeAsString());
    states_.Put(absl::StrCat("abciResponsesKey:", height), response.SerializeAsString());
    if (height > 1) states_.Put(absl::StrCat("validatorsKey:", height), without_set_);
    last_height_ = height;
  }

  void Finish() {
    tendermint::store::BlockStoreState store;
    store.set_base(1);
    store.set_height(last_height_);
    blocks_.Put("blockStore", store.SerializeAsString());
    tendermint::state::State state;
    state.mutable_version()->set_software("0.38.0");
    state.set_chain_id("synthetic-1");
    state.set_initial_height(1);
    state.set_last_block_height(last_height_);
    states_.Put("stateKey", state.SerializeAsString());
  }

 private:
  LevelDb blocks_;
  LevelDb states_;
  std::string without_set_;
  std::string last_app_hash_;
  std::string last_results_hash_;
  int64_t last_height_ = 0;
};

void Write(const std::string& dir, int64_t keys, int64_t blocks) {
  fs::create_directories(dir);
  const std::string scratch = dir + "/scratch";
  {
    State state(scratch, keys);
    Chain chain(dir);
    chain.Add(1, state.Commit(Chain::TimeOf(1)));
    for (int64_t height = 2; height <= blocks + 1; ++height) {
      state.WriteBlock();
      chain.Add(height, state.Commit(Chain::TimeOf(height)));
    }
    chain.Finish();
    LevelDb application(dir + "/application.db");
    state.CopyTo(&application);
  }
  fs::remove_all(scratch);
}

void Scan(const std::string& dir) {
  for (const char* name : kDatabases) {
    const auto db = Value(storage::OpenReadOnly(absl::StrCat(dir, "/", name)));
    const auto it = db->NewIterator(storage::KeyRange::All(), storage::Direction::kForward);
    uint64_t records = 0;
    uint64_t bytes = 0;
    for (; it->Valid(); it->Next()) {
      ++records;
      bytes += it->key().size() + it->value().size();
    }
    Check(it->status());
    std::printf("%s: %llu records, %llu bytes\n", name, static_cast<unsigned long long>(records),
                static_cast<unsigned long long>(bytes));
  }
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace
}  // namespace blockreplay

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "write") {
    blockreplay::Write(arguments[1],
                       arguments.size() > 2 ? std::atoll(arguments[2].c_str()) : 1'000'000,
                       arguments.size() > 3 ? std::atoll(arguments[3].c_str()) : 2'000);
  } else if (arguments.size() == 2 && arguments[0] == "scan") {
    blockreplay::Scan(arguments[1]);
  } else {
    std::fprintf(stderr, "usage: node_directory write DIR [KEYS] [BLOCKS] | scan DIR\n");
    return 1;
  }
  std::printf("CPU %.2f s\n", blockreplay::CpuSeconds());
  return 0;
}
