#pragma once

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgWasmExec& message);
// Calls a contract with what a transaction brought. Native as far as there is no such contract;
// throws NotNative where one would run.
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgWasmExec& message);

}  // namespace blockreplay::keeper::thorchain
