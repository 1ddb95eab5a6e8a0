#pragma once

// refm/, refmi/ and refmh/: memos registered under a number, for transfers without a memo.

#include <string>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// References are padded with zeros to the length of MemolessTxnRefCount, which each of these reads
// first.
bool ReferenceMemoExists(const Keeper& k, const Context& ctx, const Asset& asset,
                         std::string_view reference);
// Without memo if there is none.
Result<ReferenceMemo> GetReferenceMemo(const Keeper& k, const Context& ctx, const Asset& asset,
                                       std::string_view reference);
// Also by the hash of its registration, unless that is taken.
void SetReferenceMemo(const Keeper& k, const Context& ctx, ReferenceMemo memo);

// The last number given out; empty if none was.
std::string GetLastReferenceNumber(const Keeper& k, const Context& ctx, const Asset& asset);
void SetLastReferenceNumber(const Keeper& k, const Context& ctx, const Asset& asset,
                            const std::string& reference);

// ---- Without the store ----

inline bool IsExpired(const ReferenceMemo& memo, int64_t height, int64_t ttl) {
  return memo.height + ttl < height;
}
// Digits of a number, as the length of references.
size_t ReferenceLength(int64_t count);
// With zeros in front; cut if it is longer.
std::string PadReference(size_t length, std::string_view reference);

}  // namespace blockreplay::keeper::thorchain
