#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgMimir: a node votes for the value of a mimir.
std::unique_ptr<sdk::MessageHandler> NewMimirHandler(Managers* managers);

void EmitSetMimirEvent(const Context& ctx, std::string_view key, int64_t value);

}  // namespace blockreplay::keeper::thorchain
