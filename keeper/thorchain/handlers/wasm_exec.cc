#include "keeper/thorchain/handlers/wasm_exec.h"

#include <string>

#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr sdk::ErrorCode kErrNotFound{"wasm", 8, "not found"};
// Contracts in the store of CosmWasm, by their address.
constexpr char kContractPrefix = '\x02';

Error ExecuteContract(const Keeper& k, const Context& ctx, const AccAddress& contract) {
  const int64_t halt = GetMimir(k, ctx, "HaltWasmGlobal");
  if (halt > 0 && ctx.height() > halt) return Error(sdk::kErrUnauthorized, "wasm halted");
  if (!ctx.kv(kWasmStore).Get(kContractPrefix + contract.bytes())) return Error(kErrNotFound);
  throw sdk::NotNative("contracts");
}

}  // namespace

Error ValidateBasic(const Keeper& k, const MsgWasmExec& message) {
  if (message.asset.IsEmpty()) return Error(sdk::kErrUnknownRequest, "asset cannot be empty");
  if (!message.asset.IsSecured() && message.asset.IsNative()) {
    return Error(sdk::kErrUnknownRequest, "asset cannot be THORChain asset");
  }
  if (message.amount.IsZero()) return Error(sdk::kErrUnknownRequest, "amount cannot be zero");
  for (const AccAddress& address : {message.contract, message.sender, message.signer}) {
    if (address.IsEmpty()) return Error(sdk::kErrInvalidAddress, address.ToString(k.network()));
  }
  if (message.tx.id.IsEmpty()) return Error(sdk::kErrUnknownRequest, "txID cannot be empty");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgWasmExec& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (IsChainHalted(k, ctx, chains::kTHOR)) {
    return Error::New("unable to use MsgWasmExec while THORChain is halted");
  }
  // Contracts get secured assets.
  if (!message.asset.IsSecured()) {
    const Result<Coin> deposited =
        DepositSecuredAsset(k, ctx, message.asset, message.amount, message.sender,
                            message.tx.from_address, message.tx.id);
    if (!deposited.ok()) return deposited.error();
  }
  return ExecuteContract(k, ctx, message.contract);
}

}  // namespace blockreplay::keeper::thorchain
