#pragma once

#include <string_view>

#include "keeper/chain.h"
#include "keeper/sdk/context.h"
#include "keeper/sdk/tx.h"

namespace blockreplay::keeper::sdk {

// What a chain adds to the way that transactions run.
class TxApplication {
 public:
  virtual ~TxApplication() = default;
  virtual Result<Tx> Decode(std::string_view bytes) const = 0;
  // The ante chain. `*context` comes with a fresh branch and fresh events; afterwards it is the
  // context that the chain returned, also in case of an error, as its gas meter counts. `tx_meter`
  // is a place for the transaction's own.
  virtual Error Ante(const Tx& tx, GasMeter* tx_meter, Context* context) const = 0;
};

// Runs transactions as cosmos-sdk v0.53 baseapp does. The ante chain has a branch of its own whose
// writes stay if it succeeds; the messages share one whose writes stay if all succeed. What throws
// or fails becomes code and codespace.
class TxRunner {
 public:
  TxRunner(const TxApplication* application, AddressCodec* addresses, StoreId consensus_store)
      : application_(application), addresses_(addresses), consensus_store_(consensus_store) {}

  // Throws NotNative and StorageFailure only.
  PhaseResult Run(std::string_view tx, const BlockInfo& block, MultiStore* state) const;

 private:
  Error RunMessages(const Tx& tx, const Context& context, Events* events, std::string* data) const;

  const TxApplication* application_;
  AddressCodec* addresses_;
  StoreId consensus_store_;
};

}  // namespace blockreplay::keeper::sdk
