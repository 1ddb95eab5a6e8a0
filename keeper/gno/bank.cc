#include "keeper/gno/bank.h"

#include <algorithm>
#include <cstring>

#include "keeper/gno/auth.h"
#include "keeper/gno/params.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

std::string_view Join(const Context& context, std::string_view a, std::string_view b,
                      std::string_view c) {
  char* const to = context.scratch->Allocate(a.size() + b.size() + c.size());
  std::memcpy(to, a.data(), a.size());
  if (!b.empty()) std::memcpy(to + a.size(), b.data(), b.size());
  std::memcpy(to + a.size() + b.size(), c.data(), c.size());
  return {to, a.size() + b.size() + c.size()};
}

std::string_view BalanceKey(const Context& context, const Address& address,
                            std::string_view denom) {
  return Join(context, "/b/", address.view(), denom);
}

std::string_view SupplyKey(const Context& context, std::string_view denom) {
  return Join(context, "/supply/", {}, denom);
}

int64_t LoadAmount(const Context& context, std::string_view key) {
  const std::optional<std::string_view> bytes = context.state->Get(key, context.payer);
  if (!bytes.has_value()) return 0;
  if (bytes->size() != 8) throw sdk::Panic("corrupt balance value");
  uint64_t amount = 0;
  for (const char c : *bytes) amount = amount << 8 | static_cast<uint8_t>(c);
  if (amount == 0 || amount > INT64_MAX) throw sdk::Panic("corrupt balance value");
  return static_cast<int64_t>(amount);
}

void StoreAmount(const Context& context, std::string_view key, int64_t amount) {
  if (amount == 0) {
    context.state->Delete(key, context.payer);
    return;
  }
  if (amount < 0) throw sdk::Panic("refusing to encode non-positive balance");
  char* const bytes = context.scratch->Allocate(8);
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(amount >> (56 - 8 * i));
  context.state->Set(key, std::string_view(bytes, 8), context.payer);
}

const Coins& AccountCoins(const Account& account) {
  for (const Coin& coin : account.coins) {
    if (coin.denom != kNativeDenom)
      throw sdk::Panic("denomination in the account object that is not in the account tier");
  }
  return account.coins;
}

// A balance under its own key, and what it becomes.
struct SplitBalance {
  std::string_view key;
  int64_t amount;
};
using SplitBalances = absl::InlinedVector<SplitBalance, 2>;

}  // namespace

int64_t BalanceOf(const Context& context, const Address& address, std::string_view denom) {
  if (denom.size() > kMaxDenomSize) return 0;
  if (denom != kNativeDenom) return LoadAmount(context, BalanceKey(context, address, denom));
  const std::optional<Account> account = LoadAccount(context, address);
  return account.has_value() ? AccountCoins(*account).AmountOf(denom) : 0;
}

Error SubtractCoins(const Context& context, const Address& address, const Coins& amount,
                    Vesting vesting, std::optional<Account>* after) {
  if (!amount.IsValid()) return context.Fail(Error::kInvalidCoins, "invalid amount");
  std::optional<Account> account = LoadAccount(context, address);

  // A schedule that has nothing left to lock is dropped with the next debit that succeeds.
  bool upgraded = false;
  if (account.has_value() && account->is_vesting()) {
    const Coins locked = account->LockedCoins(context.time);
    if (locked.IsZero()) {
      account->type = Account::Type::kBase;
      upgraded = true;
    } else if (vesting == Vesting::kEnforced) {
      for (const Coin& coin : amount) {
        const int64_t locked_amount = locked.AmountOf(coin.denom);
        if (locked_amount == 0) continue;
        const int64_t spendable =
            std::max<int64_t>(BalanceOf(context, address, coin.denom) - locked_amount, 0);
        if (spendable < coin.amount)
          return context.Fail(Error::kVestingLockedCoins, "insufficient spendable coins");
      }
    }
  }

  SplitBalances debited;
  Coins native;
  for (const Coin& coin : amount) {
    if (coin.denom == kNativeDenom) {
      native.Append(coin);
      continue;
    }
    const std::string_view key = BalanceKey(context, address, coin.denom);
    const int64_t balance = LoadAmount(context, key);
    if (balance < coin.amount)
      return context.Fail(Error::kInsufficientCoins, "insufficient account funds");
    debited.push_back({key, balance - coin.amount});
  }
  Coins remaining;
  if (!native.empty()) {
    remaining = (account.has_value() ? AccountCoins(*account) : Coins()).SubUnsafe(native);
    if (!remaining.IsValid())
      return context.Fail(Error::kInsufficientCoins, "insufficient account funds");
  }

  if (upgraded) StoreAccount(context, *account);
  if (!native.empty()) {
    // Without an account there was nothing to take from, so there is one.
    account->coins = remaining;
    StoreAccount(context, *account);
  }
  for (const SplitBalance& balance : debited) StoreAmount(context, balance.key, balance.amount);
  if (after != nullptr) *after = std::move(account);
  return Error::kNone;
}

void AddCoins(const Context& context, const Address& address, const Coins& amount) {
  SplitBalances credited;
  Coins native;
  for (const Coin& coin : amount) {
    if (coin.denom == kNativeDenom) {
      native.Append(coin);
      continue;
    }
    const std::string_view key = BalanceKey(context, address, coin.denom);
    int64_t sum = 0;
    if (__builtin_add_overflow(LoadAmount(context, key), coin.amount, &sum))
      throw sdk::Panic("coin add overflow");
    credited.push_back({key, sum});
  }
  std::optional<Account> account = LoadAccount(context, address);
  if (!account.has_value()) {
    account = NewAccount(context, address);
    StoreAccount(context, *account);
  }
  if (!native.empty()) {
    account->coins = AccountCoins(*account).Add(native);
    StoreAccount(context, *account);
  }
  for (const SplitBalance& balance : credited) StoreAmount(context, balance.key, balance.amount);
}

bool IsRestricted(const Context& context, const Address& sender, const Coins& amount) {
  for (const std::string& denom : ReadRestrictedDenoms(context.state)) {
    for (const Coin& coin : amount) {
      if (coin.denom != denom || coin.amount <= 0) continue;
      const std::optional<Account> account = LoadAccount(context, sender);
      return !account.has_value() || !account->transfer_lock_whitelisted();
    }
  }
  return false;
}

void MintCoins(const Context& context, const Address& address, const Coin& coin) {
  const std::string_view key = SupplyKey(context, coin.denom);
  int64_t supply = 0;
  if (__builtin_add_overflow(LoadAmount(context, key), coin.amount, &supply))
    throw sdk::Panic("supply out of range");
  AddCoins(context, address, Coins(coin));
  StoreAmount(context, key, supply);
}

}  // namespace blockreplay::keeper::gno
