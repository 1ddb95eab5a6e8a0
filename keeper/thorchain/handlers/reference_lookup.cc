#include "keeper/thorchain/handlers/reference_lookup.h"

#include <algorithm>
#include <utility>

#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/reference_memos.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr int64_t kDecimals = 8;
constexpr size_t kLongestReference = 19;

// Adds the transaction to the memo's users, whether it may use the memo or not.
void TrackUsage(const Keeper& k, const Context& ctx, const Asset& asset, const std::string& memo,
                const TxID& tx_id) {
  const MemoResult parsed = ParseMemoWithoutState(memo, k.network());
  const ReferenceReadMemo* reference = parsed.memo.As<ReferenceReadMemo>();
  if (reference == nullptr || !ReferenceMemoExists(k, ctx, asset, reference->reference)) return;
  Result<ReferenceMemo> record = GetReferenceMemo(k, ctx, asset, reference->reference);
  if (!record.ok()) return;
  std::vector<TxID>& users = record->used_by_txs;
  if (std::find(users.begin(), users.end(), tx_id) != users.end()) return;
  users.push_back(tx_id);
  SetReferenceMemo(k, ctx, *std::move(record));
  // Read for the log.
  (void)GetConfigInt64(k, ctx, ConstantName::kMemolessTxnMaxUse);
}

// The last digits that an amount of so many decimals has.
Result<std::string> ReferenceFromDigits(const Keeper& k, const Context& ctx, uint64_t amount,
                                        int64_t decimals) {
  const int64_t count = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnRefCount);
  const size_t length = ReferenceLength(count);
  if (length > kLongestReference) {
    return Error::New(sdk::StrCat("reference length ", length, " exceeds maximum ",
                                  kLongestReference, " to prevent overflow"));
  }
  uint64_t modulus = 1;
  if (count > 0) {
    for (size_t i = 0; i < length; ++i) modulus *= 10;
  }
  for (int64_t i = decimals; i < kDecimals; ++i) amount /= 10;
  const uint64_t reference = amount % modulus;
  if (reference == 0) {
    return Error::New(sdk::StrCat("zero reference from amount is invalid: amount ", amount,
                                  " is divisible by modulus ", modulus));
  }
  return PadReference(length, std::to_string(reference));
}

}  // namespace

Result<std::string> ReferenceFromNativeAmount(const Keeper& k, const Context& ctx,
                                              uint64_t amount) {
  if (amount == 0) return Error::New("zero amount in transaction for reference generation");
  return ReferenceFromDigits(k, ctx, amount, kDecimals);
}

Result<std::string> ReferenceFromAmount(const Keeper& k, const Context& ctx, const Asset& asset,
                                        uint64_t amount) {
  if (asset.IsEmpty()) return Error::New("asset is empty for reference generation");
  if (amount == 0) return Error::New("zero amount in transaction for reference generation");
  int64_t decimals = 0;
  if (asset.IsGasAsset()) {
    decimals = asset.chain.GetGasAssetDecimal();
  } else {
    KEEPER_ASSIGN_OR_RETURN(const Pool pool, GetPool(k, ctx, asset));
    // A pool without the number has the usual one.
    decimals = pool.decimals == 0 ? kDecimals : pool.decimals;
  }
  return ReferenceFromDigits(k, ctx, amount, decimals);
}

std::string ResolveReference(const Keeper& k, const Context& ctx, const Asset& asset, const Tx& tx,
                             int64_t observed_height) {
  const MemoResult parsed = ParseMemoWithNames(k, ctx, tx.memo);
  if (parsed.memo.type != TxType::kReferenceReadMemo) return tx.memo;
  const ReferenceReadMemo* reference = parsed.memo.As<ReferenceReadMemo>();
  if (reference == nullptr) return tx.memo;
  if (GetMimir(k, ctx, ToString(ConstantName::kHaltMemoless)) > 0) return "";
  if (!ReferenceMemoExists(k, ctx, asset, reference->reference)) return "";
  Result<ReferenceMemo> record = GetReferenceMemo(k, ctx, asset, reference->reference);
  if (!record.ok()) return "";

  const auto usable = [&] {
    if (observed_height <= record->height) return false;
    if (IsExpired(*record, ctx.height(), GetConfigInt64(k, ctx, ConstantName::kMemolessTxnTTL))) {
      return false;
    }
    const int64_t most = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnMaxUse);
    return most <= 0 || static_cast<int64_t>(record->used_by_txs.size()) < most;
  };
  const bool is_usable = usable();
  TrackUsage(k, ctx, asset, tx.memo, tx.id);
  return is_usable ? std::move(record->memo) : std::string();
}

}  // namespace blockreplay::keeper::thorchain
