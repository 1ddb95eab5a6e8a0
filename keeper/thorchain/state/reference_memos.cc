#include "keeper/thorchain/state/reference_memos.h"

#include <utility>

#include "keeper/thorchain/state/mimir.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string MemoKey(const Asset& asset, std::string_view reference) {
  return StoreKey("refm/", asset.ToString(), "/", reference);
}
std::string NumberKey(const Asset& asset) { return StoreKey("refmi/", asset.ToString()); }
std::string HashKey(const TxID& hash) { return StoreKey("refmh/", hash.ToString()); }

// Longer references stay as they are.
std::string Normalize(const Keeper& k, const Context& ctx, std::string_view reference) {
  const int64_t count = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnRefCount);
  if (count <= 0 || reference.size() >= ReferenceLength(count)) return std::string(reference);
  return PadReference(ReferenceLength(count), reference);
}

}  // namespace

bool ReferenceMemoExists(const Keeper& k, const Context& ctx, const Asset& asset,
                         std::string_view reference) {
  return HasKey(k, ctx, MemoKey(asset, Normalize(k, ctx, reference)));
}

Result<ReferenceMemo> GetReferenceMemo(const Keeper& k, const Context& ctx, const Asset& asset,
                                       std::string_view reference) {
  std::string normalized = Normalize(k, ctx, reference);
  ReferenceMemo memo;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, MemoKey(asset, normalized), &memo));
  if (!found) {
    memo.asset = asset;
    memo.reference = std::move(normalized);
  }
  return memo;
}

void SetReferenceMemo(const Keeper& k, const Context& ctx, ReferenceMemo memo) {
  memo.reference = Normalize(k, ctx, memo.reference);
  SetRecord(k, ctx, MemoKey(memo.asset, memo.reference), memo);
  const std::string hash_key = HashKey(memo.registration_hash);
  if (HasKey(k, ctx, hash_key) || memo.registration_hash.IsEmpty()) return;
  SetString(k, ctx, hash_key, sdk::StrCat(memo.asset.ToString(), "/", memo.reference));
}

std::string GetLastReferenceNumber(const Keeper& k, const Context& ctx, const Asset& asset) {
  std::string reference;
  GetString(k, ctx, NumberKey(asset), &reference);
  return reference;
}

void SetLastReferenceNumber(const Keeper& k, const Context& ctx, const Asset& asset,
                            const std::string& reference) {
  SetString(k, ctx, NumberKey(asset), reference);
}

size_t ReferenceLength(int64_t count) { return std::to_string(count).size(); }

std::string PadReference(size_t length, std::string_view reference) {
  if (reference.size() >= length) return std::string(reference.substr(0, length));
  return std::string(length - reference.size(), '0').append(reference);
}

}  // namespace blockreplay::keeper::thorchain
