#include "keeper/thorchain/handlers/observed_tx.h"

#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/handlers/observed_tx_steps.h"

namespace blockreplay::keeper::thorchain {
namespace {

// It came from, or went to, the vault that it was observed at, and carries nothing that is the
// node's to add.
Error CheckObservation(const Keeper& k, const ObservedTx& tx, bool inbound) {
  if (const Error error = CheckObservedTx(tx)) {
    return Error(sdk::kErrUnknownRequest, error.message());
  }
  const absl::StatusOr<Address> address =
      tx.observed_pub_key.GetAddress(tx.tx.coins.front().asset.GetChain(), k.network());
  if (!address.ok()) {
    return Error(sdk::kErrUnknownRequest, std::string(address.status().message()));
  }
  if (!((inbound ? tx.tx.to_address : tx.tx.from_address) == *address)) {
    return Error(sdk::kErrUnknownRequest, inbound
                                              ? "request is not an inbound observed transaction"
                                              : "request is not an outbound observed transaction");
  }
  if (!tx.signers.empty()) return Error(sdk::kErrUnknownRequest, "signers must be empty");
  if (!tx.out_hashes.empty()) return Error(sdk::kErrUnknownRequest, "out hashes must be empty");
  if (tx.status != Status::incomplete) {
    return Error(sdk::kErrUnknownRequest, "status must be incomplete");
  }
  return {};
}

class ObservedTxQuorumHandler : public Handler<MsgObservedTxQuorum> {
 public:
  explicit ObservedTxQuorumHandler(Managers* managers)
      : Handler("/types.MsgObservedTxQuorum", managers) {}

 protected:
  Error ValidateBasic(const MsgObservedTxQuorum& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (!message.quo_tx) return Error(sdk::kErrUnknownRequest, "QuoTx cannot be nil");
    return CheckObservation(k(), message.quo_tx->obs_tx, message.quo_tx->inbound);
  }
  std::vector<AccAddress> GetSigners(const MsgObservedTxQuorum& message) const override {
    return SignersOf(k(), message.quo_tx->attestations);
  }
  Error Ante(const Context&, const MsgObservedTxQuorum&) const override { return {}; }
  Error Validate(const Context&, const MsgObservedTxQuorum& message) const override {
    return ValidateBasic(message);
  }
  Error Run(const Context& ctx, const MsgObservedTxQuorum& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const QuorumTx& quorum = *message.quo_tx;
    Result<ObservedTxVoter> voter =
        quorum.inbound ? GetTxInVoter(k(), ctx, quorum.obs_tx)
                       : GetTxOutVoter(k(), ctx, quorum.obs_tx, GetSigners(message));
    if (!voter.ok()) return {};

    ObservedTx tx = quorum.obs_tx;
    const std::vector<AccAddress> observers =
        VerifiedSigners(k(), active, quorum.attestations, Encode(tx.tx));
    bool consensus = false;
    for (const AccAddress& signer : observers) {
      consensus |= quorum.inbound
                       ? ProcessTxInVote(mgr(), ctx, active, tx, signer, false, &*voter)
                       : ProcessTxOutVote(mgr(), ctx, active, tx, signer, false, &*voter);
    }
    const Error error = quorum.inbound ? HandleTxIn(mgr(), ctx, active, message.signer, tx,
                                                    *std::move(voter), observers, consensus)
                                       : HandleTxOut(mgr(), ctx, active, message.signer, tx,
                                                     *std::move(voter), observers, consensus);
    return error ? Error::Opaque("fail to handle observed tx in quorum", error) : Error();
  }
};

// Observations of a single node.
template <typename Message, bool kInbound>
class ObservedTxsHandler : public ActiveValidatorHandler<Message> {
 public:
  ObservedTxsHandler(std::string_view type_url, Managers* managers)
      : ActiveValidatorHandler<Message>(type_url, managers) {}

 protected:
  using Handler<Message>::k;
  using Handler<Message>::mgr;

  Error ValidateBasic(const Message& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (message.txs.empty()) return Error(sdk::kErrUnknownRequest, "Txs cannot be empty");
    for (const ObservedTx& tx : message.txs) {
      KEEPER_RETURN_IF_ERROR(CheckObservation(k(), tx, kInbound));
    }
    return {};
  }
  Error Run(const Context& ctx, const Message& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    for (const ObservedTx& observed : message.txs) {
      ObservedTx tx = observed;
      if constexpr (kInbound) {
        Result<ObservedTxVoter> voter = GetTxInVoter(k(), ctx, tx);
        if (!voter.ok()) continue;
        const bool consensus =
            ProcessTxInVote(mgr(), ctx, active, tx, message.signer, true, &*voter);
        const std::vector<AccAddress> observers = ToAddresses(k(), voter->tx.signers);
        (void)HandleTxIn(mgr(), ctx, active, message.signer, tx, *std::move(voter), observers,
                         consensus);
      } else {
        Result<ObservedTxVoter> voter = GetTxOutVoter(k(), ctx, tx, {message.signer});
        if (!voter.ok()) continue;
        const bool consensus =
            ProcessTxOutVote(mgr(), ctx, active, tx, message.signer, true, &*voter);
        (void)HandleTxOut(mgr(), ctx, active, message.signer, tx, *std::move(voter),
                          {message.signer}, consensus);
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewObservedTxQuorumHandler(Managers* managers) {
  return std::make_unique<ObservedTxQuorumHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewObservedTxInHandler(Managers* managers) {
  return std::make_unique<ObservedTxsHandler<MsgObservedTxIn, true>>("/types.MsgObservedTxIn",
                                                                     managers);
}

std::unique_ptr<sdk::MessageHandler> NewObservedTxOutHandler(Managers* managers) {
  return std::make_unique<ObservedTxsHandler<MsgObservedTxOut, false>>("/types.MsgObservedTxOut",
                                                                       managers);
}

}  // namespace blockreplay::keeper::thorchain
