#pragma once

// Balances (tm2/pkg/sdk/bank). The gas denomination lives in the account, every other one under a
// key of its own. Malformed balances, overflows and the like throw sdk::Panic as in the original.

#include <cstdint>
#include <optional>
#include <string_view>

#include "keeper/gno/account.h"
#include "keeper/gno/context.h"

namespace blockreplay::keeper::gno {

// Of any denomination.
int64_t BalanceOf(const Context& context, const Address& address, std::string_view denom);

enum class Vesting { kEnforced, kIgnored };
// Takes `amount` from the balances of `address`, nothing on an error. The account as it is stored
// afterwards is left in `*after`, if that is not null and there is one.
Error SubtractCoins(const Context& context, const Address& address, const Coins& amount,
                    Vesting vesting, std::optional<Account>* after);
// Creates the account where there is none.
void AddCoins(const Context& context, const Address& address, const Coins& amount);

// A restriction of denominations forbids the transfer.
bool IsRestricted(const Context& context, const Address& sender, const Coins& amount);

// Creates coins that the supply counts.
void MintCoins(const Context& context, const Address& address, const Coin& coin);

}  // namespace blockreplay::keeper::gno
