#include "keeper/gno/auth.h"

#include <cstring>

#include "keeper/gno/amino.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

std::optional<Account> Load(const Context& context, std::string_view key) {
  const std::optional<std::string_view> bytes = context.state->Get(key, context.payer);
  if (!bytes.has_value()) return std::nullopt;
  std::optional<Account> account = Account::Decode(*bytes, context.scratch);
  if (!account.has_value()) throw sdk::Panic("stored account is malformed");
  return account;
}

}  // namespace

AccountKey::AccountKey(const Address& address) {
  Append("/a/");
  Append(address.view());
}

AccountKey::AccountKey(const Address& master, const Address& session) : AccountKey(master) {
  Append("/s/");
  Append(session.view());
}

AccountKey AccountKey::SessionPrefix(const Address& master) {
  AccountKey key(master);
  key.Append("/s/");
  return key;
}

void AccountKey::Append(std::string_view bytes) {
  std::memcpy(bytes_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

std::optional<Account> LoadAccount(const Context& context, const Address& address) {
  return Load(context, AccountKey(address).view());
}

void StoreAccount(const Context& context, const Account& account) {
  context.state->Set(AccountKey(account.address).view(), account.Encode(context.scratch),
                     context.payer);
}

std::optional<Account> LoadSession(const Context& context, const Address& master,
                                   const Address& session) {
  return Load(context, AccountKey(master, session).view());
}

void StoreSession(const Context& context, const Address& master, const Account& session) {
  context.state->Set(AccountKey(master, session.address).view(), session.Encode(context.scratch),
                     context.payer);
}

uint64_t TakeAccountNumber(const Context& context) {
  const std::optional<std::string_view> bytes =
      context.state->Get(kGlobalAccountNumberKey, context.payer);
  uint64_t number = 0;
  if (bytes.has_value() && !amino::DecodeUint64(*bytes, &number))
    throw sdk::Panic("stored account number is malformed");
  char* const next = context.scratch->Allocate(11);
  amino::Writer writer(next);
  writer.UvarintField(1, number + 1);
  context.state->Set(kGlobalAccountNumberKey, std::string_view(next, writer.size()), context.payer);
  return number;
}

Account NewAccount(const Context& context, const Address& address) {
  Account account;
  account.address = address;
  account.number = TakeAccountNumber(context);
  return account;
}

}  // namespace blockreplay::keeper::gno
