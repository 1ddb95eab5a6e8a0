#include "keeper/thorchain/managers/gas.h"

namespace blockreplay::keeper::thorchain {

Result<Uint> GetAssetOutboundFee(const Keeper&, const Context&, const Asset&, bool) {
  throw sdk::NotNative("gas");
}
Result<GasDetails> GetGasDetails(const Keeper&, const Context&, const Chain&) {
  throw sdk::NotNative("gas");
}
void AddGasAsset(Managers&, const Asset&, const Gas&, bool) { throw sdk::NotNative("gas"); }

}  // namespace blockreplay::keeper::thorchain
