#include "keeper/thorchain/handlers/deposit.h"

namespace blockreplay::keeper::thorchain {

Error ValidateDeposit(Managers&, const Context&, const MsgDeposit&) {
  throw sdk::NotNative("deposits");
}

Error RunDeposit(Managers&, const Context&, const MsgDeposit&) { throw sdk::NotNative("deposits"); }

}  // namespace blockreplay::keeper::thorchain
