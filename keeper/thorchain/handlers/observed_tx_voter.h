#pragma once

// What the votes for a transaction amount to. Transactions are compared as the node does, which
// sorts their gas on the way: voters are changed by looking at them.

#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/state/observed_txs.h"

namespace blockreplay::keeper::thorchain {

// Its last confirmation is in.
inline bool IsFinal(const ObservedTx& tx) { return tx.finalise_height == tx.block_height; }
// The same observation, whoever signed it.
bool SameObservation(ObservedTx& a, ObservedTx& b);
// What can be checked without the state; the message is the node's.
Error CheckObservedTx(const ObservedTx& tx);

// Counts the observation for the signer; false if the signer had made it.
bool AddVote(const Keeper& k, ObservedTx& tx, const AccAddress& signer, ObservedTxVoter* voter);
// The transaction that two thirds agree on: the final one if there is one; else what is recorded,
// which may be empty. Refers into the voter.
ObservedTx& GetConsensusTx(ObservedTxVoter& voter, const ActiveNodes& active);
inline bool HasConsensus(ObservedTxVoter& voter, const ActiveNodes& active) {
  return !IsEmpty(GetConsensusTx(voter, active));
}
inline bool HasFinalised(ObservedTxVoter& voter, const ActiveNodes& active) {
  const ObservedTx& tx = GetConsensusTx(voter, active);
  return !IsEmpty(tx) && IsFinal(tx);
}
// Who observed what is recorded as the consensus, as final as that is; each once.
std::vector<AccAddress> GetConsensusSigners(const Keeper& k, ObservedTxVoter& voter);
// Two thirds of the active nodes observed exactly this.
bool HasSuperMajorityOfObservers(ObservedTxVoter& voter, ObservedTx& tx, const ActiveNodes& active);

// Adds an outbound if it is one of the voter's actions; false if it isn't.
bool AddOutTx(ObservedTxVoter* voter, const Tx& tx);

}  // namespace blockreplay::keeper::thorchain
