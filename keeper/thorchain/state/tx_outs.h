#pragma once

// txout/: what is scheduled to leave the vaults, by height.

#include <memory>
#include <string>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

using TxOutItems = std::vector<TxOutItem>;

// Decoded once per stored value and shared; nobody changes it.
using SharedTxOut = std::shared_ptr<const TxOut>;

std::string TxOutKey(int64_t height);
// Null for malformed bytes.
SharedTxOut DecodeTxOut(std::string_view bytes);
// What stands for an absent one: without items, of height 0.
const SharedTxOut& NoTxOut();

// Without items if there is none. A copy of the caller's own.
Result<TxOut> GetTxOut(const Keeper& k, const Context& ctx, int64_t height);
// The same reads without the copy; NoTxOut() if there is none.
Result<SharedTxOut> ReadTxOut(const Keeper& k, const Context& ctx, int64_t height);
// Does nothing without items.
void SetTxOut(const Keeper& k, const Context& ctx, const TxOut& tx_out);
Error AppendTxOut(const Keeper& k, const Context& ctx, int64_t height, const TxOutItem& item);
void ClearTxOut(const Keeper& k, const Context& ctx, int64_t height);

// ---- Without the store ----

// The memo by which an observation is matched, also where it is left out on the chain.
inline const std::string& GetMemo(const TxOutItem& item) {
  return item.original_memo.empty() ? item.memo : item.original_memo;
}
// The module that pays: Asgard if none is named.
std::string_view GetModuleName(const TxOutItem& item);

}  // namespace blockreplay::keeper::thorchain
