#include "keeper/sdk/auth.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr std::string_view kBaseAccount = "/cosmos.auth.v1beta1.BaseAccount";
constexpr std::string_view kModuleAccount = "/cosmos.auth.v1beta1.ModuleAccount";
constexpr std::string_view kParamsKey("\x00", 1);
constexpr char kAccountPrefix = '\x01';
constexpr std::string_view kNextAccountNumberKey = "\x02";
constexpr std::string_view kByNumberPrefix = "accountNumber";

std::string BigEndian(uint64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 8; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

std::string AccountKey(std::string_view address) {
  std::string key(1, kAccountPrefix);
  key.append(address);
  return key;
}

std::string NumberKey(uint64_t number) { return StrCat(kByNumberPrefix, BigEndian(number)); }

bool Text(WireReader* r, WireType type, std::string* out) {
  std::string_view bytes;
  if (type != WireType::kBytes || !r->Bytes(&bytes)) return false;
  *out = bytes;
  return true;
}

bool DecodeAny(std::string_view bytes, Any* any) {
  WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    if (!r.Tag(&number, &type)) return false;
    if (!(number == 1   ? Text(&r, type, &any->type_url)
          : number == 2 ? Text(&r, type, &any->value)
                        : r.Skip(number, type))) {
      return false;
    }
  }
  return true;
}

bool DecodeBase(std::string_view bytes, Account* account) {
  WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    std::string_view any;
    if (!r.Tag(&number, &type)) return false;
    bool read = false;
    switch (number) {
      case 1:
        read = Text(&r, type, &account->address);
        break;
      case 2:
        read = type == WireType::kBytes && r.Bytes(&any) &&
               DecodeAny(any, &account->pub_key.emplace());
        break;
      case 3:
        read = type == WireType::kVarint && r.Varint(&account->account_number);
        break;
      case 4:
        read = type == WireType::kVarint && r.Varint(&account->sequence);
        break;
      default:
        read = r.Skip(number, type);
    }
    if (!read) return false;
  }
  return true;
}

void EncodeBase(const Account& account, WireWriter* w) {
  w->VarintField(4, account.sequence);
  w->VarintField(3, account.account_number);
  if (account.pub_key) {
    const size_t mark = w->size();
    w->BytesField(2, account.pub_key->value);
    w->BytesField(1, account.pub_key->type_url);
    w->EndMessage(2, mark);
  }
  w->BytesField(1, account.address);
}

std::string ModuleAddressOf(std::string_view module) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(module.data()), module.size(), digest);
  return std::string(reinterpret_cast<const char*>(digest), 20);
}

}  // namespace

bool Account::HasPermission(std::string_view permission) const {
  return std::find(permissions.begin(), permissions.end(), permission) != permissions.end();
}

std::optional<Account> DecodeAccount(std::string_view bytes) {
  Any any;
  if (!DecodeAny(bytes, &any)) return std::nullopt;
  Account account;
  if (any.type_url == kBaseAccount) {
    if (!DecodeBase(any.value, &account)) return std::nullopt;
    return account;
  }
  if (any.type_url != kModuleAccount) return std::nullopt;
  account.is_module = true;
  WireReader r(any.value);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    std::string_view base;
    if (!r.Tag(&number, &type)) return std::nullopt;
    bool read = false;
    switch (number) {
      case 1:
        read = type == WireType::kBytes && r.Bytes(&base) && DecodeBase(base, &account);
        break;
      case 2:
        read = Text(&r, type, &account.module_name);
        break;
      case 3:
        read = Text(&r, type, &account.permissions.emplace_back());
        break;
      default:
        read = r.Skip(number, type);
    }
    if (!read) return std::nullopt;
  }
  return account;
}

std::string EncodeAccount(const Account& account) {
  WireWriter w;
  if (account.is_module) {
    for (size_t i = account.permissions.size(); i-- > 0;) {
      w.BytesFieldAlways(3, account.permissions[i]);
    }
    w.BytesField(2, account.module_name);
    const size_t mark = w.size();
    EncodeBase(account, &w);
    w.EndMessage(1, mark);
  } else {
    EncodeBase(account, &w);
  }
  w.EndMessage(2, 0);
  w.BytesField(1, account.is_module ? kModuleAccount : kBaseAccount);
  return std::string(w.bytes());
}

AuthKeeper::AuthKeeper(
    StoreId store, AddressCodec* addresses,
    std::map<std::string, std::vector<std::string>, std::less<>> module_permissions)
    : store_(store), addresses_(addresses) {
  for (auto& [name, permissions] : module_permissions) {
    modules_[name] = {ModuleAddressOf(name), std::move(permissions)};
  }
}

AuthParams AuthKeeper::GetParams(const Context& context) const {
  AuthParams params;
  const std::optional<std::string_view> bytes = context.kv(store_).Get(kParamsKey);
  if (!bytes) return params;
  WireReader r(*bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    uint64_t value = 0;
    if (!r.Tag(&number, &type)) throw Panic("auth params: malformed");
    if (type != WireType::kVarint) {
      if (!r.Skip(number, type)) throw Panic("auth params: malformed");
      continue;
    }
    if (!r.Varint(&value)) throw Panic("auth params: malformed");
    switch (number) {
      case 1:
        params.max_memo_characters = value;
        break;
      case 2:
        params.tx_sig_limit = value;
        break;
      case 3:
        params.tx_size_cost_per_byte = value;
        break;
      case 4:
        params.sig_verify_cost_ed25519 = value;
        break;
      case 5:
        params.sig_verify_cost_secp256k1 = value;
        break;
      default:
        break;
    }
  }
  return params;
}

std::optional<Account> AuthKeeper::GetAccount(const Context& context,
                                              std::string_view address) const {
  const std::optional<std::string_view> bytes = context.kv(store_).Get(AccountKey(address));
  if (!bytes) return std::nullopt;
  std::optional<Account> account = DecodeAccount(*bytes);
  if (!account) throw NotNative("accounts other than base and module accounts");
  return account;
}

bool AuthKeeper::HasAccount(const Context& context, std::string_view address) const {
  return context.kv(store_).Has(AccountKey(address));
}

// The unique index by number: the old entry goes, the new one must not exist.
void AuthKeeper::SetAccount(const Context& context, std::string_view address,
                            const Account& account) const {
  const KVStore store = context.kv(store_);
  if (const std::optional<Account> old = GetAccount(context, address)) {
    store.Delete(NumberKey(old->account_number));
  }
  const std::string number_key = NumberKey(account.account_number);
  if (store.Has(number_key)) {
    throw Panic(StrCat("conflict: index uniqueness constrain violation: ", account.account_number));
  }
  store.Set(number_key, address);
  store.Set(AccountKey(address), EncodeAccount(account));
}

void AuthKeeper::RemoveAccount(const Context& context, std::string_view address) const {
  const KVStore store = context.kv(store_);
  const std::optional<Account> old = GetAccount(context, address);
  if (!old) throw Panic("collections: not found");
  store.Delete(NumberKey(old->account_number));
  store.Delete(AccountKey(address));
}

uint64_t AuthKeeper::NextAccountNumber(const Context& context) const {
  const KVStore store = context.kv(store_);
  const std::optional<std::string_view> bytes = store.Get(kNextAccountNumberKey);
  if (!bytes || bytes->size() != 8) throw NotNative("the legacy account number");
  uint64_t number = 0;
  for (const char c : *bytes) number = number << 8 | static_cast<uint8_t>(c);
  store.Set(kNextAccountNumberKey, BigEndian(number + 1));
  return number;
}

Account AuthKeeper::NewAccount(const Context& context, std::string_view address) const {
  Account account;
  account.address = addresses_->ToText(address);
  account.account_number = NextAccountNumber(context);
  return account;
}

const std::string& AuthKeeper::ModuleAddress(std::string_view module) const {
  static const std::string* const kNone = new std::string;
  const auto found = modules_.find(module);
  return found == modules_.end() ? *kNone : found->second.address;
}

Account AuthKeeper::GetModuleAccount(const Context& context, std::string_view module) const {
  const auto found = modules_.find(module);
  if (found == modules_.end()) {
    throw Panic(StrCat("module account ", module, " does not exist: unknown address"));
  }
  const std::string& address = found->second.address;
  if (std::optional<Account> account = GetAccount(context, address)) {
    if (!account->is_module) throw Panic("account is not a module account");
    return *std::move(account);
  }
  Account account = NewAccount(context, address);
  account.is_module = true;
  account.module_name = std::string(module);
  account.permissions = found->second.permissions;
  SetAccount(context, address, account);
  return account;
}

}  // namespace blockreplay::keeper::sdk
