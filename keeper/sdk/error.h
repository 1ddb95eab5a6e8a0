#pragma once

// Errors inside the keeper unit. A failed message is a value that carries the codespace and the
// code that end up in the transaction's result, as cosmossdk.io/errors v1 computes them; a Go panic
// is the exception `Panic`, thrown by state transitions and caught by the transaction runner (or by
// the code that recovers in the original). Neither leaves the keeper unit: chains return
// absl::Status.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::sdk {

// A registered error.
struct ErrorCode {
  std::string_view codespace;
  uint32_t code;
  std::string_view description;

  friend bool operator==(const ErrorCode& a, const ErrorCode& b) {
    return a.code == b.code && a.codespace == b.codespace;
  }
};

// Codespace "sdk" (cosmos-sdk types/errors).
inline constexpr ErrorCode kErrTxDecode{"sdk", 2, "tx parse error"};
inline constexpr ErrorCode kErrInvalidSequence{"sdk", 3, "invalid sequence"};
inline constexpr ErrorCode kErrUnauthorized{"sdk", 4, "unauthorized"};
inline constexpr ErrorCode kErrInsufficientFunds{"sdk", 5, "insufficient funds"};
inline constexpr ErrorCode kErrUnknownRequest{"sdk", 6, "unknown request"};
inline constexpr ErrorCode kErrInvalidAddress{"sdk", 7, "invalid address"};
inline constexpr ErrorCode kErrInvalidPubKey{"sdk", 8, "invalid pubkey"};
inline constexpr ErrorCode kErrUnknownAddress{"sdk", 9, "unknown address"};
inline constexpr ErrorCode kErrInvalidCoins{"sdk", 10, "invalid coins"};
inline constexpr ErrorCode kErrOutOfGas{"sdk", 11, "out of gas"};
inline constexpr ErrorCode kErrMemoTooLarge{"sdk", 12, "memo too large"};
inline constexpr ErrorCode kErrInsufficientFee{"sdk", 13, "insufficient fee"};
inline constexpr ErrorCode kErrTooManySignatures{"sdk", 14,
                                                 "maximum number of signatures exceeded"};
inline constexpr ErrorCode kErrNoSignatures{"sdk", 15, "no signatures supplied"};
inline constexpr ErrorCode kErrInvalidRequest{"sdk", 18, "invalid request"};
inline constexpr ErrorCode kErrInvalidSigner{"sdk", 24,
                                             "tx intended signer does not match the given signer"};
inline constexpr ErrorCode kErrTxTimeoutHeight{"sdk", 30, "tx timeout height"};
inline constexpr ErrorCode kErrUnknownExtensionOptions{"sdk", 31, "unknown extension options"};
inline constexpr ErrorCode kErrWrongSequence{"sdk", 32, "incorrect account sequence"};
inline constexpr ErrorCode kErrUnpackAny{"sdk", 34, "failed unpacking protobuf message from Any"};
inline constexpr ErrorCode kErrLogic{"sdk", 35, "internal logic error"};
inline constexpr ErrorCode kErrNotFound{"sdk", 38, "not found"};
inline constexpr ErrorCode kErrPanic{"undefined", 111222, "panic"};
// What an error without a registered code becomes.
inline constexpr ErrorCode kErrUnregistered{"undefined", 1, "internal"};

// Go's `error`: nil by default. `if (err)` means failed. Cheap to return when nil.
class [[nodiscard]] Error {
 public:
  Error() = default;
  // A registered error with a message in front: `code.Wrap(message)`; an empty message is the error
  // itself.
  explicit Error(const ErrorCode& code, std::string_view message = {});
  // An error without a code: errors.New, fmt.Errorf.
  static Error New(std::string message);
  // fmt.Errorf("message: %w", cause): the code is lost, Is() still finds it.
  static Error Opaque(std::string_view message, const Error& cause);

  explicit operator bool() const { return rep_ != nullptr; }
  bool ok() const { return rep_ == nullptr; }

  // errorsmod.Wrap: code kept, `message: ` put in front. nil stays nil.
  Error Wrap(std::string_view message) const;
  // errors.Is(err, code) along the chain of causes.
  bool Is(const ErrorCode& code) const;

  // "" and 0 for nil, "undefined" and 1 without a registered code.
  std::string_view codespace() const;
  uint32_t code() const;
  const std::string& message() const;

 private:
  struct Rep {
    ErrorCode code;
    std::string message;
    std::shared_ptr<const Rep> cause;
  };
  explicit Error(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

  std::shared_ptr<const Rep> rep_;
};

// Go's `(T, error)` where the value is of no use in case of an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit like absl::StatusOr
  Result(Error error) : error_(std::move(error)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  const Error& error() const { return error_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

// Thrown where execution needs code that does not exist yet, so that the phase counts as not native
// instead of wrong.
class NotNative {
 public:
  explicit NotNative(std::string what) : what_(std::move(what)) {}
  const std::string& what() const { return what_; }

 private:
  std::string what_;
};

#define KEEPER_CONCAT_INNER(a, b) a##b
#define KEEPER_CONCAT(a, b) KEEPER_CONCAT_INNER(a, b)
// Returns the error of `expression` (an Error) from the function if it is not nil.
#define KEEPER_RETURN_IF_ERROR(expression)                                           \
  do {                                                                               \
    if (::blockreplay::keeper::sdk::Error keeper_error = (expression); keeper_error) \
      return keeper_error;                                                           \
  } while (false)
// Assigns the value of `expression` (a Result<T>) to `lhs`, or returns its error.
#define KEEPER_ASSIGN_OR_RETURN(lhs, expression) \
  KEEPER_ASSIGN_OR_RETURN_INNER(KEEPER_CONCAT(keeper_result_, __LINE__), lhs, expression)
#define KEEPER_ASSIGN_OR_RETURN_INNER(result, lhs, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return result.error();                     \
  lhs = *std::move(result)

}  // namespace blockreplay::keeper::sdk
