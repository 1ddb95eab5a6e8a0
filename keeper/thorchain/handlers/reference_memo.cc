#include "keeper/thorchain/handlers/reference_memo.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/reference_memos.h"

namespace blockreplay::keeper::thorchain {
namespace {

// How many numbers are tried at most.
constexpr int64_t kMaxTries = 100'000;

Error Validate(const Keeper& k, const Context& ctx, const MsgReferenceMemo& message) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, message));
  if (const MemoResult memo = ParseMemoWithNames(k, ctx, message.memo); !memo.ok()) {
    return Error::New(std::string(memo.status.message()));
  }
  if (GetMimir(k, ctx, ToString(ConstantName::kHaltMemoless)) > 0) {
    return Error::New("memoless transactions are currently halted");
  }
  if (GetConfigInt64(k, ctx, ConstantName::kMemolessTxnTTL) <= 0) {
    return Error::New("memoless transactions is currently disabled");
  }
  const int64_t cost = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnCost);
  if (cost > 0 &&
      !HasCoins(k, ctx, message.signer, {sdk::Coin(assets::kRune.Native(), sdk::Int(cost))})) {
    return Error::New(
        sdk::StrCat("insufficient RUNE balance to pay memoless transaction cost of ", cost));
  }
  return {};
}

// The first number behind the last one given out that is free, round and round; empty if none is.
std::string NextReference(const Keeper& k, const Context& ctx, const Asset& asset,
                          const std::string& last, int64_t ttl) {
  const int64_t count = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnRefCount);
  if (count <= 0) return "";
  int64_t number = 0;
  std::from_chars(last.data(), last.data() + last.size(), number);
  number = number >= count ? 1 : number + 1;
  bool wrapped = false;
  for (int64_t i = 0; i < std::min(count, kMaxTries); ++i, ++number) {
    if (number > count) {
      if (wrapped) return "";
      number = 1;
      wrapped = true;
    }
    std::string reference = PadReference(ReferenceLength(count), std::to_string(number));
    const Result<ReferenceMemo> memo = GetReferenceMemo(k, ctx, asset, reference);
    if (memo.ok() && (memo->height == 0 || IsExpired(*memo, ctx.height(), ttl))) {
      return reference;
    }
  }
  return "";
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgReferenceMemo& m) {
  if (m.asset.IsEmpty()) return Error(sdk::kErrInvalidAddress, "asset cannot be empty");
  if (m.memo.empty()) return Error(sdk::kErrInvalidAddress, "memo cannot be empty");
  if (m.memo.size() > kMaxMemoSize) {
    return Error::New(sdk::StrCat("memo cannot exceed ", kMaxMemoSize, ": it is ", m.memo.size()));
  }
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "empty signer address");
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgReferenceMemo& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  const int64_t ttl = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnTTL);
  const int64_t cost = GetConfigInt64(k, ctx, ConstantName::kMemolessTxnCost);
  // Before the cost is charged: no number, no charge.
  const std::string reference =
      NextReference(k, ctx, message.asset, GetLastReferenceNumber(k, ctx, message.asset), ttl);
  if (reference.empty()) return Error::New("unable to find an available reference");
  if (cost > 0) {
    if (Error error = SendFromAccountToModule(k, ctx, message.signer, kReserveModule,
                                              {Coin(assets::kRune, static_cast<uint64_t>(cost))});
        error) {
      return Error::Opaque("fail to transfer memoless transaction cost to reserve", error);
    }
  }
  ReferenceMemo memo;
  memo.asset = message.asset;
  memo.memo = message.memo;
  memo.reference = reference;
  memo.height = ctx.height();
  memo.registered_by = message.signer;
  memo.registration_hash = TxID(UpperHex(Sha256(ctx.tx_bytes())));
  SetReferenceMemo(k, ctx, std::move(memo));
  SetLastReferenceNumber(k, ctx, message.asset, reference);
  return {};
}

}  // namespace blockreplay::keeper::thorchain
