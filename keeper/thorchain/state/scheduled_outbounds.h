#pragma once

// The outbounds of hundreds of heights next to each other, and what they are worth: what is looked
// through before one more is scheduled.

#include <cstdint>
#include <optional>
#include <vector>

#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/tx_outs.h"

namespace blockreplay::keeper::thorchain {

// In RUNE: amounts with the gas they may take, and the clout spent on them.
struct TxOutValue {
  Uint value;
  Uint clout;
};
TxOutValue GetItemsValue(const Keeper& k, const Context& ctx, const TxOutItems& items);

// Reading costs what the original pays, which searches for each height, and for each pool at each
// height. Here there is one walk over the keys of the heights, and one search for each pool. So
// neither outbounds nor pools may be written while it is in use.
class ScheduledOutbounds {
 public:
  // From height `first` to `last`.
  ScheduledOutbounds(const Keeper& k, const Context& ctx, int64_t first, int64_t last);

  // As ReadTxOut. Heights outside of the range are searched for.
  Result<SharedTxOut> At(int64_t height) const;
  Result<TxOutValue> ValueAt(int64_t height);
  // What the items are worth at the prices of the pools.
  TxOutValue ValueOf(const TxOutItems& items);

 private:
  struct Stored {
    SharedTxOut record;  // null: malformed
    size_t key_size;
    size_t value_size;
  };
  struct KnownPool {
    Asset asset;
    SharedPool pool;
    sdk::Gas gas;
    bool is_paid;  // by this valuation
  };

  void Walk(int64_t first, int64_t last);
  SharedPool PoolOf(const Asset& asset);

  const Keeper& k_;
  const Context& ctx_;
  const bool in_one_walk_;
  const int64_t first_;
  std::vector<std::optional<Stored>> heights_;  // from first_ on
  std::vector<KnownPool> pools_;
};

// Unsigned items of the asset, waiting or scheduled.
TxOutItems GetPendingOutbounds(const Keeper& k, const Context& ctx, const Asset& asset);

}  // namespace blockreplay::keeper::thorchain
