#include "keeper/thorchain/managers/txout.h"

namespace blockreplay::keeper::thorchain {

Result<bool> TryAddTxOutItem(Managers&, const Context&, TxOutItem, const Uint&) {
  throw sdk::NotNative("txout");
}
Error UnsafeAddTxOutItem(Managers&, const Context&, TxOutItem, int64_t) {
  throw sdk::NotNative("txout");
}
std::pair<int64_t, Uint> CalcTxOutHeight(Managers&, const Context&, const TxOutItem&) {
  throw sdk::NotNative("txout");
}
std::pair<std::vector<TxOutItem>, Uint> DiscoverOutbounds(Managers&, const Context&, const Uint&,
                                                          const Coin&, TxOutItem,
                                                          std::vector<Vault>) {
  throw sdk::NotNative("txout");
}
std::string_view GetModuleName(const TxOutItem&) { throw sdk::NotNative("txout"); }

}  // namespace blockreplay::keeper::thorchain
