#include "keeper/thorchain/managers/refund.h"

namespace blockreplay::keeper::thorchain {

Error RefundTx(Managers&, const Context&, const ObservedTx&, uint32_t, std::string,
               std::string_view) {
  throw sdk::NotNative("refund");
}
void CleanUpUnrefundableCoin(Managers&, const Context&, const TxOutItem&) {
  throw sdk::NotNative("refund");
}

}  // namespace blockreplay::keeper::thorchain
