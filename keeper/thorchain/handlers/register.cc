#include "keeper/thorchain/handlers/register.h"

#include <array>
#include <string>
#include <string_view>

#include "cosmos/evm/types/v1/extension_options.pb.h"
#include "keeper/thorchain/handlers/ban.h"
#include "keeper/thorchain/handlers/deposit.h"
#include "keeper/thorchain/handlers/errata.h"
#include "keeper/thorchain/handlers/mimir.h"
#include "keeper/thorchain/handlers/network_fee.h"
#include "keeper/thorchain/handlers/node_pause_chain.h"
#include "keeper/thorchain/handlers/observed_tx.h"
#include "keeper/thorchain/handlers/price_feed.h"
#include "keeper/thorchain/handlers/refused.h"
#include "keeper/thorchain/handlers/send.h"
#include "keeper/thorchain/handlers/set_ip_address.h"
#include "keeper/thorchain/handlers/set_node_keys.h"
#include "keeper/thorchain/handlers/set_version.h"
#include "keeper/thorchain/handlers/solvency.h"
#include "keeper/thorchain/handlers/tss_keysign_fail.h"
#include "keeper/thorchain/handlers/tss_pool.h"
#include "keeper/thorchain/handlers/upgrade.h"
#include "keeper/thorchain/message_codec.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Messages that the original knows and that have no handler here.
constexpr std::array kNotNative{
    "/cosmos.authz.v1beta1.MsgExec",
    "/cosmos.authz.v1beta1.MsgGrant",
    "/cosmos.authz.v1beta1.MsgRevoke",
    "/cosmwasm.wasm.v1.MsgAddCodeUploadParamsAddresses",
    "/cosmwasm.wasm.v1.MsgClearAdmin",
    "/cosmwasm.wasm.v1.MsgExecuteContract",
    "/cosmwasm.wasm.v1.MsgInstantiateContract",
    "/cosmwasm.wasm.v1.MsgInstantiateContract2",
    "/cosmwasm.wasm.v1.MsgMigrateContract",
    "/cosmwasm.wasm.v1.MsgPinCodes",
    "/cosmwasm.wasm.v1.MsgRemoveCodeUploadParamsAddresses",
    "/cosmwasm.wasm.v1.MsgStoreAndInstantiateContract",
    "/cosmwasm.wasm.v1.MsgStoreAndMigrateContract",
    "/cosmwasm.wasm.v1.MsgStoreCode",
    "/cosmwasm.wasm.v1.MsgSudoContract",
    "/cosmwasm.wasm.v1.MsgUnpinCodes",
    "/cosmwasm.wasm.v1.MsgUpdateAdmin",
    "/cosmwasm.wasm.v1.MsgUpdateContractLabel",
    "/cosmwasm.wasm.v1.MsgUpdateInstantiateConfig",
    "/cosmwasm.wasm.v1.MsgUpdateParams",
};

template <typename Option>
bool Decodes(std::string_view bytes) {
  Option option;
  return ParseMessage(bytes, &option);
}

}  // namespace

void RegisterHandlers(Managers* managers, sdk::MessageRouter* router) {
  router->Register(NewBankSendHandler(managers));
  router->Register(NewBankMultiSendHandler(managers));
  router->Register(NewDepositHandler(managers));
  router->Register(NewMimirHandler(managers));
  router->Register(NewNodePauseChainHandler(managers));
  router->Register(NewSetIpAddressHandler(managers));
  router->Register(NewSetNodeKeysHandler(managers));
  router->Register(NewSetVersionHandler(managers));
  router->Register(NewNetworkFeeHandler(managers));
  router->Register(NewNetworkFeeQuorumHandler(managers));
  router->Register(NewPriceFeedQuorumBatchHandler(managers));
  router->Register(NewErrataTxHandler(managers));
  router->Register(NewErrataTxQuorumHandler(managers));
  router->Register(NewObservedTxInHandler(managers));
  router->Register(NewObservedTxOutHandler(managers));
  router->Register(NewObservedTxQuorumHandler(managers));
  router->Register(NewSolvencyHandler(managers));
  router->Register(NewSolvencyQuorumHandler(managers));
  router->Register(NewBanHandler(managers));
  router->Register(NewTssKeysignFailHandler(managers));
  router->Register(NewTssPoolHandler(managers));
  router->Register(NewProposeUpgradeHandler(managers));
  router->Register(NewApproveUpgradeHandler(managers));
  router->Register(NewRejectUpgradeHandler(managers));
  router->Register(NewSendHandler(managers));

  RegisterRefusedMessages(managers, router);
  router->RegisterExtensionOption("/cosmos.evm.types.v1.ExtensionOptionDynamicFeeTx",
                                  Decodes<::cosmos::evm::types::v1::ExtensionOptionDynamicFeeTx>);
  router->RegisterExtensionOption("/cosmos.evm.types.v1.ExtensionOptionsWeb3Tx",
                                  Decodes<::cosmos::evm::types::v1::ExtensionOptionsWeb3Tx>);
  for (const char* type_url : kNotNative) router->RegisterNotNative(type_url);
}

}  // namespace blockreplay::keeper::thorchain
