#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "keeper/gno/check_memo.h"
#include "keeper/gno/scratch.h"
#include "keeper/gno/signature_batch.h"
#include "keeper/gno/signature_cache.h"
#include "keeper/gno/state.h"
#include "keeper/gno/tx_runner.h"
#include "keeper/sdk/store.h"

namespace blockreplay::keeper::gno {

// Writes of checked transactions over the last committed state.
class CheckState final : public BlockState {
 public:
  // Forgets everything and reads from `base` from now on.
  void Reset(sdk::BaseStore* base);

  std::optional<std::string_view> Get(std::string_view key) override;
  void Set(std::string_view key, std::string_view value) override;
  void Delete(std::string_view key) override;
  void ForEachWithPrefix(
      std::string_view prefix,
      const std::function<void(std::string_view, std::string_view)>& visit) override;

 private:
  struct Value {
    char* data = nullptr;
    size_t size = 0;
    size_t capacity = 0;
    bool exists = false;
  };
  Value* Slot(std::string_view key);

  sdk::BaseStore* base_ = nullptr;
  Scratch memory_;
  absl::flat_hash_map<std::string_view, Value> written_;
};

struct CheckOptions {
  TxRules rules = {};
  // Decode parameters once per height.
  bool memo_params = true;
  // Take the fee collector from there as well. Only with memo_params.
  bool memo_fee_collector = true;
  // Signatures to remember, 0: verify each time. SignatureCache says why a node may do it.
  size_t signature_cache = 0;
};

// The header of the last committed block, and what else CheckTx depends on.
struct CommittedBlock {
  std::string chain_id = {};
  int64_t height = 0;
  int64_t time = 0;  // seconds since the epoch
  int64_t max_gas = -1;
  int64_t keys = 0;  // in the main store
};

// CheckTx and its siblings on the state of the last commit: a node's mempool connection. Not
// thread-safe.
class Checker {
 public:
  // `workers`, if not null, verify the signatures of announced transactions; must outlive it.
  explicit Checker(const CheckOptions& options, storage::WorkerPool* workers = nullptr);

  // A block was committed: `main` is the main store as it is now, and stays so until the next call.
  // What earlier checks wrote is forgotten.
  void Committed(const CommittedBlock& block, sdk::BaseStore* main);

  // The next checks are of these, in this order, as a hint. They must live until then.
  void Announce(const std::vector<std::string_view>& txs);

  // CheckTx; a recheck is the same. Fee and sequence of a transaction that passes are visible to
  // later ones until the next commit.
  TxResult Check(std::string_view tx);
  // On the committed state alone; sees and leaves nothing.
  TxResult Simulate(std::string_view tx);

 private:
  TxEnvironment Environment(Mode mode);

  const CheckOptions options_;
  TxRunner runner_;
  CheckMemo memo_;
  std::optional<SignatureCache> signatures_;
  std::optional<SignatureBatch> batch_;  // with workers
  std::vector<std::string_view> announced_;
  size_t next_announced_ = 0;
  size_t batch_end_ = 0;  // of the announced ones, what is prepared
  CommittedBlock block_;
  sdk::BaseStore* main_ = nullptr;
  CheckState state_;
  // All checks since the last commit count on one meter.
  GasMeter meter_ = GasMeter::Infinite();
};

}  // namespace blockreplay::keeper::gno
