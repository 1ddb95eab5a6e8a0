#include "keeper/thorchain/state/network_fees.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kNetworkFeePrefix = "network_fee/";

std::string NetworkFeeKey(const Chain& chain) {
  return StoreKey(kNetworkFeePrefix, chain.ToString());
}

}  // namespace

Result<NetworkFee> GetNetworkFee(const Keeper& k, const Context& ctx, const Chain& chain) {
  NetworkFee fee;
  const Result<bool> found = GetRecord(k, ctx, NetworkFeeKey(chain), &fee);
  if (!found.ok()) return found.error();
  if (!*found) fee.chain = chain;
  return fee;
}

Error SaveNetworkFee(const Keeper& k, const Context& ctx, const Chain& chain,
                     const NetworkFee& fee) {
  KEEPER_RETURN_IF_ERROR(CheckNetworkFee(fee));
  SetRecord(k, ctx, NetworkFeeKey(chain), fee);
  return {};
}

Error CheckNetworkFee(const NetworkFee& fee) {
  if (fee.chain.IsEmpty()) return Error::New("chain can't be empty");
  if (fee.transaction_size == 0) {
    return Error::New("transaction size can't be zero or negative: 0");
  }
  if (fee.transaction_fee_rate == 0) return Error::New("transaction fee rate can't be zero");
  return {};
}

}  // namespace blockreplay::keeper::thorchain
