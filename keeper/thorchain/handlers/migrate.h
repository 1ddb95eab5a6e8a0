#pragma once

// Transfers from vault to vault that were observed: migrations when vaults change, consolidations
// of a vault's own outputs, and those that only correct a vault's books.

#include "keeper/thorchain/handlers/internal.h"

namespace blockreplay::keeper::thorchain {

Error ValidateBasic(const Keeper& k, const MsgMigrate& message);
Error ValidateBasic(const Keeper& k, const MsgConsolidate& message);
Error ValidateBasic(const Keeper& k, const MsgNoOp& message);
Error ValidateBasic(const Keeper& k, const MsgRagnarok& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgMigrate& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgConsolidate& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgNoOp& message);
Error HandleInternal(Managers& mgr, const Context& ctx, const MsgRagnarok& message);

}  // namespace blockreplay::keeper::thorchain
