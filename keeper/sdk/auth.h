#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/sdk/address_codec.h"
#include "keeper/sdk/any.h"
#include "keeper/sdk/context.h"
#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

// x/auth's parameters.
struct AuthParams {
  uint64_t max_memo_characters = 0;
  uint64_t tx_sig_limit = 0;
  uint64_t tx_size_cost_per_byte = 0;
  uint64_t sig_verify_cost_ed25519 = 0;
  uint64_t sig_verify_cost_secp256k1 = 0;
};

// An account as stored: a base account, or a module's.
struct Account {
  std::string address;  // text
  std::optional<Any> pub_key;
  uint64_t account_number = 0;
  uint64_t sequence = 0;
  // Modules only.
  bool is_module = false;
  std::string module_name;
  std::vector<std::string> permissions;

  bool HasPermission(std::string_view permission) const;
};

// Nothing if it is no account of these kinds.
std::optional<Account> DecodeAccount(std::string_view bytes);
std::string EncodeAccount(const Account& account);

// x/auth: accounts, their index by number, parameters. Reads and writes in the order of cosmos-sdk
// v0.53.
class AuthKeeper {
 public:
  // `module_permissions` names all modules that have an account.
  AuthKeeper(StoreId store, AddressCodec* addresses,
             std::map<std::string, std::vector<std::string>, std::less<>> module_permissions);

  AuthParams GetParams(const Context& context) const;

  // By raw address.
  std::optional<Account> GetAccount(const Context& context, std::string_view address) const;
  bool HasAccount(const Context& context, std::string_view address) const;
  void SetAccount(const Context& context, std::string_view address, const Account& account) const;
  void RemoveAccount(const Context& context, std::string_view address) const;
  // Takes the next account number; does not store the account.
  Account NewAccount(const Context& context, std::string_view address) const;

  // Raw address of a module; empty if no module has that name.
  const std::string& ModuleAddress(std::string_view module) const;
  // The module's account, created if there is none yet. Panics for an unknown module.
  Account GetModuleAccount(const Context& context, std::string_view module) const;

  AddressCodec& addresses() const { return *addresses_; }

 private:
  uint64_t NextAccountNumber(const Context& context) const;

  struct Module {
    std::string address;
    std::vector<std::string> permissions;
  };
  StoreId store_;
  AddressCodec* addresses_;
  std::map<std::string, Module, std::less<>> modules_;
};

}  // namespace blockreplay::keeper::sdk
