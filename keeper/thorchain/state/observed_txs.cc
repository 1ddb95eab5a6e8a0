#include "keeper/thorchain/state/observed_txs.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kInPrefix = "observed_tx_in/";
constexpr std::string_view kOutPrefix = "observed_tx_out/";

Result<ObservedTxVoter> GetVoter(const Keeper& k, const Context& ctx, std::string_view prefix,
                                 const TxID& hash) {
  ObservedTxVoter voter;
  const Result<bool> found = GetRecord(k, ctx, StoreKey(prefix, hash.ToString()), &voter);
  if (!found.ok()) return found.error();
  if (!*found) voter.tx_id = hash;
  return voter;
}

}  // namespace

Result<ObservedTxVoter> GetObservedTxInVoter(const Keeper& k, const Context& ctx,
                                             const TxID& hash) {
  return GetVoter(k, ctx, kInPrefix, hash);
}

Result<ObservedTxVoter> GetObservedTxOutVoter(const Keeper& k, const Context& ctx,
                                              const TxID& hash) {
  return GetVoter(k, ctx, kOutPrefix, hash);
}

void SetObservedTxInVoter(const Keeper& k, const Context& ctx, const ObservedTxVoter& voter) {
  SetRecord(k, ctx, StoreKey(kInPrefix, voter.tx_id.ToString()), voter);
}

void SetObservedTxOutVoter(const Keeper& k, const Context& ctx, const ObservedTxVoter& voter) {
  SetRecord(k, ctx, StoreKey(kOutPrefix, voter.tx_id.ToString()), voter);
}

void SetDone(ObservedTxVoter* voter) {
  if (!IsEmpty(voter->tx)) voter->tx.status = Status::done;
}

}  // namespace blockreplay::keeper::thorchain
