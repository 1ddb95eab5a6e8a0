#pragma once

// Accounts in the state (tm2/pkg/sdk/auth, keeper.go). Reading a malformed one throws sdk::Panic.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "keeper/gno/account.h"
#include "keeper/gno/context.h"

namespace blockreplay::keeper::gno {

inline constexpr std::string_view kGlobalAccountNumberKey = "globalAccountNumber";
inline constexpr std::string_view kGasPriceKey = "gasPrice";

// "/a/" and the address; with a session, "/s/" and its address behind it.
class AccountKey {
 public:
  explicit AccountKey(const Address& address);
  AccountKey(const Address& master, const Address& session);
  // Before all sessions of an account.
  static AccountKey SessionPrefix(const Address& master);
  std::string_view view() const { return {bytes_, size_}; }

 private:
  void Append(std::string_view bytes);
  char bytes_[46];
  size_t size_ = 0;
};

std::optional<Account> LoadAccount(const Context& context, const Address& address);
void StoreAccount(const Context& context, const Account& account);

std::optional<Account> LoadSession(const Context& context, const Address& master,
                                   const Address& session);
void StoreSession(const Context& context, const Address& master, const Account& session);

// Takes the next number of the chain.
uint64_t TakeAccountNumber(const Context& context);
// With the next number; not stored.
Account NewAccount(const Context& context, const Address& address);

}  // namespace blockreplay::keeper::gno
