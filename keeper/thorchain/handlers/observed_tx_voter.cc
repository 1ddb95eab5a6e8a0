#include "keeper/thorchain/handlers/observed_tx_voter.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "keeper/optimisations.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/tx_outs.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Distinct active signers of all observations that equal `tx` and are as final.
size_t CountTexts(std::vector<ObservedTx>& txs, ObservedTx& tx, bool final,
                  const ActiveNodes& active) {
  sdk::StringSet signers;
  for (ObservedTx& other : txs) {
    if (IsFinal(other) != final || !tx.tx.EqualsEx(other.tx)) continue;
    for (const std::string& signer : other.signers) {
      if (active.Contains(signer)) signers.insert(signer);
    }
  }
  return signers.size();
}

// Distinct active signers of all observations that equal `tx` and are as final: enough of them?
bool HaveSuperMajority(std::vector<ObservedTx>& txs, ObservedTx& tx, bool final,
                       const ActiveNodes& active) {
  if (!IsOn(Optimisation::kVoterSlots)) {
    return HasSuperMajority(CountTexts(txs, tx, final, active), active.size());
  }
  thread_local std::vector<const ObservedTx*> equal;
  equal.clear();
  size_t at_most = 0;
  for (ObservedTx& other : txs) {
    if (IsFinal(other) != final || !tx.tx.EqualsEx(other.tx)) continue;
    equal.push_back(&other);
    at_most += other.signers.size();
  }
  if (!HasSuperMajority(std::min(at_most, active.size()), active.size())) return false;
  thread_local std::vector<bool> seen;
  seen.assign(active.size(), false);
  size_t count = 0;
  for (const ObservedTx* other : equal) {
    for (const std::string& signer : other->signers) {
      const std::optional<size_t> index = active.IndexOf(signer);
      if (!index || seen[*index]) continue;
      seen[*index] = true;
      ++count;
    }
  }
  return HasSuperMajority(count, active.size());
}

ObservedTx* FindConsensus(ObservedTxVoter& voter, const ActiveNodes& active, bool final) {
  for (ObservedTx& tx : voter.txs) {
    if (IsFinal(tx) == final && HaveSuperMajority(voter.txs, tx, final, active)) return &tx;
  }
  return nullptr;
}

bool IsBlank(const TxID& id) { return id == TxID(kBlankTxID); }

// An outbound of the observed transaction was seen.
void AddOutHash(ObservedTx* tx, const TxID& hash, size_t actions) {
  if (!IsBlank(hash)) {
    for (const std::string& text : tx->out_hashes) {
      const absl::StatusOr<TxID> known = TxID::Parse(text);
      if (known.ok() && *known == hash) return;
    }
  }
  tx->out_hashes.push_back(hash.ToString());
  if (tx->out_hashes.size() >= actions) tx->status = Status::done;
}

bool IsAction(const TxOutItem& item, const Tx& tx) {
  bool coin_matches = tx.coins.Contains(item.coin);
  const Asset& gas_asset = item.chain.GetGasAsset();
  if (!coin_matches && item.coin.asset == gas_asset) {
    coin_matches = item.coin.amount + item.max_gas.GetCoin(gas_asset).amount ==
                   tx.coins.GetCoin(gas_asset).amount + tx.gas.GetCoin(gas_asset).amount;
  }
  return EqualFold(GetMemo(item), tx.memo) && item.to_address == tx.to_address &&
         item.chain == tx.chain && coin_matches;
}

}  // namespace

bool SameObservation(ObservedTx& a, ObservedTx& b) {
  return a.tx.EqualsEx(b.tx) && a.observed_pub_key == b.observed_pub_key &&
         a.block_height == b.block_height && a.finalise_height == b.finalise_height &&
         EqualFold(a.aggregator, b.aggregator) &&
         EqualFold(a.aggregator_target, b.aggregator_target) &&
         a.aggregator_target_limit.value_or(Uint()) == b.aggregator_target_limit.value_or(Uint());
}

Error CheckObservedTx(const ObservedTx& tx) {
  if (const absl::Status status = tx.tx.Valid(); !status.ok()) {
    return Error::New(std::string(status.message()));
  }
  if (tx.block_height <= 0) return Error::New("block height can't be zero");
  if (tx.observed_pub_key.IsEmpty()) return Error::New("observed pool pubkey is empty");
  if (tx.finalise_height <= 0) return Error::New("finalise block height can't be zero");
  return {};
}

bool AddVote(const Keeper& k, ObservedTx& tx, const AccAddress& signer, ObservedTxVoter* voter) {
  ObservedTx* voted = nullptr;
  for (ObservedTx& other : voter->txs) {
    if (!SameObservation(other, tx)) continue;
    voted = &other;
    if (HasSigner(k, signer, other.signers)) return false;
  }
  if (voted != nullptr) return AddSigner(k, signer, &voted->signers);
  ObservedTx& added = voter->txs.emplace_back(tx);
  added.signers.clear();
  return AddSigner(k, signer, &added.signers);
}

ObservedTx& GetConsensusTx(ObservedTxVoter& voter, const ActiveNodes& active) {
  if (!IsEmpty(voter.tx) && IsFinal(voter.tx)) return voter.tx;
  if (ObservedTx* tx = FindConsensus(voter, active, true); tx != nullptr && !IsEmpty(*tx)) {
    return *tx;
  }
  if (ObservedTx* tx = FindConsensus(voter, active, false); tx != nullptr && !IsEmpty(*tx)) {
    return *tx;
  }
  return voter.tx;
}

std::vector<AccAddress> GetConsensusSigners(const Keeper& k, ObservedTxVoter& voter) {
  if (IsEmpty(voter.tx)) return {};
  std::vector<AccAddress> signers;
  sdk::StringSet seen;
  for (ObservedTx& tx : voter.txs) {
    if (IsFinal(tx) != IsFinal(voter.tx) || !tx.tx.EqualsEx(voter.tx.tx)) continue;
    for (AccAddress& signer : ToAddresses(k, tx.signers)) {
      if (seen.insert(signer.bytes()).second) signers.push_back(std::move(signer));
    }
  }
  return signers;
}

bool HasSuperMajorityOfObservers(ObservedTxVoter& voter, ObservedTx& tx,
                                 const ActiveNodes& active) {
  return HaveSuperMajority(voter.txs, tx, IsFinal(tx), active);
}

bool AddOutTx(ObservedTxVoter* voter, const Tx& tx) {
  if (std::none_of(voter->actions.begin(), voter->actions.end(),
                   [&](const TxOutItem& item) { return IsAction(item, tx); })) {
    return false;
  }
  // Transfers of native assets have no hash of their own.
  if (!IsBlank(tx.id) && std::any_of(voter->out_txs.begin(), voter->out_txs.end(),
                                     [&](const Tx& known) { return known.id == tx.id; })) {
    return true;
  }
  voter->out_txs.push_back(tx);
  for (ObservedTx& observed : voter->txs) AddOutHash(&observed, tx.id, voter->actions.size());
  if (!IsEmpty(voter->tx)) AddOutHash(&voter->tx, tx.id, voter->actions.size());
  return true;
}

}  // namespace blockreplay::keeper::thorchain
