#include "keeper/gno/genesis.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "keeper/gno/account.h"
#include "keeper/gno/amino.h"
#include "keeper/gno/auth.h"
#include "keeper/gno/bank.h"
#include "keeper/gno/params.h"
#include "keeper/gno/tx.h"
#include "keeper/sdk/panic.h"
#include "nlohmann/json.hpp"

namespace blockreplay::keeper::gno {
namespace {

using nlohmann::json;

const Payer kFree;

constexpr int64_t kPreprocessGasPerByte = 1'250;

// Fields of a module's parameter struct in its order, and how amino JSON writes them.
enum class FieldKind { kInt64, kString, kStrings, kGasPrice };
struct Field {
  const char* name;
  FieldKind kind;
};
constexpr std::array<Field, 10> kAuthFields = {{{"max_memo_bytes", FieldKind::kInt64},
                                                {"tx_sig_limit", FieldKind::kInt64},
                                                {"tx_size_cost_per_byte", FieldKind::kInt64},
                                                {"sig_verify_cost_ed25519", FieldKind::kInt64},
                                                {"sig_verify_cost_secp256k1", FieldKind::kInt64},
                                                {"gas_price_change_compressor", FieldKind::kInt64},
                                                {"target_gas_ratio", FieldKind::kInt64},
                                                {"initial_gasprice", FieldKind::kGasPrice},
                                                {"unrestricted_addrs", FieldKind::kStrings},
                                                {"fee_collector", FieldKind::kString}}};
constexpr std::array<Field, 14> kVmFields = {{{"sysnames_pkgpath", FieldKind::kString},
                                              {"syscla_pkgpath", FieldKind::kString},
                                              {"chain_domain", FieldKind::kString},
                                              {"default_deposit", FieldKind::kString},
                                              {"storage_price", FieldKind::kString},
                                              {"storage_fee_collector", FieldKind::kString},
                                              {"min_get_read_depth_100", FieldKind::kInt64},
                                              {"min_set_read_depth_100", FieldKind::kInt64},
                                              {"min_write_depth_100", FieldKind::kInt64},
                                              {"fixed_get_read_depth_100", FieldKind::kInt64},
                                              {"fixed_set_read_depth_100", FieldKind::kInt64},
                                              {"fixed_write_depth_100", FieldKind::kInt64},
                                              {"iter_next_cost_flat", FieldKind::kInt64},
                                              {"preprocess_gas_per_byte", FieldKind::kInt64}}};
constexpr std::array<Field, 1> kBankFields = {{{"restricted_denoms", FieldKind::kStrings}}};

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

std::string JsonList(const std::vector<std::string>& items) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.push_back(',');
    AppendJsonString(items[i], &out);
  }
  return out + "]";
}

// A field as amino JSON writes it again; fields that are missing are zero values.
std::string Rewritten(const json& params, const Field& field) {
  const json value = params.contains(field.name) ? params.at(field.name) : json();
  switch (field.kind) {
    case FieldKind::kInt64: {
      int64_t number = value.is_null() ? 0 : ParseJsonInt64(value.dump());
      if (number == 0 && std::string_view(field.name) == "preprocess_gas_per_byte")
        number = kPreprocessGasPerByte;
      return Quoted(std::to_string(number));
    }
    case FieldKind::kString:
      return Quoted(value.is_null() ? std::string() : value.get<std::string>());
    case FieldKind::kStrings:
      return value.is_null() ? "null" : JsonList(value.get<std::vector<std::string>>());
    case FieldKind::kGasPrice: {
      const int64_t gas =
          value.is_null() || !value.contains("gas") ? 0 : ParseJsonInt64(value.at("gas").dump());
      const std::string price =
          value.is_null() || !value.contains("price") ? "" : value.at("price").get<std::string>();
      const std::optional<Coin> coin = Coin::FromField(price);
      if (!coin.has_value()) throw sdk::Panic("invalid initial gas price " + price);
      return "{\"gas\":" + Quoted(std::to_string(gas)) + ",\"price\":" + Quoted(ToString(*coin)) +
             "}";
    }
  }
  return {};
}

void StoreText(const Context& context, std::string_view key, std::string_view value) {
  context.state->Set(key, context.scratch->Copy(value), kFree);
}

template <size_t n>
void StoreParams(const Context& context, const std::string& module, const json& params,
                 const std::array<Field, n>& fields) {
  for (const Field& field : fields) {
    StoreText(context, ParamKey(module + ":p:" + field.name), Rewritten(params, field));
  }
}

// `address=coins`, with `;vesting=coins,start,end` and `;type=delayed` for a schedule.
struct GenesisBalance {
  Address address;
  Coins coins;
  bool vesting = false;
  bool delayed = false;
  Coins original;
  int64_t start = 0;
  int64_t end = 0;

  static std::optional<GenesisBalance> Parse(std::string_view entry) {
    GenesisBalance balance;
    entry = TrimSpace(entry);
    const size_t semicolon = entry.find(';');
    const std::string_view head = entry.substr(0, semicolon);
    const size_t equals = head.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::optional<Address> address = Address::FromBech32(head.substr(0, equals));
    std::optional<Coins> coins = Coins::Parse(head.substr(equals + 1));
    if (!address.has_value() || !coins.has_value()) return std::nullopt;
    balance.address = *address;
    balance.coins = *std::move(coins);
    if (semicolon == std::string_view::npos) return balance;
    std::string_view rest = entry.substr(semicolon + 1);
    constexpr std::string_view kVesting = "vesting=";
    if (rest.substr(0, kVesting.size()) != kVesting) return std::nullopt;
    rest.remove_prefix(kVesting.size());
    if (const size_t next = rest.find(';'); next != std::string_view::npos) {
      if (rest.substr(next) != ";type=delayed") return std::nullopt;
      balance.delayed = true;
      rest = rest.substr(0, next);
    }
    const size_t last = rest.rfind(',');
    if (last == std::string_view::npos || last == 0) return std::nullopt;
    const size_t middle = rest.rfind(',', last - 1);
    if (middle == std::string_view::npos) return std::nullopt;
    std::optional<Coins> original = Coins::Parse(rest.substr(0, middle));
    const std::string start(rest.substr(middle + 1, last - middle - 1));
    const std::string end(rest.substr(last + 1));
    if (!original.has_value()) return std::nullopt;
    balance.original = *std::move(original);
    balance.start = ParseJsonInt64(Quoted(start));
    balance.end = ParseJsonInt64(Quoted(end));
    balance.vesting = !balance.original.IsZero();
    return balance;
  }
};

void StoreBalance(const Context& context, const GenesisBalance& balance) {
  Coins native;
  for (const Coin& coin : balance.coins) {
    if (coin.denom == kNativeDenom) native.Append(coin);
  }
  Account account = NewAccount(context, balance.address);
  if (balance.vesting) {
    account.type =
        balance.delayed ? Account::Type::kDelayedVesting : Account::Type::kContinuousVesting;
    account.coins = balance.coins;
    account.original_vesting = balance.original;
    account.start_time = balance.start;
    account.end_time = balance.end;
    if (balance.delayed) account.schedule_type = "delayed";
    if (!balance.coins.IsAllGte(balance.original) || balance.end < 0 ||
        balance.start >= balance.end) {
      throw sdk::Panic("invalid vesting account " + balance.address.ToString());
    }
  }
  StoreAccount(context, account);
  account.coins = native;
  StoreAccount(context, account);
  // An address that is listed twice has what the last entry says.
  std::vector<std::string> old;
  const std::string prefix = "/b/" + std::string(balance.address.view());
  context.state->ForEachWithPrefix(prefix, kFree, [&](std::string_view key, std::string_view) {
    old.emplace_back(key);
    return true;
  });
  for (const std::string& key : old) context.state->Delete(key, kFree);
  for (const Coin& coin : balance.coins) {
    if (coin.denom == kNativeDenom) continue;
    std::string amount;
    for (int i = 0; i < 8; ++i) amount.push_back(static_cast<char>(coin.amount >> (56 - 8 * i)));
    StoreText(context, prefix + std::string(coin.denom), amount);
  }
}

void StoreSupply(const Context& context, const std::map<std::string, int64_t>& supply) {
  for (const auto& [denom, amount] : supply) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(amount >> (56 - 8 * i)));
    if (amount != 0) StoreText(context, "/supply/" + denom, bytes);
  }
}

void StoreValidators(const tendermint::abci::RequestInitChain& request, const Context& context) {
  struct Validator {
    Address address;
    std::string text;
  };
  std::vector<Validator> validators;
  for (const auto& update : request.validators()) {
    const bool ed25519 = update.pub_key().has_ed25519();
    const std::string& raw = ed25519 ? update.pub_key().ed25519() : update.pub_key().secp256k1();
    const std::string url = ed25519 ? "/tm.PubKeyEd25519" : "/tm.PubKeySecp256k1";
    std::string any(amino::BytesFieldSize(url.size()) +
                        amino::BytesFieldSize(amino::BytesFieldSize(raw.size())),
                    '\0');
    amino::Writer writer(any.data());
    writer.BytesField(1, url);
    if (writer.MessageField(2, amino::BytesFieldSize(raw.size()))) writer.BytesField(1, raw);
    const std::optional<PubKey> key = PubKey::FromAny(any, 1, context.scratch);
    if (!key.has_value()) throw sdk::Panic("validator with a malformed key");
    validators.push_back(
        {key->ToAddress(), ToBech32("gpub", key->any) + ":" + std::to_string(update.power())});
  }
  std::sort(validators.begin(), validators.end(), [](const Validator& a, const Validator& b) {
    return a.address.bytes < b.address.bytes;
  });
  std::vector<std::string> current;
  for (Validator& validator : validators) current.push_back(std::move(validator.text));
  StoreText(context, ParamKey("node:valset:current"), JsonList(current));
  const auto& types = request.consensus_params().validator().pub_key_types();
  StoreText(context, ParamKey("node:valset:pubkey_types"),
            types.empty() ? "null" : JsonList({types.begin(), types.end()}));
}

bool IsEmptyList(const json& object, const char* name) {
  return !object.contains(name) || object.at(name).is_null() || object.at(name).empty();
}

}  // namespace

absl::Status InitChain(const tendermint::abci::RequestInitChain& request, const Context& context) {
  const json genesis = json::parse(request.app_state_bytes(), nullptr, /*allow_exceptions=*/false);
  if (genesis.is_discarded() || !genesis.is_object())
    return absl::InvalidArgumentError("genesis: the application's state is not a JSON object");
  if (!IsEmptyList(genesis, "txs"))
    return absl::UnimplementedError("genesis: transactions have no native code");
  try {
    StoreValidators(request, context);
    StoreParams(context, "bank", genesis.at("bank").at("params"), kBankFields);
    // Only the last entry of an address counts for the supply.
    std::map<std::string, GenesisBalance, std::less<>> balances;
    std::vector<std::string> entries;
    for (const json& entry : genesis.at("balances")) entries.push_back(entry.get<std::string>());
    for (const std::string& entry : entries) {
      std::optional<GenesisBalance> balance = GenesisBalance::Parse(entry);
      if (!balance.has_value())
        return absl::InvalidArgumentError("genesis: malformed balance " + entry);
      StoreBalance(context, *balance);
      // The cache is for a few keys, and there are many accounts.
      context.state->FlushAndForget();
      balances.insert_or_assign(std::string(balance->address.view()), *std::move(balance));
    }
    std::map<std::string, int64_t> supply;
    for (const auto& [address, balance] : balances) {
      for (const Coin& coin : balance.coins) {
        int64_t& total = supply[std::string(coin.denom)];
        if (__builtin_add_overflow(total, coin.amount, &total))
          return absl::InvalidArgumentError("genesis: balances sum past the range of a supply");
      }
    }
    StoreSupply(context, supply);
    const json& auth = genesis.at("auth").at("params");
    StoreParams(context, "auth", auth, kAuthFields);
    if (!IsEmptyList(auth, "unrestricted_addrs")) {
      for (const json& text : auth.at("unrestricted_addrs")) {
        const std::optional<Address> address = Address::FromBech32(text.get<std::string>());
        std::optional<Account> account =
            address.has_value() ? LoadAccount(context, *address) : std::nullopt;
        if (!account.has_value() || account->type != Account::Type::kGno)
          return absl::InvalidArgumentError("genesis: unrestricted address without an account");
        account->attributes |= 1;
        StoreAccount(context, *account);
      }
    }
    const json& vm = genesis.at("vm");
    if (!IsEmptyList(vm, "realm_params"))
      return absl::UnimplementedError("genesis: parameters of realms have no native code");
    StoreParams(context, "vm", vm.at("params"), kVmFields);
    const GasPrice price = ReadGasPriceParams(context.state).initial;
    if (price != GasPrice()) StoreText(context, kGasPriceKey, price.Encode());
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(std::string("genesis: ") + error.what());
  } catch (const sdk::Panic& panic) {
    return absl::InvalidArgumentError("genesis: " + panic.message());
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::keeper::gno
