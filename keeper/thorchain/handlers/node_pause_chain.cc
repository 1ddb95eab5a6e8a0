#include "keeper/thorchain/handlers/node_pause_chain.h"

#include <algorithm>

#include "keeper/thorchain/handlers/mimir.h"
#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_mimirs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kPauseMimir = "NodePauseChainGlobal";

class NodePauseChainHandler : public ActiveValidatorHandler<MsgNodePauseChain> {
 public:
  explicit NodePauseChainHandler(Managers* managers)
      : ActiveValidatorHandler("/types.MsgNodePauseChain", managers) {}

 protected:
  Error ValidateBasic(const MsgNodePauseChain& message) const override {
    return message.signer.IsEmpty() ? Error(sdk::kErrInvalidAddress) : Error();
  }
  Error Run(const Context& ctx, const MsgNodePauseChain& message) const override {
    KEEPER_ASSIGN_OR_RETURN(const Vaults active,
                            GetAsgardVaultsByStatus(k(), ctx, VaultStatus::ActiveVault));
    int64_t last_churn = -1;
    for (const Vault& vault : active) last_churn = std::max(last_churn, vault.status_since);
    const int64_t used = GetNodePauseChain(k(), ctx, message.signer);
    if (used > 0 && used >= last_churn) {
      return Error::New("node has already chosen pause/resume since the last churn");
    }

    int64_t pause_height = GetMimir(k(), ctx, kPauseMimir);
    const int64_t blocks = GetConfigInt64(k(), ctx, ConstantName::kNodePauseChainBlocks);
    const bool paused = pause_height > ctx.height();
    if (message.value > 0) {
      pause_height = (paused ? pause_height : ctx.height()) + blocks;
    } else if (paused) {
      pause_height -= blocks;
    } else {
      return {};
    }
    SetNodePauseChain(k(), ctx, message.signer);
    SetMimir(k(), ctx, kPauseMimir, pause_height);
    EmitSetMimirEvent(ctx, kPauseMimir, pause_height);
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewNodePauseChainHandler(Managers* managers) {
  return std::make_unique<NodePauseChainHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
