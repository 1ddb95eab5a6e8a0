#pragma once

// From a transaction's memo to the message it asks for.

#include <string_view>

#include "keeper/thorchain/handlers/internal.h"
#include "keeper/thorchain/memo/memo.h"

namespace blockreplay::keeper::thorchain {

// Parses with names looked up in the state. A panic is an error, as in the node.
MemoResult ParseMemoWithNames(const Keeper& k, const Context& ctx, std::string_view memo);

// An asset as memos may shorten it, completed from the pools.
Asset FuzzyAssetMatch(const Keeper& k, const Context& ctx, const Asset& asset);

// The message of a transaction with one coin, its stateless checks passed. Texts of errors reach
// users as the reason of refunds.
Result<InternalMessage> ProcessOneTxIn(const Keeper& k, const Context& ctx, const ObservedTx& tx,
                                       const AccAddress& signer);

}  // namespace blockreplay::keeper::thorchain
