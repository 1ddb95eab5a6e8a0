#include "keeper/thorchain/handlers/asset_accounts.h"

#include <utility>

#include "keeper/thorchain/managers/txout.h"
#include "keeper/thorchain/multi_error.h"

namespace blockreplay::keeper::thorchain {

Error SendOut(Managers& mgr, const Context& ctx, const Coin& coin, const Address& to,
              const TxID& tx_id) {
  TxOutItem item;
  item.chain = coin.asset.GetChain();
  item.in_hash = tx_id;
  item.to_address = to;
  item.coin = coin;
  const Result<bool> added = TryAddTxOutItem(mgr, ctx, std::move(item), Uint());
  if (!added.ok()) return MultiError(Error(kErrFailAddOutboundTx), added.error());
  return *added ? Error() : Error(kErrFailAddOutboundTx);
}

}  // namespace blockreplay::keeper::thorchain
