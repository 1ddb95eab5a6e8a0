#pragma once

// thorname/

#include <string_view>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kTHORNamePrefix = "thorname/";

// There is a record, and it has not expired. Reads the record twice over.
bool THORNameExists(const Keeper& k, const Context& ctx, std::string_view name);
// An error if there is none; without content if it has expired.
Result<THORName> GetTHORName(const Keeper& k, const Context& ctx, std::string_view name);
void SetTHORName(const Keeper& k, const Context& ctx, const THORName& name);
void DeleteTHORName(const Keeper& k, const Context& ctx, std::string_view name);

// ---- Without the store ----

// The name's address on a chain; empty if it has none.
Address GetAlias(const THORName& name, const Chain& chain);
void SetAlias(THORName* name, const Chain& chain, const Address& address);

}  // namespace blockreplay::keeper::thorchain
