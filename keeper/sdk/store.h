#pragma once

// Branches of a multistore: what a block, a transaction's ante chain, its messages and cached
// contexts write to.
//
//   MultiStore (block) <- MultiStore (transaction) <- MultiStore (cached context) ...
//
// The root of the chain is a BaseStore per store name: the committed state. Nothing is ever written
// to it. A branch holds the last operation per key, in key order, and `Write` moves them into its
// parent (cosmossdk.io/store v1.1, cachekv and cachemulti). Sets of unchanged values and deletes of
// absent keys are operations like any other.
//
// Not thread-safe: one block executes on one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "keeper/sdk/arena.h"
#include "keeper/sdk/gas.h"
#include "storage/kv/store.h"

namespace blockreplay::keeper::sdk {

// Index of a store in its chain's list of store names.
using StoreId = int;

// One store of the state below the branches. Views stay valid for the object's life.
class BaseStore {
 public:
  virtual ~BaseStore() = default;
  virtual std::optional<std::string_view> Get(std::string_view key) = 0;
  virtual bool Has(std::string_view key) { return Get(key).has_value(); }
  virtual std::unique_ptr<storage::Iterator> NewIterator(const storage::KeyRange& range,
                                                         storage::Direction direction) = 0;
};

// Thrown when the state cannot be read; leaves the keeper unit as the status in it.
class StorageFailure {
 public:
  explicit StorageFailure(absl::Status status) : status_(std::move(status)) {}
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

// A BaseStore over any storage::Reader. Remembers what it read, so make a new one when the reader's
// content changes.
class ReaderStore : public BaseStore {
 public:
  explicit ReaderStore(const storage::Reader* reader) : reader_(reader) {}
  std::optional<std::string_view> Get(std::string_view key) override;
  std::unique_ptr<storage::Iterator> NewIterator(const storage::KeyRange& range,
                                                 storage::Direction direction) override;

 private:
  const storage::Reader* reader_;
  Arena arena_;
  absl::flat_hash_map<std::string_view, std::optional<std::string_view>> read_;
  std::string buffer_;
};

class StoreBranch;

// Tells what a branch and those below it hold in a range of keys, without looking at it: equal
// stamps, equal keys and values, whenever and through whichever branch they were taken. The reverse
// doesn't hold.
using RangeStamp = absl::InlinedVector<uint64_t, 8>;

// Merges the branches of a chain and the base at the time of its creation: later writes are not
// seen, as with the SDK's iterators. Key and value are valid until Next.
class StoreIterator {
 public:
  StoreIterator(StoreIterator&&) noexcept;
  StoreIterator& operator=(StoreIterator&&) noexcept;
  ~StoreIterator();

  bool Valid() const { return valid_; }
  void Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  friend class StoreBranch;
  struct Entry {
    std::string_view key;
    std::string_view value;
    bool deleted;
  };
  struct Layer {
    std::vector<Entry> entries;
    size_t position = 0;
  };
  StoreIterator(storage::Direction direction);
  void Settle();

  storage::Direction direction_;
  std::unique_ptr<storage::Iterator> base_;
  std::vector<Layer> layers_;  // newest first
  bool from_base_ = false;
  bool valid_ = false;
  std::string_view key_;
  std::string_view value_;
};

// One store of a branch.
class StoreBranch {
 public:
  struct Operation {
    std::string_view value;
    bool deleted;
  };

  std::optional<std::string_view> Get(std::string_view key) const;
  bool Has(std::string_view key) const;
  void Set(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  StoreIterator NewIterator(const storage::KeyRange& range, storage::Direction direction) const;

  // Costs a search in each branch, and as much as it has operations in the range.
  RangeStamp StampOf(const storage::KeyRange& range) const;

  // Last operation per key, ascending.
  const absl::btree_map<std::string_view, Operation>& operations() const { return operations_; }

 private:
  friend class MultiStore;
  StoreBranch* parent_ = nullptr;
  BaseStore* base_ = nullptr;  // of the root branch only
  Arena* arena_ = nullptr;
  // Of the MultiStore, different from that of any other in this process.
  uint64_t identity_ = 0;
  absl::btree_map<std::string_view, Operation> operations_;
};

class MultiStore {
 public:
  // The branch right above the state. `stores` by StoreId; they must outlive it, and stay as they
  // are meanwhile.
  explicit MultiStore(const std::vector<BaseStore*>& stores);
  // A branch of `parent`, which must outlive it and must not be written meanwhile, except through
  // Write.
  explicit MultiStore(MultiStore* parent);
  MultiStore(const MultiStore&) = delete;
  MultiStore& operator=(const MultiStore&) = delete;

  StoreBranch& store(StoreId id) { return stores_[static_cast<size_t>(id)]; }
  const StoreBranch& store(StoreId id) const { return stores_[static_cast<size_t>(id)]; }
  size_t size() const { return stores_.size(); }

  // Moves all operations to the parent and empties this branch. Views read through it stay valid
  // with the parent.
  void Write();
  // Forgets all operations.
  void Discard();

 private:
  MultiStore* parent_ = nullptr;
  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
  std::vector<StoreBranch> stores_;
};

// A store as state transitions see it: each access is paid for (cosmossdk.io/store v1.1, gaskv). A
// handle of two pointers; pass by value. Values are views that live as long as the block's branch.
class GasIterator {
 public:
  GasIterator(StoreIterator iterator, GasMeter* meter);
  bool Valid() const { return iterator_.Valid(); }
  void Next();
  std::string_view key() const { return iterator_.key(); }
  std::string_view value() const { return iterator_.value(); }

 private:
  void ConsumeSeek();
  StoreIterator iterator_;
  GasMeter* meter_;
};

class KVStore {
 public:
  KVStore(StoreBranch* branch, GasMeter* meter) : branch_(branch), meter_(meter) {}

  std::optional<std::string_view> Get(std::string_view key) const {
    meter_->Consume(kReadCostFlat, "ReadFlat");
    const std::optional<std::string_view> value = branch_->Get(key);
    meter_->Consume(kReadCostPerByte * key.size(), "ReadPerByte");
    meter_->Consume(value ? kReadCostPerByte * value->size() : 0, "ReadPerByte");
    return value;
  }
  bool Has(std::string_view key) const {
    meter_->Consume(kHasCost, "Has");
    return branch_->Has(key);
  }
  // Has and, if the key is there, Get, at the price of both, with one search.
  std::optional<std::string_view> GetIfHas(std::string_view key) const {
    const std::optional<std::string_view> value = branch_->Get(key);
    PayForGetIfHas(key.size(), value ? std::optional(value->size()) : std::nullopt);
    return value;
  }
  // For who knows already what is there: the size of the key's value, or that it has none.
  void PayForGetIfHas(size_t key_size, std::optional<size_t> value_size) const {
    meter_->Consume(kHasCost, "Has");
    if (!value_size) return;
    meter_->Consume(kReadCostFlat, "ReadFlat");
    meter_->Consume(kReadCostPerByte * key_size, "ReadPerByte");
    meter_->Consume(kReadCostPerByte * *value_size, "ReadPerByte");
  }
  void Set(std::string_view key, std::string_view value) const {
    if (key.empty()) throw Panic("key is nil or empty");
    meter_->Consume(kWriteCostFlat, "WriteFlat");
    meter_->Consume(kWriteCostPerByte * key.size(), "WritePerByte");
    meter_->Consume(kWriteCostPerByte * value.size(), "WritePerByte");
    branch_->Set(key, value);
  }
  void Delete(std::string_view key) const {
    meter_->Consume(kDeleteCost, "Delete");
    branch_->Delete(key);
  }
  GasIterator Iterate(const storage::KeyRange& range,
                      storage::Direction direction = storage::Direction::kForward) const {
    return GasIterator(branch_->NewIterator(range, direction), meter_);
  }
  // Without paying: for who pays for what the original does instead.
  StoreIterator IterateFree(const storage::KeyRange& range) const {
    return branch_->NewIterator(range, storage::Direction::kForward);
  }
  GasIterator IteratePrefix(std::string_view prefix,
                            storage::Direction direction = storage::Direction::kForward) const {
    return Iterate(storage::KeyRange::Prefix(prefix), direction);
  }

 private:
  StoreBranch* branch_;
  GasMeter* meter_;
};

}  // namespace blockreplay::keeper::sdk
