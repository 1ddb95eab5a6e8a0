#pragma once

// observed_tx_in/ and observed_tx_out/: what was observed of a transaction, and what came of it.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// With nothing but the hash if there is none.
Result<ObservedTxVoter> GetObservedTxInVoter(const Keeper& k, const Context& ctx, const TxID& hash);
Result<ObservedTxVoter> GetObservedTxOutVoter(const Keeper& k, const Context& ctx,
                                              const TxID& hash);
void SetObservedTxInVoter(const Keeper& k, const Context& ctx, const ObservedTxVoter& voter);
void SetObservedTxOutVoter(const Keeper& k, const Context& ctx, const ObservedTxVoter& voter);

// ---- Without the store ----

// There is no consensus on the transaction yet.
inline bool IsEmpty(const ObservedTx& tx) { return tx.tx.IsEmpty(); }
// Marks the transaction of the consensus. As in the node, not those of single observers.
void SetDone(ObservedTxVoter* voter);

}  // namespace blockreplay::keeper::thorchain
