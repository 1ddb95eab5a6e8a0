#include "keeper/thorchain/state/observation_voters.h"

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string SolvencyKey(const TxID& id, const Chain& chain) {
  return StoreKey("solvency_voter/", chain.ToString(), "-", id.ToString());
}
std::string ErrataKey(const TxID& tx_id, const Chain& chain) {
  return StoreKey("errata/", chain.ToString(), "-", tx_id.ToString());
}

}  // namespace

Result<SolvencyVoter> GetSolvencyVoter(const Keeper& k, const Context& ctx, const TxID& id,
                                       const Chain& chain) {
  SolvencyVoter voter;
  const Result<bool> found = GetRecord(k, ctx, SolvencyKey(id, chain), &voter);
  if (!found.ok()) return found.error();
  return voter;
}

void SetSolvencyVoter(const Keeper& k, const Context& ctx, const SolvencyVoter& voter) {
  SetRecord(k, ctx, SolvencyKey(voter.id, voter.chain), voter);
}

Result<ErrataTxVoter> GetErrataTxVoter(const Keeper& k, const Context& ctx, const TxID& tx_id,
                                       const Chain& chain) {
  ErrataTxVoter voter;
  const Result<bool> found = GetRecord(k, ctx, ErrataKey(tx_id, chain), &voter);
  if (!found.ok()) return found.error();
  if (!*found) {
    voter.tx_id = tx_id;
    voter.chain = chain;
  }
  return voter;
}

void SetErrataTxVoter(const Keeper& k, const Context& ctx, const ErrataTxVoter& voter) {
  SetRecord(k, ctx, ErrataKey(voter.tx_id, voter.chain), voter);
}

}  // namespace blockreplay::keeper::thorchain
