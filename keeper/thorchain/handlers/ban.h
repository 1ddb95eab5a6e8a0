#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgBan: a node votes to ban another.
std::unique_ptr<sdk::MessageHandler> NewBanHandler(Managers* managers);

}  // namespace blockreplay::keeper::thorchain
