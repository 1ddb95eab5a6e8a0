#include "keeper/gno/error.h"

namespace blockreplay::keeper::gno {

std::string_view TypeUrl(Error error) {
  switch (error) {
    case Error::kNone:
      return "";
    case Error::kInternal:
      return "/std.InternalError";
    case Error::kTxDecode:
      return "/std.TxDecodeError";
    case Error::kUnauthorized:
      return "/std.UnauthorizedError";
    case Error::kInsufficientFunds:
      return "/std.InsufficientFundsError";
    case Error::kUnknownRequest:
      return "/std.UnknownRequestError";
    case Error::kInvalidAddress:
      return "/std.InvalidAddressError";
    case Error::kUnknownAddress:
      return "/std.UnknownAddressError";
    case Error::kInvalidPubKey:
      return "/std.InvalidPubKeyError";
    case Error::kInsufficientCoins:
      return "/std.InsufficientCoinsError";
    case Error::kInvalidCoins:
      return "/std.InvalidCoinsError";
    case Error::kInvalidGasWanted:
      return "/std.InvalidGasWantedError";
    case Error::kOutOfGas:
      return "/std.OutOfGasError";
    case Error::kMemoTooLarge:
      return "/std.MemoTooLargeError";
    case Error::kInsufficientFee:
      return "/std.InsufficientFeeError";
    case Error::kTooManySignatures:
      return "/std.TooManySignaturesError";
    case Error::kNoSignatures:
      return "/std.NoSignaturesError";
    case Error::kGasOverflow:
      return "/std.GasOverflowError";
    case Error::kRestrictedTransfer:
      return "/std.RestrictedTransferError";
    case Error::kSessionExpired:
      return "/std.SessionExpiredError";
    case Error::kSessionNotFound:
      return "/std.SessionNotFoundError";
    case Error::kSessionLimit:
      return "/std.SessionLimitError";
    case Error::kSessionNotAllowed:
      return "/std.SessionNotAllowedError";
    case Error::kVestingLockedCoins:
      return "/std.VestingLockedCoinsError";
  }
  return "";
}

}  // namespace blockreplay::keeper::gno
