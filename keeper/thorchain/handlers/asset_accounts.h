#pragma once

// What trade accounts and secured assets have in common: coins of other chains that accounts here
// hold. Message is one of their messages, or the switch's.

#include <string_view>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

template <typename Message>
Error CheckAssetDeposit(const Keeper& k, const Message& message, std::string_view native_error) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (message.asset.IsNative()) return Error(sdk::kErrUnknownRequest, native_error);
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  for (const AccAddress& address : {message.address, message.signer}) {
    if (address.IsEmpty()) return Error(sdk::kErrInvalidAddress, address.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

template <typename Message>
Error CheckAssetWithdrawal(const Keeper& k, const Message& message, bool is_kind,
                           std::string_view kind_error) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (!is_kind) return Error(sdk::kErrUnknownRequest, kind_error);
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  if (message.asset_address.IsEmpty()) {
    return Error(sdk::kErrUnknownRequest, "asset address cannot be empty");
  }
  if (!message.asset_address.IsChain(message.asset.GetLayer1Asset().GetChain())) {
    return Error(sdk::kErrUnknownRequest, "asset address does not match asset chain");
  }
  if (message.signer.IsEmpty()) {
    return Error(sdk::kErrInvalidAddress, message.signer.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

// Pays the coin out on its chain, as what the transaction caused.
Error SendOut(Managers& mgr, const Context& ctx, const Coin& coin, const Address& to,
              const TxID& tx_id);

}  // namespace blockreplay::keeper::thorchain
