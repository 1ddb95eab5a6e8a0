#pragma once

// mimir/: values that nodes and admins set, by name, in the place of constants. Also what follows
// from them: halts.

#include <cstdint>
#include <string_view>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What the functions below read.
inline constexpr std::string_view kMimirPrefix = "mimir/";
inline constexpr std::string_view kRagnarokHeightPrefix = "ragnarokHeight/";

// -1 if it isn't set. The test build falls back to the node's environment.
int64_t GetMimir(const Keeper& k, const Context& ctx, std::string_view key);
void SetMimir(const Keeper& k, const Context& ctx, std::string_view key, int64_t value);
void DeleteMimir(const Keeper& k, const Context& ctx, std::string_view key);
// The mimir of that name if it is not negative, else the constant.
int64_t GetConfigInt64(const Keeper& k, const Context& ctx, ConstantName name);

bool IsRagnarokInProgress(const Keeper& k, const Context& ctx);
bool IsGlobalTradingHalted(const Keeper& k, const Context& ctx);
bool IsChainTradingHalted(const Keeper& k, const Context& ctx, const Chain& chain);
bool IsChainHalted(const Keeper& k, const Context& ctx, const Chain& chain);

}  // namespace blockreplay::keeper::thorchain
