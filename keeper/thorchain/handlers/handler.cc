#include "keeper/thorchain/handlers/handler.h"

#include "keeper/thorchain/state/funds.h"

namespace blockreplay::keeper::thorchain {

Error DeductFeeAnte(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  return DeductNativeTxFee(k, ctx, signer);
}

bool IsValidAccAddress(const AccAddress& address) {
  return address.bytes().size() == 20 || address.bytes().size() == 32;
}

}  // namespace blockreplay::keeper::thorchain
