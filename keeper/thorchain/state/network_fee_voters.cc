#include "keeper/thorchain/state/network_fee_voters.h"

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(const ObservedNetworkFeeVoter& voter) {
  return StoreKey("network_fee_voter/",
                  sdk::StrCat(voter.chain.ToString(), "-", voter.report_block_height, "-",
                              voter.fee_rate, "-", voter.transaction_size));
}

}  // namespace

Result<ObservedNetworkFeeVoter> GetNetworkFeeVoter(const Keeper& k, const Context& ctx,
                                                   int64_t height, const Chain& chain, int64_t rate,
                                                   int64_t size) {
  ObservedNetworkFeeVoter voter;
  voter.report_block_height = height;
  voter.chain = chain;
  if (rate > 0) voter.fee_rate = rate;
  if (size > 0) voter.transaction_size = size;
  const Result<bool> found = GetRecord(k, ctx, Key(voter), &voter);
  if (!found.ok()) return found.error();
  return voter;
}

void SetNetworkFeeVoter(const Keeper& k, const Context& ctx, const ObservedNetworkFeeVoter& voter) {
  SetRecord(k, ctx, Key(voter), voter);
}

}  // namespace blockreplay::keeper::thorchain
