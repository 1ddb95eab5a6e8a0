#pragma once

// The state that a transaction of tm2 works on: a cache of its own over the state of its block,
// with the gas that each access costs (tm2/pkg/store/cache).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/gno/gas.h"
#include "keeper/gno/scratch.h"
#include "keeper/sdk/store.h"

namespace blockreplay::keeper::gno {

// What a transaction's cache reads from and flushes to. Views that it hands out stay valid until
// the flush after the next one.
class BlockState {
 public:
  virtual ~BlockState() = default;
  virtual std::optional<std::string_view> Get(std::string_view key) = 0;
  virtual void Set(std::string_view key, std::string_view value) = 0;
  virtual void Delete(std::string_view key) = 0;
  // All keys with the prefix, ascending.
  virtual void ForEachWithPrefix(
      std::string_view prefix,
      const std::function<void(std::string_view key, std::string_view value)>& visit) = 0;
};

// The state of a block that is replayed: a store of its branch.
class BranchState final : public BlockState {
 public:
  explicit BranchState(sdk::StoreBranch* branch) : branch_(branch) {}
  std::optional<std::string_view> Get(std::string_view key) override { return branch_->Get(key); }
  void Set(std::string_view key, std::string_view value) override { branch_->Set(key, value); }
  void Delete(std::string_view key) override { branch_->Delete(key); }
  void ForEachWithPrefix(
      std::string_view prefix,
      const std::function<void(std::string_view, std::string_view)>& visit) override;

 private:
  sdk::StoreBranch* const branch_;
};

// Who pays for an access; without a meter it is free.
struct Payer {
  GasMeter* meter = nullptr;
  StoreCosts costs;
};

class TxState {
 public:
  // Keys and values live in `scratch` or in the state below.
  explicit TxState(Scratch* scratch) : scratch_(scratch) {}

  // Begins a transaction on `below`.
  void Reset(BlockState* below);

  std::optional<std::string_view> Get(std::string_view key, const Payer& payer);
  // The value must be in the scratch memory.
  void Set(std::string_view key, std::string_view value, const Payer& payer);
  void Delete(std::string_view key, const Payer& payer);
  // Ascending; false from `visit` ends it.
  void ForEachWithPrefix(std::string_view prefix, const Payer& payer,
                         const std::function<bool(std::string_view, std::string_view)>& visit);

  // What is written from here on can be given up.
  void Checkpoint();
  void RevertToCheckpoint();
  // Copies the writes to the state below.
  void Flush();
  // The same, and goes on with nothing in the cache: what is read next comes from below.
  void FlushAndForget();

 private:
  struct Entry {
    std::string_view key;
    std::string_view value;
    int64_t charged = 0;  // for the last write
    bool exists = false;
    bool dirty = false;
  };
  struct Undo {
    size_t index;
    Entry entry;
  };

  Entry* Find(std::string_view key);
  Entry* Write(std::string_view key, int64_t gas, const Payer& payer);

  Scratch* const scratch_;
  BlockState* below_ = nullptr;
  // A transaction touches a few keys, so that looking at all of them beats hashing.
  std::vector<Entry> entries_;
  std::vector<Undo> undo_;
  size_t checkpoint_ = 0;
  bool has_checkpoint_ = false;
};

}  // namespace blockreplay::keeper::gno
