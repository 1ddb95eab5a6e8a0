#pragma once

#include <cstdint>
#include <string_view>

namespace blockreplay::keeper::gno {

// What a transaction can fail with: the abci errors of tm2 (tm2/pkg/std), which results name by
// their amino type URL.
enum class Error : uint8_t {
  kNone,
  kInternal,
  kTxDecode,
  kUnauthorized,
  kInsufficientFunds,
  kUnknownRequest,
  kInvalidAddress,
  kUnknownAddress,
  kInvalidPubKey,
  kInsufficientCoins,
  kInvalidCoins,
  kInvalidGasWanted,
  kOutOfGas,
  kMemoTooLarge,
  kInsufficientFee,
  kTooManySignatures,
  kNoSignatures,
  kGasOverflow,
  kRestrictedTransfer,
  kSessionExpired,
  kSessionNotFound,
  kSessionLimit,
  kSessionNotAllowed,
  kVestingLockedCoins,
};

// Empty for kNone.
std::string_view TypeUrl(Error error);

}  // namespace blockreplay::keeper::gno
