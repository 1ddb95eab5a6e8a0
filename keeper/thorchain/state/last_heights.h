#pragma once

// last_chain_height/, last_observe_height/ and last_signed_height/

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Of another chain: up to where its inbound transactions were agreed on. Zero if unknown.
int64_t GetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain);
// Does nothing if the height is lower than the last one.
void SetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain, int64_t height);
void ForceSetLastChainHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                             int64_t height);

// Of a node on another chain. Setting does nothing if the height is lower than the last one.
void SetLastObserveHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                          const AccAddress& node, int64_t height);
void ForceSetLastObserveHeight(const Keeper& k, const Context& ctx, const Chain& chain,
                               const AccAddress& node, int64_t height);

// Of this chain: the height of the youngest inbound whose outbound was observed.
int64_t GetLastSignedHeight(const Keeper& k, const Context& ctx);
void SetLastSignedHeight(const Keeper& k, const Context& ctx, int64_t height);

}  // namespace blockreplay::keeper::thorchain
