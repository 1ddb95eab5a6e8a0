#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgProposeUpgrade, MsgApproveUpgrade and MsgRejectUpgrade: validators agree on the height
// of the software's next version.
std::unique_ptr<sdk::MessageHandler> NewProposeUpgradeHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewApproveUpgradeHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewRejectUpgradeHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
