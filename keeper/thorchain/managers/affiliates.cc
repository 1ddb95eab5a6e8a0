#include "keeper/thorchain/managers/affiliates.h"

namespace blockreplay::keeper::thorchain {

Result<Uint> SkimAffiliateFees(Managers&, const Context&, const Tx&, const AccAddress&, const Coin&,
                               std::string_view) {
  throw sdk::NotNative("affiliates");
}

}  // namespace blockreplay::keeper::thorchain
