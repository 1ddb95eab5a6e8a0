#pragma once

// Sessions: keys that sign for an account within limits (tm2/pkg/sdk/auth, spend.go and handler.go;
// gno.land/pkg/gnoland, allow_paths.go).

#include <string_view>

#include "keeper/gno/account.h"
#include "keeper/gno/context.h"
#include "keeper/gno/tx.h"

namespace blockreplay::keeper::gno {

// Whether the session may spend `amount` on top of what it spent; changes nothing.
Error CheckSpend(const Context& context, const Account& session, const Coins& amount);
// Counts `amount` against the limit, in memory.
Error DeductSpend(const Context& context, Account* session, const Coins& amount);

// Whether a session with these paths may sign the message.
Error CheckAllowed(const Context& context, const Account& session, const Msg& msg);

Error CreateSession(const Context& context, const Msg& msg);
Error RevokeSession(const Context& context, const Msg& msg);
Error RevokeAllSessions(const Context& context, const Msg& msg);

}  // namespace blockreplay::keeper::gno
