#pragma once

// The two steps of every observation, inbound and outbound: counting each vote, and what follows
// when consensus was reached.

#include <string_view>
#include <vector>

#include "keeper/thorchain/handlers/observed_tx_voter.h"

namespace blockreplay::keeper::thorchain {

// Somebody of `addresses` observed something of the chain in this block.
void AppendObservers(Managers& mgr, const Chain& chain, const std::vector<AccAddress>& addresses);

// Reads whether the vault exists, and the votes so far. An error if it doesn't.
Result<ObservedTxVoter> GetTxInVoter(const Keeper& k, const Context& ctx, const ObservedTx& tx);
// Also writes down how long signing took, for all `observers`.
Result<ObservedTxVoter> GetTxOutVoter(const Keeper& k, const Context& ctx, const ObservedTx& tx,
                                      const std::vector<AccAddress>& observers);

// Count one vote. True if it brings consensus.
bool ProcessTxInVote(Managers& mgr, const Context& ctx, const ActiveNodes& active, ObservedTx& tx,
                     const AccAddress& signer, bool slash_for_duplicate, ObservedTxVoter* voter);
bool ProcessTxOutVote(Managers& mgr, const Context& ctx, const ActiveNodes& active, ObservedTx& tx,
                      const AccAddress& signer, bool slash_for_duplicate, ObservedTxVoter* voter);

// What follows after the votes of a message, from `observers`, were counted. `signer` sent the
// message.
Error HandleTxIn(Managers& mgr, const Context& ctx, const ActiveNodes& active,
                 const AccAddress& signer, const ObservedTx& tx, ObservedTxVoter voter,
                 const std::vector<AccAddress>& observers, bool consensus);
Error HandleTxOut(Managers& mgr, const Context& ctx, const ActiveNodes& active,
                  const AccAddress& signer, const ObservedTx& tx, ObservedTxVoter voter,
                  const std::vector<AccAddress>& observers, bool consensus);

// The last height that outbounds may be rescheduled to by now: this one rounded up to
// RescheduleCoalesceBlocks.
int64_t LatestTxOutHeight(const Keeper& k, const Context& ctx);

// Takes the gas of an outbound from its vault, and remembers it for the reserve to pay back.
Error AddGasFees(Managers& mgr, const Context& ctx, const ObservedTx& tx);

// ---- Kinds of outbounds that nothing was scheduled for ----

// The gas of a failed transaction, reported as one unit of the gas asset.
bool IsFakeGas(const ObservedTx& tx);
// A transaction of an EVM vault to replace a stuck one, or to allow a router its tokens.
bool IsCancelOrApproval(const ObservedTx& tx);

}  // namespace blockreplay::keeper::thorchain
