#include "keeper/thorchain/handlers/solvency.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/last_heights.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observation_voters.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMostAttestations = 300;

TxID HashOf(const Solvency& solvency) {
  return TxID(
      UpperHex(Sha256(sdk::StrCat(solvency.chain.ToString(), "|", solvency.pub_key.ToString(), "|",
                                  solvency.coins.ToString(), "|", solvency.height))));
}

Error CheckSolvency(const Solvency& solvency, const AccAddress& signer) {
  if (solvency.id.IsEmpty() || !(solvency.id == HashOf(solvency))) {
    return Error(sdk::kErrUnknownRequest, "invalid id");
  }
  if (solvency.chain.IsEmpty()) return Error(sdk::kErrUnknownRequest, "chain can't be empty");
  if (solvency.pub_key.IsEmpty()) return Error(sdk::kErrUnknownRequest, "pubkey is empty");
  if (solvency.height <= 0) return Error(sdk::kErrUnknownRequest, "block height is invalid");
  if (signer.IsEmpty()) return Error(sdk::kErrUnauthorized, "invalid sender");
  return {};
}

// The vault's coins, less what it has yet to send of the blocks within the signing period.
Result<Coins> AvailableCoins(const Keeper& k, const Context& ctx, const Vault& vault) {
  Vault available;
  available.pub_key = vault.pub_key;
  for (const Coin& coin : vault.coins) available.coins.emplace_back(coin.asset, coin.amount);
  const int64_t start = std::max<int64_t>(
      ctx.height() - k.constants().GetInt64(ConstantName::kSigningTransactionPeriod), 1);
  for (int64_t height = start; height < ctx.height(); ++height) {
    KEEPER_ASSIGN_OR_RETURN(const TxOut tx_out, GetTxOut(k, ctx, height));
    DeductPendingOutbounds(&available, tx_out.tx_array);
  }
  return std::move(available.coins);
}

// The wallet lacks coins of the chain worth more than the permitted gap.
bool IsInsolvent(const Keeper& k, const Context& ctx, const Vault& vault, const Coins& wallet,
                 const Chain& chain) {
  const Result<Coins> available = AvailableCoins(k, ctx, vault);
  if (!available.ok()) return true;
  const Uint permitted = DollarConfigInRune(k, ctx, ConstantName::kPermittedSolvencyGapUSD);
  for (size_t i = 0; i < available->size(); ++i) {
    Coin coin = (*available)[i];
    if (!(coin.asset.chain == chain)) continue;
    // What is to leave exceeds what is there: the whole amount has to be.
    if (coin.IsEmpty()) {
      for (const Coin& original : vault.coins) {
        if (original.asset.chain == chain && !original.IsEmpty() &&
            original.asset.ToString() == coin.asset.ToString()) {
          coin.amount = original.amount;
        }
      }
      if (coin.amount.IsZero()) continue;
    }
    const Coin held = wallet.GetCoin(coin.asset);
    const Uint gap = held.IsEmpty() ? coin.amount : SafeSub(coin.amount, held.amount);
    if (gap.IsZero()) continue;
    const Result<Pool> pool = GetPool(k, ctx, coin.asset.GetLayer1Asset());
    if (!pool.ok()) return true;
    const Uint value = AssetValueInRune(*pool, gap);
    if (value.IsZero() || value > permitted) return true;
  }
  return false;
}

void EmitMimir(const Context& ctx, std::string_view key, int64_t value) {
  ctx.events().Emit(
      sdk::Event("set_mimir", {{"key", ToUpper(key)}, {"value", std::to_string(value)}}));
}

bool IsCheckStopped(const Keeper& k, const Context& ctx, std::string_view key) {
  const int64_t height = GetMimir(k, ctx, key);
  return height > 0 && height < ctx.height();
}

// Halts or reopens the chain, as the vault is found.
void Act(const Keeper& k, const Context& ctx, const SolvencyVoter& voter, const Vault& vault,
         int64_t reported_height) {
  if (IsCheckStopped(k, ctx, "StopSolvencyCheck") ||
      IsCheckStopped(k, ctx, "StopSolvencyCheck" + voter.chain.ToString())) {
    return;
  }
  const std::string halt_key = sdk::StrCat("SolvencyHalt", voter.chain.ToString(), "Chain");
  const int64_t halted = GetMimir(k, ctx, halt_key);
  // Another vault of the chain was found short in this block, or an admin halted it.
  if (halted >= ctx.height() || halted == 1) return;
  // Inbound transactions since then are in the vault's books, but not in the report.
  if (reported_height < GetLastChainHeight(k, ctx, voter.chain)) return;

  if (IsInsolvent(k, ctx, vault, voter.coins, voter.chain)) {
    SetMimir(k, ctx, halt_key, ctx.height());
    if (halted <= 0) EmitMimir(ctx, halt_key, ctx.height());
  } else if (halted > 1) {
    SetMimir(k, ctx, halt_key, 0);
    EmitMimir(ctx, halt_key, 0);
  }
}

Error ProcessAttestation(const Keeper& k, const Context& ctx, const Solvency& solvency,
                         const AccAddress& signer, const ActiveNodes& active,
                         bool slash_for_duplicate, SolvencyVoter* voter) {
  const ObservationRules rules = ReadObservationRules(k, ctx);
  if (CastVote(k, ctx, signer, slash_for_duplicate, voter->consensus_block_height, HasMinority,
               active, rules, &voter->signers) != Vote::kDecides) {
    return {};
  }
  const Result<Vault> vault = GetVault(k, ctx, voter->pub_key);
  if (!vault.ok()) return Error::Opaque("fail to get vault", vault.error());
  voter->consensus_block_height = ctx.height();
  SettleVote(k, ctx, signer, active, rules, voter->signers);
  Act(k, ctx, *voter, *vault, solvency.height);
  return {};
}

Result<SolvencyVoter> GetVoter(const Keeper& k, const Context& ctx, const Solvency& solvency) {
  Result<SolvencyVoter> voter = GetSolvencyVoter(k, ctx, solvency.id, solvency.chain);
  if (!voter.ok()) return Error::Opaque("fail to get solvency voter, err", voter.error());
  if (voter->id.IsEmpty() || voter->chain.IsEmpty() || voter->height <= 0 ||
      voter->signers.empty()) {
    *voter = SolvencyVoter();
    voter->id = solvency.id;
    voter->chain = solvency.chain;
    voter->pub_key = solvency.pub_key;
    voter->coins = solvency.coins;
    voter->height = solvency.height;
  }
  return voter;
}

class SolvencyQuorumHandler : public Handler<MsgSolvencyQuorum> {
 public:
  explicit SolvencyQuorumHandler(Managers* managers)
      : Handler("/types.MsgSolvencyQuorum", managers) {}

 protected:
  Error ValidateBasic(const MsgSolvencyQuorum& message) const override {
    if (!message.quo_solvency || !message.quo_solvency->solvency) {
      return Error(sdk::kErrUnknownRequest, "QuoSolvency and Solvency cannot be nil");
    }
    const size_t attestations = message.quo_solvency->attestations.size();
    if (attestations == 0) return Error(sdk::kErrUnknownRequest, "no attestations found");
    if (attestations > kMostAttestations) {
      return Error(sdk::kErrUnknownRequest, sdk::StrCat("too many attestations: ", attestations,
                                                        ", max ", kMostAttestations));
    }
    return CheckSolvency(*message.quo_solvency->solvency, message.signer);
  }
  std::vector<AccAddress> GetSigners(const MsgSolvencyQuorum& message) const override {
    return SignersOf(k(), message.quo_solvency->attestations);
  }
  Error Ante(const Context&, const MsgSolvencyQuorum&) const override { return {}; }
  Error Validate(const Context&, const MsgSolvencyQuorum& message) const override {
    return ValidateBasic(message);
  }
  Error Run(const Context& ctx, const MsgSolvencyQuorum& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const Solvency& solvency = *message.quo_solvency->solvency;
    KEEPER_ASSIGN_OR_RETURN(SolvencyVoter voter, GetVoter(k(), ctx, solvency));
    Error error;
    for (const AccAddress& signer :
         VerifiedSigners(k(), active, message.quo_solvency->attestations, Encode(solvency))) {
      error = ProcessAttestation(k(), ctx, solvency, signer, active, false, &voter);
      if (error) break;
    }
    // Also after an error: the gas stays.
    SetSolvencyVoter(k(), ctx, voter);
    return error ? Error::Opaque("fail to process solvency attestation", error) : Error();
  }
};

class SolvencyHandler : public ActiveValidatorHandler<MsgSolvency> {
 public:
  explicit SolvencyHandler(Managers* managers)
      : ActiveValidatorHandler("/types.MsgSolvency", managers) {}

 protected:
  Error ValidateBasic(const MsgSolvency& message) const override {
    return CheckSolvency(SolvencyOf(message), message.signer);
  }
  Error Run(const Context& ctx, const MsgSolvency& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));
    const Solvency solvency = SolvencyOf(message);
    KEEPER_ASSIGN_OR_RETURN(SolvencyVoter voter, GetVoter(k(), ctx, solvency));
    const Error error =
        ProcessAttestation(k(), ctx, solvency, message.signer, active, true, &voter);
    SetSolvencyVoter(k(), ctx, voter);
    return error;
  }

 private:
  static Solvency SolvencyOf(const MsgSolvency& message) {
    Solvency solvency;
    solvency.id = message.id;
    solvency.chain = message.chain;
    solvency.pub_key = message.pub_key;
    solvency.coins = message.coins;
    solvency.height = message.height;
    return solvency;
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewSolvencyHandler(Managers* managers) {
  return std::make_unique<SolvencyHandler>(managers);
}

std::unique_ptr<sdk::MessageHandler> NewSolvencyQuorumHandler(Managers* managers) {
  return std::make_unique<SolvencyQuorumHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
