#pragma once

// Swaps on their way into the queues. What the end block does with them comes later.

#include <string_view>

#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// How a swap is cut into parts: 0 parts let the queue choose, an interval of 0 allows several in
// one block.
struct SwapParts {
  uint64_t quantity = 0;
  uint64_t interval = 0;
};
// A swap of the whole first coin at market price, for the queue in use.
MsgSwap MakeMarketSwap(const Keeper& k, const Context& ctx, const Tx& tx, const Asset& target,
                       const Address& destination, SwapParts parts, const AccAddress& signer);

// Queues it where its version belongs: the classic queue takes everything, the advanced one only
// what passes ValidateSwap (handlers/swap.h).
Error AddSwap(Managers& mgr, const Context& ctx, MsgSwap swap);
// Into the advanced queue, its state completed.
Error AddAdvSwapQueueItem(Managers& mgr, const Context& ctx, MsgSwap* swap);

// Ends a swap of the advanced queue: sends what it gave, refunds what it left, forgets it. An error
// leaves no writes and events.
Error SettleSwap(Managers& mgr, const Context& ctx, const MsgSwap& swap, std::string_view reason);

// What the swap would give exceeds its limit and the fee of the outbound together.
bool WillSwapExceedLimitAndFees(const Keeper& k, const Context& ctx, const MsgSwap& swap);

}  // namespace blockreplay::keeper::thorchain
