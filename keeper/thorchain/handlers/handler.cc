#include "keeper/thorchain/handlers/handler.h"

#include "keeper/thorchain/state/funds.h"

namespace blockreplay::keeper::thorchain {

Error DeductFeeAnte(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  return DeductNativeTxFee(k, ctx, signer);
}

bool IsValidAccAddress(const AccAddress& address) {
  const size_t size = address.bytes().size();
  return size == AccAddress::kAccountSize || size == AccAddress::kContractSize;
}

}  // namespace blockreplay::keeper::thorchain
