#pragma once

#include "keeper/sdk/tx.h"
#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// The ante chain of THORChain's application (app/ante.go), from its first decorator to its last.
// `tx_meter` becomes the transaction's gas meter, except for injected transactions.
Error RunAnte(const Keeper& k, const sdk::Tx& tx, sdk::GasMeter* tx_meter, Context* ctx);

}  // namespace blockreplay::keeper::thorchain
