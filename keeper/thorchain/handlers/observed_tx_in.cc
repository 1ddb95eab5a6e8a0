// Inbound transactions: they fund the vault, and what their memo asks for is done.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/handlers/observed_tx_steps.h"
#include "keeper/thorchain/handlers/reference_lookup.h"
#include "keeper/thorchain/managers/refund.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/managers/switch.h"
#include "keeper/thorchain/state/last_heights.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/trading_halts.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Codes of refunds.
constexpr uint32_t kCodeInvalidVault = 104;
constexpr uint32_t kCodeInvalidMemo = 105;
constexpr uint32_t kCodeSwapFail = 108;
constexpr uint32_t kCodeTxFail = 100;

// Gives a transaction without a memo the reference that its amount names.
void AddReference(const Keeper& k, const Context& ctx, const Tx& tx, std::string* memo) {
  if (tx.coins.empty() || !IsBlank(*memo)) return;
  const Coin& coin = tx.coins.front();
  if (!coin.amount.IsUint64()) return;
  const Result<std::string> reference =
      ReferenceFromAmount(k, ctx, coin.asset, coin.amount.ToUint64());
  if (reference.ok()) *memo = ReferenceReadMemo{*reference}.CreateMemo();
}

bool IsTradingHaltedFor(const Keeper& k, const Context& ctx, const InternalMessage& message) {
  if (const MsgSwap* swap = std::get_if<MsgSwap>(&message)) {
    return IsTradingHalted(k, ctx, *swap) || IsRagnarokInProgress(k, ctx);
  }
  if (const MsgAddLiquidity* add = std::get_if<MsgAddLiquidity>(&message)) {
    return IsTradingHalted(k, ctx, *add) || IsRagnarokInProgress(k, ctx);
  }
  return false;
}

// Does what the memo of a final observation asks for.
Error Execute(Managers& mgr, const Context& ctx, const AccAddress& signer, const ObservedTx& tx,
              const Memo& memo, ObservedTxVoter& voter) {
  const Keeper& k = *mgr.keeper;
  // Errors of refunds are logged where the node only logs them.
  const auto refund = [&](uint32_t code, std::string reason) {
    return RefundTx(mgr, ctx, tx, code, std::move(reason), "");
  };

  if (!tx.tx.coins.empty()) {
    voter.tx.tx.memo =
        ResolveReference(k, ctx, tx.tx.coins.front().asset, voter.tx.tx, voter.unfinalized_height);
    SetObservedTxInVoter(k, ctx, voter);
  }
  Result<InternalMessage> message = ProcessOneTxIn(k, ctx, voter.tx, signer);
  if (!message.ok()) {
    (void)refund(kCodeInvalidMemo, message.error().message());
    return {};
  }
  if (IsTradingHaltedFor(k, ctx, *message)) {
    (void)refund(sdk::kErrUnauthorized.code, "trading halted");
    return {};
  }
  if (const MsgSwap* swap = std::get_if<MsgSwap>(&*message)) {
    const Error error = AddSwap(mgr, ctx, *swap);
    if (!error) return {};
    const Error refund_error = refund(kCodeSwapFail, error.message());
    return refund_error ? Error::Opaque("swap failed and refund also failed", refund_error)
                        : Error();
  }
  if (!std::holds_alternative<MsgSwitch>(*message) && !tx.tx.coins.empty() &&
      IsSwitchAsset(tx.tx.coins.front().asset)) {
    (void)refund(kCodeTxFail, "asset is a switch asset");
    return {};
  }
  const Result<InternalResult> result = HandleInternalMessage(mgr, ctx, *message);
  if (!result.ok()) {
    const Error refund_error = refund(kCodeTxFail, result.error().message());
    return refund_error ? Error::Opaque("fail to refund", refund_error) : Error();
  }
  // Where no outbound follows, this was it.
  if (!HasOutbound(memo.type)) {
    Result<ObservedTxVoter> stored = GetObservedTxInVoter(k, ctx, tx.tx.id);
    if (!stored.ok()) return Error::New("fail to get voter");
    SetDone(&*stored);
    SetObservedTxInVoter(k, ctx, *stored);
  }
  return {};
}

}  // namespace

Error HandleTxIn(Managers& mgr, const Context& ctx, const ActiveNodes& active,
                 const AccAddress& signer, const ObservedTx& tx, ObservedTxVoter voter,
                 const std::vector<AccAddress>& observers, bool consensus) {
  const Keeper& k = *mgr.keeper;
  if (!consensus) {
    if (voter.height == ctx.height() || voter.finalised_height == ctx.height()) {
      AppendObservers(mgr, tx.tx.chain, observers);
    }
    return {};
  }
  if (voter.reverted) return {};
  Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!vault.ok()) return {};

  voter.tx.tx.memo = tx.tx.memo;
  AddReference(k, ctx, tx.tx, &voter.tx.tx.memo);
  // Errors come up again when the memo is acted on.
  const Memo memo = ParseMemoWithNames(k, ctx, tx.tx.memo).memo;
  const bool finalised = HasFinalised(voter, active);
  // Migrations count at once: what left one vault has to be in the other.
  if ((finalised || memo.type == TxType::kMigrate) && IsAsgard(*vault) && !voter.updated_vault) {
    if (!(tx.tx.from_address == tx.tx.to_address)) {
      AddFunds(&*vault, tx.tx.coins);
      ++vault->inbound_tx_count;
    }
    voter.updated_vault = true;
  }
  SetLastChainHeight(k, ctx, tx.tx.chain, tx.block_height);
  SetObservedTxInVoter(k, ctx, voter);
  if (SetVault(k, ctx, *vault)) return {};
  if (!IsAsgard(*vault) || memo.IsOutbound() || memo.IsInternal()) return {};
  AppendObservers(mgr, tx.tx.chain, ToAddresses(k, voter.tx.signers));
  if (!finalised) return {};
  if (vault->status == VaultStatus::InactiveVault) {
    (void)RefundTx(mgr, ctx, tx, kCodeInvalidVault, "observed inbound tx to an inactive vault", "");
    return {};
  }
  return Execute(mgr, ctx, signer, tx, memo, voter);
}

}  // namespace blockreplay::keeper::thorchain
