#include "keeper/sdk/bank.h"

#include <algorithm>
#include <utility>

#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr char kSupplyPrefix = '\x00';
constexpr char kBalancesPrefix = '\x02';
constexpr char kByDenomPrefix = '\x03';

// Addresses have at most 255 bytes, so their length is a varint of one or two bytes.
std::string BalancesOf(std::string_view address) {
  std::string key(1, kBalancesPrefix);
  size_t size = address.size();
  while (size >= 0x80) {
    key.push_back(static_cast<char>(size | 0x80));
    size >>= 7;
  }
  key.push_back(static_cast<char>(size));
  key.append(address);
  return key;
}

std::string BalanceKey(std::string_view address, std::string_view denom) {
  std::string key = BalancesOf(address);
  key.append(denom);
  return key;
}

std::string ByDenomKey(std::string_view denom, std::string_view address) {
  std::string key(1, kByDenomPrefix);
  key.append(denom);
  key.push_back('\0');
  key.push_back(static_cast<char>(address.size()));
  key.append(address);
  return key;
}

std::string SupplyKey(std::string_view denom) {
  std::string key(1, kSupplyPrefix);
  key.append(denom);
  return key;
}

// sdk.NewCoin.
Coin NewCoin(const std::string& denom, Int amount) {
  if (!IsValidDenom(denom)) throw Panic(StrCat("invalid denom: ", denom));
  if (amount.IsNegative()) throw Panic(StrCat("negative coin amount: ", amount.ToString()));
  return Coin(denom, std::move(amount));
}

Int DecodeAmount(std::string_view bytes) {
  absl::StatusOr<Int> amount = Int::Unmarshal(bytes);
  if (!amount.ok()) throw NotNative("balances in the format before cosmos-sdk 0.43");
  return *std::move(amount);
}

}  // namespace

BankKeeper::BankKeeper(StoreId store, const AuthKeeper* auth,
                       std::set<std::string, std::less<>> blocked)
    : store_(store), auth_(auth), blocked_(std::move(blocked)) {}

Coin BankKeeper::GetBalance(const Context& context, std::string_view address,
                            const std::string& denom) const {
  const std::optional<std::string_view> bytes = context.kv(store_).Get(BalanceKey(address, denom));
  return NewCoin(denom, bytes ? DecodeAmount(*bytes) : Int());
}

Coins BankKeeper::GetAllBalances(const Context& context, std::string_view address) const {
  Coins balances;
  const std::string prefix = BalancesOf(address);
  for (GasIterator it = context.kv(store_).IteratePrefix(prefix); it.Valid(); it.Next()) {
    balances.push_back(
        NewCoin(std::string(it.key().substr(prefix.size())), DecodeAmount(it.value())));
  }
  return balances;
}

Coin BankKeeper::GetSupply(const Context& context, const std::string& denom) const {
  const std::optional<std::string_view> bytes = context.kv(store_).Get(SupplyKey(denom));
  return NewCoin(denom, bytes ? DecodeAmount(*bytes) : Int());
}

void BankKeeper::SetSupply(const Context& context, const Coin& supply) const {
  if (supply.amount.IsZero()) {
    context.kv(store_).Delete(SupplyKey(supply.denom));
  } else {
    context.kv(store_).Set(SupplyKey(supply.denom), supply.amount.ToString());
  }
}

// The index by denomination is written before the balance.
Error BankKeeper::SetBalance(const Context& context, std::string_view address,
                             const Coin& balance) const {
  const KVStore store = context.kv(store_);
  if (!IsValidDenom(balance.denom) || balance.amount.IsNegative()) {
    return Error(kErrInvalidCoins, balance.ToString());
  }
  if (balance.amount.IsZero()) {
    store.Delete(ByDenomKey(balance.denom, address));
    store.Delete(BalanceKey(address, balance.denom));
    return {};
  }
  store.Set(ByDenomKey(balance.denom, address), "");
  store.Set(BalanceKey(address, balance.denom), balance.amount.ToString());
  return {};
}

Error BankKeeper::SubtractUnlocked(const Context& context, std::string_view address,
                                   const Coins& coins) const {
  // Looks for vesting; only base and module accounts exist here.
  (void)auth_->GetAccount(context, address);
  for (const Coin& coin : coins) {
    const Coin balance = GetBalance(context, address, coin.denom);
    if (balance.amount < coin.amount) {
      return Error(kErrInsufficientFunds, StrCat("spendable balance ", balance.ToString(),
                                                 " is smaller than ", coin.ToString()));
    }
    KEEPER_RETURN_IF_ERROR(
        SetBalance(context, address, Coin(coin.denom, balance.amount - coin.amount)));
  }
  context.events().Emit(Event("coin_spent", {{"spender", auth_->addresses().ToText(address)},
                                             {"amount", ToString(coins)}}));
  return {};
}

Error BankKeeper::Add(const Context& context, std::string_view address, const Coins& coins) const {
  for (const Coin& coin : coins) {
    const Coin balance = GetBalance(context, address, coin.denom);
    KEEPER_RETURN_IF_ERROR(
        SetBalance(context, address, Coin(coin.denom, balance.amount + coin.amount)));
  }
  context.events().Emit(Event("coin_received", {{"receiver", auth_->addresses().ToText(address)},
                                                {"amount", ToString(coins)}}));
  return {};
}

Error BankKeeper::SendCoins(const Context& context, std::string_view from, std::string_view to,
                            const Coins& coins) const {
  if (!IsValid(coins)) return Error(kErrInvalidCoins, ToString(coins));
  KEEPER_RETURN_IF_ERROR(SubtractUnlocked(context, from, coins));
  KEEPER_RETURN_IF_ERROR(Add(context, to, coins));
  if (!auth_->HasAccount(context, to)) {
    auth_->SetAccount(context, to, auth_->NewAccount(context, to));
  }
  const std::string sender = auth_->addresses().ToText(from);
  context.events().Emit(Event("transfer", {{"recipient", auth_->addresses().ToText(to)},
                                           {"sender", sender},
                                           {"amount", ToString(coins)}}));
  context.events().Emit(Event("message", {{"sender", sender}}));
  return {};
}

Error BankKeeper::SendCoinsFromModuleToAccount(const Context& context, std::string_view from_module,
                                               std::string_view to, const Coins& coins) const {
  const std::string& from = auth_->ModuleAddress(from_module);
  if (from.empty()) {
    throw Panic(StrCat("module account ", from_module, " does not exist: unknown address"));
  }
  if (blocked_.contains(to)) {
    return Error(kErrUnauthorized,
                 StrCat(auth_->addresses().ToText(to), " is not allowed to receive funds"));
  }
  return SendCoins(context, from, to, coins);
}

Error BankKeeper::SendCoinsFromModuleToModule(const Context& context, std::string_view from_module,
                                              std::string_view to_module,
                                              const Coins& coins) const {
  const std::string& from = auth_->ModuleAddress(from_module);
  if (from.empty()) {
    throw Panic(StrCat("module account ", from_module, " does not exist: unknown address"));
  }
  (void)auth_->GetModuleAccount(context, to_module);
  return SendCoins(context, from, auth_->ModuleAddress(to_module), coins);
}

Error BankKeeper::SendCoinsFromAccountToModule(const Context& context, std::string_view from,
                                               std::string_view to_module,
                                               const Coins& coins) const {
  (void)auth_->GetModuleAccount(context, to_module);
  return SendCoins(context, from, auth_->ModuleAddress(to_module), coins);
}

Error BankKeeper::MintCoins(const Context& context, std::string_view module,
                            const Coins& coins) const {
  const Account account = auth_->GetModuleAccount(context, module);
  if (!account.HasPermission("minter")) {
    throw Panic(StrCat("module account ", module,
                       " does not have permissions to mint tokens: unauthorized"));
  }
  if (!IsValid(coins)) return Error(kErrInvalidCoins, ToString(coins));
  const std::string& address = auth_->ModuleAddress(module);
  KEEPER_RETURN_IF_ERROR(Add(context, address, coins));
  for (const Coin& coin : coins) {
    const Coin supply = GetSupply(context, coin.denom);
    SetSupply(context, Coin(coin.denom, supply.amount + coin.amount));
  }
  context.events().Emit(Event(
      "coinbase", {{"minter", auth_->addresses().ToText(address)}, {"amount", ToString(coins)}}));
  return {};
}

Error BankKeeper::BurnCoins(const Context& context, std::string_view module,
                            const Coins& coins) const {
  const Account account = auth_->GetModuleAccount(context, module);
  if (!account.HasPermission("burner")) {
    throw Panic(StrCat("module account ", module,
                       " does not have permissions to burn tokens: unauthorized"));
  }
  if (!IsValid(coins)) return Error(kErrInvalidCoins, ToString(coins));
  const std::string& address = auth_->ModuleAddress(module);
  KEEPER_RETURN_IF_ERROR(SubtractUnlocked(context, address, coins));
  for (const Coin& coin : coins) {
    const Coin supply = GetSupply(context, coin.denom);
    if (supply.amount < coin.amount) throw Panic("negative coin amount");
    SetSupply(context, Coin(coin.denom, supply.amount - coin.amount));
  }
  context.events().Emit(
      Event("burn", {{"burner", auth_->addresses().ToText(address)}, {"amount", ToString(coins)}}));
  return {};
}

}  // namespace blockreplay::keeper::sdk
