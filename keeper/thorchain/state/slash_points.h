#pragma once

// slash/ and jail/: what nodes did wrong.

#include <string>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

int64_t GetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node);
// Negative points become zero.
void SetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points);
void ResetSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node);
void AddSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points);
void SubSlashPoints(const Keeper& k, const Context& ctx, const AccAddress& node, int64_t points);

Result<Jail> GetNodeJail(const Keeper& k, const Context& ctx, const AccAddress& node);
// Never shortens a sentence.
Error SetNodeJail(const Keeper& k, const Context& ctx, const AccAddress& node,
                  int64_t release_height, std::string reason);
Error ReleaseNodeFromJail(const Keeper& k, const Context& ctx, const AccAddress& node);

}  // namespace blockreplay::keeper::thorchain
