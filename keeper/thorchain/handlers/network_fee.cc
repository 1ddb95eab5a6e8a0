#include "keeper/thorchain/handlers/network_fee.h"

#include <limits>

#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/network_fee_voters.h"
#include "keeper/thorchain/state/network_fees.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr uint64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

Error ProcessAttestation(const Keeper& k, const Context& ctx, const CommonNetworkFee& fee,
                         const AccAddress& signer, const ActiveNodes& active,
                         bool slash_for_duplicate, ObservedNetworkFeeVoter* voter) {
  const ObservationRules rules = ReadObservationRules(k, ctx);
  if (CastVote(k, ctx, signer, slash_for_duplicate, voter->block_height, HasSuperMajority, active,
               rules, &voter->signers) != Vote::kDecides) {
    return {};
  }
  voter->block_height = ctx.height();
  SettleVote(k, ctx, signer, active, rules, voter->signers);
  NetworkFee record;
  record.chain = fee.chain;
  record.transaction_size = fee.transaction_size;
  record.transaction_fee_rate = fee.transaction_rate;
  const Error error = SaveNetworkFee(k, ctx, fee.chain, record);
  return error ? Error::Opaque("fail to save network fee", error) : Error();
}

Result<ObservedNetworkFeeVoter> GetVoter(const Keeper& k, const Context& ctx,
                                         const CommonNetworkFee& fee) {
  return GetNetworkFeeVoter(k, ctx, fee.height, fee.chain,
                            static_cast<int64_t>(fee.transaction_rate),
                            static_cast<int64_t>(fee.transaction_size));
}

Error ValidateBasicFee(const Keeper& k, const CommonNetworkFee& fee, const AccAddress& signer) {
  if (fee.height <= 0) {
    return Error(sdk::kErrUnknownRequest, "block height can't be negative, or zero");
  }
  if (signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, signer.ToString(k.network()));
  if (fee.chain.IsEmpty()) return Error(sdk::kErrUnknownRequest, "chain can't be empty");
  if (fee.transaction_size == 0) {
    return Error(sdk::kErrUnknownRequest, "invalid transaction size");
  }
  if (fee.transaction_rate == 0) {
    return Error(sdk::kErrUnknownRequest, "invalid transaction fee rate");
  }
  return {};
}

class NetworkFeeQuorumHandler : public Handler<MsgNetworkFeeQuorum> {
 public:
  explicit NetworkFeeQuorumHandler(Managers* managers)
      : Handler("/types.MsgNetworkFeeQuorum", managers) {}

 protected:
  Error ValidateBasic(const MsgNetworkFeeQuorum& message) const override {
    if (!message.quo_net_fee || !message.quo_net_fee->network_fee) {
      return Error(sdk::kErrUnknownRequest, "QuoNetFee and NetworkFee cannot be nil");
    }
    return ValidateBasicFee(k(), *message.quo_net_fee->network_fee, message.signer);
  }
  std::vector<AccAddress> GetSigners(const MsgNetworkFeeQuorum& message) const override {
    return SignersOf(k(), message.quo_net_fee->attestations);
  }
  Error Ante(const Context&, const MsgNetworkFeeQuorum&) const override { return {}; }
  Error Validate(const Context&, const MsgNetworkFeeQuorum& message) const override {
    return ValidateBasic(message);
  }
  Error Run(const Context& ctx, const MsgNetworkFeeQuorum& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const CommonNetworkFee& fee = *message.quo_net_fee->network_fee;
    if (fee.transaction_rate > kMaxInt64 || fee.transaction_size > kMaxInt64) {
      return Error::New("transaction rate or size exceeds int64 max");
    }
    KEEPER_ASSIGN_OR_RETURN(ObservedNetworkFeeVoter voter, GetVoter(k(), ctx, fee));
    Error error;
    for (const AccAddress& signer :
         VerifiedSigners(k(), active, message.quo_net_fee->attestations, Encode(fee))) {
      error = ProcessAttestation(k(), ctx, fee, signer, active, false, &voter);
      if (error) break;
    }
    // Also after an error: the gas stays.
    SetNetworkFeeVoter(k(), ctx, voter);
    return error;
  }
};

class NetworkFeeHandler : public ActiveValidatorHandler<MsgNetworkFee> {
 public:
  explicit NetworkFeeHandler(Managers* managers)
      : ActiveValidatorHandler("/types.MsgNetworkFee", managers) {}

 protected:
  Error ValidateBasic(const MsgNetworkFee& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasicFee(k(), FeeOf(message), message.signer));
    if (message.transaction_size > kMaxInt64) {
      return Error(sdk::kErrUnknownRequest, "transaction size exceeds max int64");
    }
    if (message.transaction_fee_rate > kMaxInt64) {
      return Error(sdk::kErrUnknownRequest, "transaction fee rate exceeds max int64");
    }
    return {};
  }
  Error Run(const Context& ctx, const MsgNetworkFee& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const CommonNetworkFee fee = FeeOf(message);
    KEEPER_ASSIGN_OR_RETURN(ObservedNetworkFeeVoter voter, GetVoter(k(), ctx, fee));
    const Error error = ProcessAttestation(k(), ctx, fee, message.signer, active, true, &voter);
    SetNetworkFeeVoter(k(), ctx, voter);
    return error;
  }

 private:
  static CommonNetworkFee FeeOf(const MsgNetworkFee& message) {
    CommonNetworkFee fee;
    fee.height = message.block_height;
    fee.chain = message.chain;
    fee.transaction_size = message.transaction_size;
    fee.transaction_rate = message.transaction_fee_rate;
    return fee;
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewNetworkFeeHandler(Managers* managers) {
  return std::make_unique<NetworkFeeHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewNetworkFeeQuorumHandler(Managers* managers) {
  return std::make_unique<NetworkFeeQuorumHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
