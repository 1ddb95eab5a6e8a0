#pragma once

#include "keeper/sdk/error.h"

namespace blockreplay::keeper::thorchain {

// Codespace "thorchain".
inline constexpr sdk::ErrorCode kErrInternal{"thorchain", 99, "internal error"};
inline constexpr sdk::ErrorCode kErrBadVersion{"thorchain", 101, "bad version"};
inline constexpr sdk::ErrorCode kErrInvalidMessage{"thorchain", 102, "invalid message"};
inline constexpr sdk::ErrorCode kErrInvalidMemo{"thorchain", 105, "invalid memo"};
inline constexpr sdk::ErrorCode kErrInvalidPoolStatus{"thorchain", 107, "invalid pool status"};
inline constexpr sdk::ErrorCode kErrSwapFailInvalidAmount{"thorchain", 113,
                                                          "fail swap, invalid amount"};
inline constexpr sdk::ErrorCode kErrSwapFailInvalidBalance{"thorchain", 114,
                                                           "fail swap, invalid balance"};
inline constexpr sdk::ErrorCode kErrSwapFailNotEnoughBalance{"thorchain", 115,
                                                             "fail swap, not enough balance"};
inline constexpr sdk::ErrorCode kErrAddLiquidityFailValidation{"thorchain", 120,
                                                               "fail to validate add liquidity"};
inline constexpr sdk::ErrorCode kErrFailGetLiquidityProvider{"thorchain", 122,
                                                             "fail to get liquidity provider"};
inline constexpr sdk::ErrorCode kErrAddLiquidityMismatchAddr{
    "thorchain", 123,
    "memo paired address must be non-empty and together with origin address match the liquidity "
    "provider record"};
inline constexpr sdk::ErrorCode kErrAddLiquidityRuneOverLimit{"thorchain", 125,
                                                              "add liquidity rune is over limit"};
inline constexpr sdk::ErrorCode kErrAddLiquidityRuneMoreThanBond{
    "thorchain", 126, "add liquidity rune is more than bond"};
inline constexpr sdk::ErrorCode kErrWithdrawFailValidation{"thorchain", 130,
                                                           "fail to validate withdraw"};
inline constexpr sdk::ErrorCode kErrFailAddOutboundTx{"thorchain", 131,
                                                      "prepare outbound tx not successful"};
inline constexpr sdk::ErrorCode kErrFailSaveEvent{"thorchain", 132, "fail to save add events"};
inline constexpr sdk::ErrorCode kErrNoLiquidityUnitLeft{"thorchain", 135, "nothing to withdraw"};
inline constexpr sdk::ErrorCode kErrWithdrawFail{"thorchain", 137, "fail to withdraw"};
inline constexpr sdk::ErrorCode kErrWithdrawLockup{"thorchain", 139,
                                                   "last add within lockup blocks"};
inline constexpr sdk::ErrorCode kErrTcyClaimFailValidation{"thorchain", 140,
                                                           "fail to validate tcy claim"};
inline constexpr sdk::ErrorCode kErrTcyStakeFailValidation{"thorchain", 141,
                                                           "fail to validate tcy stake"};
inline constexpr sdk::ErrorCode kErrTcyUnstakeFailValidation{"thorchain", 142,
                                                             "fail to validate tcy unstake"};

}  // namespace blockreplay::keeper::thorchain
