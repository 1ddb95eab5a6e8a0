#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/sdk/event.h"
#include "keeper/sdk/gas.h"
#include "keeper/sdk/store.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::keeper::sdk {

// What is the same for all of a block.
struct BlockInfo {
  std::string chain_id;
  int64_t height = 0;
  // Header time, seconds and nanoseconds since the epoch.
  int64_t time_seconds = 0;
  int32_t time_nanos = 0;
  const tendermint::abci::RequestFinalizeBlock* request = nullptr;
};

// What a state transition gets: where it is, what it may read and write, who counts and who
// listens. A small value; the With… functions return a changed copy. Everything pointed to outlives
// the copies.
class Context {
 public:
  Context(const BlockInfo* block, MultiStore* stores, GasMeter* gas_meter, EventManager* events)
      : block_(block), stores_(stores), gas_meter_(gas_meter), events_(events) {}

  const BlockInfo& block() const { return *block_; }
  int64_t height() const { return block_->height; }

  KVStore kv(StoreId id) const { return KVStore(&stores_->store(id), gas_meter_); }
  MultiStore* stores() const { return stores_; }
  GasMeter& gas_meter() const { return *gas_meter_; }
  EventManager& events() const { return *events_; }

  // Bytes of the transaction being executed; empty outside of one.
  std::string_view tx_bytes() const { return tx_bytes_; }
  // Memo of the transaction; null where the ante chain set none (injected transactions, begin and
  // end block).
  const std::string* tx_memo() const { return tx_memo_; }

  Context WithStores(MultiStore* stores) const { return With(&Context::stores_, stores); }
  Context WithGasMeter(GasMeter* meter) const { return With(&Context::gas_meter_, meter); }
  Context WithEvents(EventManager* events) const { return With(&Context::events_, events); }
  Context WithTxBytes(std::string_view bytes) const { return With(&Context::tx_bytes_, bytes); }
  Context WithTxMemo(const std::string* memo) const { return With(&Context::tx_memo_, memo); }
  Context WithBlock(const BlockInfo* block) const { return With(&Context::block_, block); }

 private:
  template <typename T>
  Context With(T Context::* member, T value) const {
    Context copy = *this;
    copy.*member = value;
    return copy;
  }

  const BlockInfo* block_;
  MultiStore* stores_;
  GasMeter* gas_meter_;
  EventManager* events_;
  std::string_view tx_bytes_;
  const std::string* tx_memo_ = nullptr;
};

// sdk.Context.CacheContext: a branch with its own events. Commit passes both on; without it they
// are forgotten. Gas is counted on the parent's meter either way.
class CacheContext {
 public:
  explicit CacheContext(const Context& parent)
      : parent_(parent),
        stores_(parent.stores()),
        context_(parent.WithStores(&stores_).WithEvents(&events_)) {}
  CacheContext(const CacheContext&) = delete;
  CacheContext& operator=(const CacheContext&) = delete;

  const Context& context() const { return context_; }
  void Commit() {
    parent_.events().Emit(events_.Take());
    stores_.Write();
  }

 private:
  Context parent_;
  MultiStore stores_;
  EventManager events_;
  Context context_;
};

}  // namespace blockreplay::keeper::sdk
