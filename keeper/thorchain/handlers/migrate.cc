#include "keeper/thorchain/handlers/migrate.h"

#include <string>

#include "keeper/thorchain/handlers/observed_tx_steps.h"
#include "keeper/thorchain/managers/slasher.h"
#include "keeper/thorchain/state/last_heights.h"
#include "keeper/thorchain/state/ragnarok.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

Error CheckTx(const ObservedTx& tx, const sdk::ErrorCode& code) {
  const Error error = CheckObservedTx(tx);
  return error ? Error(code, error.message()) : Error();
}

Error CheckSigner(const Keeper& k, const AccAddress& signer) {
  return signer.IsEmpty() ? Error(sdk::kErrInvalidAddress, signer.ToString(k.network())) : Error();
}

// Of migrations and of payments while the network ends.
Error CheckScheduled(const Keeper& k, const AccAddress& signer, int64_t height,
                     const ObservedTx& tx) {
  KEEPER_RETURN_IF_ERROR(CheckSigner(k, signer));
  if (height <= 0) return Error(sdk::kErrUnknownRequest, "invalid block height");
  return CheckTx(tx, sdk::kErrUnknownRequest);
}

Error Slash(Managers& mgr, const Context& ctx, const ObservedTx& tx) {
  const Error error = SlashVault(mgr, ctx, tx.observed_pub_key, tx.tx.coins.Add(tx.tx.gas));
  return error ? Error::Opaque("fail to slash account", error) : Error();
}

// The coins of the gas asset differ from what was scheduled by what the gas cost less.
bool MatchesWithGas(const TxOutItem& item, const Tx& tx) {
  const Asset& asset = item.chain.GetGasAsset();
  if (!(item.coin.asset == asset)) return false;
  const Uint max_gas = item.max_gas.GetCoin(asset).amount;
  const Uint real_gas = tx.gas.GetCoin(asset).amount;
  return item.coin.amount + max_gas == tx.coins.GetCoin(asset).amount + real_gas &&
         max_gas >= real_gas;
}

// Nobody's inbound led to it, and it isn't done.
bool IsOpenInternal(const TxOutItem& item, const Tx& tx, const Address& from) {
  return item.in_hash == TxID(kBlankTxID) && item.out_hash.IsEmpty() &&
         item.to_address == tx.to_address && from == tx.from_address;
}

bool IsMigration(const Keeper& k, const TxOutItem& item, const Tx& tx) {
  if (!(tx.chain == item.chain)) return false;
  const PubKey& key = item.chain.GetSigningAlgo() == SigningAlgo::kSecp256k1
                          ? item.vault_pub_key
                          : item.vault_pub_key_eddsa;
  const absl::StatusOr<Address> from = key.GetAddress(item.chain, k.network());
  return from.ok() && IsOpenInternal(item, tx, *from) &&
         (tx.coins.Contains(item.coin) || MatchesWithGas(item, tx));
}

bool IsRagnarokPayment(const Keeper& k, const TxOutItem& item, const Tx& tx) {
  const absl::StatusOr<Address> from = item.vault_pub_key.GetAddress(item.chain, k.network());
  return from.ok() && IsOpenInternal(item, tx, *from) &&
         (tx.coins.EqualsEx({item.coin}) || MatchesWithGas(item, tx));
}

// Marks the first item of the height that `is_match` accepts as done.
template <typename IsMatch>
bool MarkDone(const Keeper& k, const Context& ctx, TxOut* tx_out, const TxID& id,
              IsMatch&& is_match) {
  for (TxOutItem& item : tx_out->tx_array) {
    if (!is_match(item)) continue;
    item.out_hash = id;
    SetTxOut(k, ctx, *tx_out);
    return true;
  }
  return false;
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgMigrate& message) {
  return CheckScheduled(k, message.signer, message.block_height, message.tx);
}

Error ValidateBasic(const Keeper& k, const MsgRagnarok& message) {
  return CheckScheduled(k, message.signer, message.block_height, message.tx);
}

Error ValidateBasic(const Keeper& k, const MsgConsolidate& message) {
  KEEPER_RETURN_IF_ERROR(CheckTx(message.observed_tx, sdk::kErrInvalidCoins));
  return CheckSigner(k, message.signer);
}

Error ValidateBasic(const Keeper& k, const MsgNoOp& message) {
  KEEPER_RETURN_IF_ERROR(CheckTx(message.observed_tx, sdk::kErrInvalidCoins));
  return CheckSigner(k, message.signer);
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgMigrate& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  Result<TxOut> tx_out = GetTxOut(k, ctx, message.block_height);
  if (!tx_out.ok()) return Error(sdk::kErrUnknownRequest, tx_out.error().message());
  const Tx& tx = message.tx.tx;
  if (!MarkDone(k, ctx, &*tx_out, tx.id,
                [&](const TxOutItem& item) { return IsMigration(k, item, tx); })) {
    KEEPER_RETURN_IF_ERROR(Slash(mgr, ctx, message.tx));
  }
  SetLastSignedHeight(k, ctx, message.block_height);
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRagnarok& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  const Tx& tx = message.tx.tx;
  if (tx.chain == chains::kTHOR) return {};
  const int64_t period = k.constants().GetInt64(ConstantName::kSigningTransactionPeriod);
  bool matched = false;
  for (int64_t height = message.block_height; height <= ctx.height() && !matched;
       height += period) {
    Result<TxOut> tx_out = GetTxOut(k, ctx, height);
    if (!tx_out.ok()) return Error::Opaque("unable to get txOut record", tx_out.error());
    matched = MarkDone(k, ctx, &*tx_out, tx.id,
                       [&](const TxOutItem& item) { return IsRagnarokPayment(k, item, tx); });
    if (matched) {
      const int64_t pending = GetRagnarokPending(k, ctx);
      if (pending > 0) SetRagnarokPending(k, ctx, pending - 1);
    }
  }
  if (!matched) KEEPER_RETURN_IF_ERROR(Slash(mgr, ctx, message.tx));
  SetLastSignedHeight(k, ctx, message.block_height);
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgConsolidate& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  const ObservedTx& tx = message.observed_tx;
  const Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!(tx.tx.from_address == tx.tx.to_address) || (vault.ok() && !IsAsgard(*vault))) {
    return Slash(mgr, ctx, tx);
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgNoOp& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (!EqualFold(message.action, "novault")) return {};
  // The coins were counted for the vault, and are taken back.
  const ObservedTx& tx = message.observed_tx;
  Result<Vault> vault = GetVault(k, ctx, tx.observed_pub_key);
  if (!vault.ok()) return Error::Opaque("fail to get vault", vault.error());
  if (!IsActive(*vault) && !IsRetiring(*vault)) {
    return Error::New(
        sdk::StrCat("vault is not active or retiring: ", tx.observed_pub_key.ToString(),
                    " (status: ", Name(vault->status), ")"));
  }
  for (const Coin& coin : tx.tx.coins) {
    const Coin held = GetVaultCoin(*vault, coin.asset);
    if (held.amount < coin.amount) {
      return Error::New(sdk::StrCat("vault has insufficient funds for ", coin.asset.ToString(),
                                    ": has ", held.amount.ToString(), ", attempting to subtract ",
                                    coin.amount.ToString()));
    }
  }
  SubFunds(&*vault, tx.tx.coins);
  const Error error = SetVault(k, ctx, *vault);
  return error ? Error::Opaque("fail to save vault", error) : Error();
}

}  // namespace blockreplay::keeper::thorchain
