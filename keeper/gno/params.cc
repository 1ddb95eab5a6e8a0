#include "keeper/gno/params.h"

#include <array>
#include <charconv>

#include "keeper/gno/amino.h"
#include "keeper/gno/coins.h"
#include "keeper/sdk/panic.h"
#include "nlohmann/json.hpp"

namespace blockreplay::keeper::gno {
namespace {

const Payer kFree;

constexpr std::string_view kMaxMemoBytes = "/pv/auth:p:max_memo_bytes";
constexpr std::string_view kTxSigLimit = "/pv/auth:p:tx_sig_limit";
constexpr std::string_view kTxSizeCostPerByte = "/pv/auth:p:tx_size_cost_per_byte";
constexpr std::string_view kSigVerifyCostEd25519 = "/pv/auth:p:sig_verify_cost_ed25519";
constexpr std::string_view kSigVerifyCostSecp256k1 = "/pv/auth:p:sig_verify_cost_secp256k1";
constexpr std::string_view kGasPriceChangeCompressor = "/pv/auth:p:gas_price_change_compressor";
constexpr std::string_view kTargetGasRatio = "/pv/auth:p:target_gas_ratio";
constexpr std::string_view kInitialGasPrice = "/pv/auth:p:initial_gasprice";
constexpr std::string_view kFeeCollector = "/pv/auth:p:fee_collector";
constexpr std::string_view kRestrictedDenoms = "/pv/bank:p:restricted_denoms";

// In the order of the struct's fields; null: read and paid for, but nothing here depends on it.
struct VmField {
  std::string_view key;
  int64_t DepthParams::* field;
};
constexpr std::array<VmField, 14> kVmFields = {{
    {"/pv/vm:p:sysnames_pkgpath", nullptr},
    {"/pv/vm:p:syscla_pkgpath", nullptr},
    {"/pv/vm:p:chain_domain", nullptr},
    {"/pv/vm:p:default_deposit", nullptr},
    {"/pv/vm:p:storage_price", nullptr},
    {"/pv/vm:p:storage_fee_collector", nullptr},
    {"/pv/vm:p:min_get_read_depth_100", &DepthParams::min_get_read},
    {"/pv/vm:p:min_set_read_depth_100", &DepthParams::min_set_read},
    {"/pv/vm:p:min_write_depth_100", &DepthParams::min_write},
    {"/pv/vm:p:fixed_get_read_depth_100", &DepthParams::fixed_get_read},
    {"/pv/vm:p:fixed_set_read_depth_100", &DepthParams::fixed_set_read},
    {"/pv/vm:p:fixed_write_depth_100", &DepthParams::fixed_write},
    {"/pv/vm:p:iter_next_cost_flat", &DepthParams::iterator_next_flat},
    {"/pv/vm:p:preprocess_gas_per_byte", nullptr},
}};

[[noreturn]] void Malformed(std::string_view json) {
  throw sdk::Panic("parameter is not what amino JSON writes: " + std::string(json));
}

nlohmann::json Parse(std::string_view json) {
  nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) Malformed(json);
  return parsed;
}

int64_t ReadInt64(TxState* state, std::string_view key) {
  const std::optional<std::string_view> value = state->Get(key, kFree);
  return value.has_value() ? ParseJsonInt64(*value) : 0;
}

}  // namespace

std::string ParamKey(std::string_view name) { return "/pv/" + std::string(name); }

int64_t ParseJsonInt64(std::string_view json) {
  if (json == "null") return 0;
  int64_t value = 0;
  if (json.size() < 3 || json.front() != '"' || json.back() != '"') Malformed(json);
  const char* const begin = json.data() + 1;
  const char* const end = json.data() + json.size() - 1;
  const auto [parsed_to, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || parsed_to != end) Malformed(json);
  return value;
}

std::string ParseJsonString(std::string_view json) {
  // Nearly all have nothing to unescape.
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') {
    const std::string_view inside = json.substr(1, json.size() - 2);
    if (inside.find_first_of("\"\\") == std::string_view::npos) return std::string(inside);
  }
  const nlohmann::json parsed = Parse(json);
  if (parsed.is_null()) return {};
  if (!parsed.is_string()) Malformed(json);
  return parsed.get<std::string>();
}

std::vector<std::string> ParseJsonStrings(std::string_view json) {
  std::vector<std::string> strings;
  if (json == "[]" || json == "null") return strings;
  const nlohmann::json parsed = Parse(json);
  if (!parsed.is_array()) Malformed(json);
  for (const auto& element : parsed) {
    if (!element.is_string()) Malformed(json);
    strings.push_back(element.get<std::string>());
  }
  return strings;
}

std::optional<GasPrice> GasPrice::Decode(std::string_view bytes) {
  GasPrice price;
  amino::FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == 1) {
      if (!reader.Varint(&price.gas)) return std::nullopt;
    } else {
      std::string_view text;
      if (reader.field() != 2 || !reader.Bytes(&text)) return std::nullopt;
      const std::optional<Coin> coin = Coin::FromField(text);
      if (!coin.has_value()) return std::nullopt;
      price.denom = std::string(coin->denom);
      price.amount = coin->amount;
    }
  }
  if (!reader.ok()) return std::nullopt;
  return price;
}

std::string GasPrice::Encode() const {
  const std::string price = ToString(Coin{denom, amount});
  std::string bytes(amino::VarintFieldSize(gas) + amino::BytesFieldSize(price.size()), '\0');
  amino::Writer writer(bytes.data());
  writer.VarintField(1, gas);
  writer.BytesField(2, price);
  return bytes;
}

Address ReadFeeCollector(TxState* state) {
  const std::optional<std::string_view> value = state->Get(kFeeCollector, kFree);
  if (!value.has_value() || *value == "null") return {};
  const std::string_view json = *value;
  if (json.size() < 2 || json.front() != '"' || json.back() != '"') Malformed(json);
  const std::optional<Address> address = Address::FromField(json.substr(1, json.size() - 2));
  if (!address.has_value()) Malformed(json);
  return *address;
}

AuthParams ReadAuthParams(TxState* state) {
  return {.max_memo_bytes = ReadInt64(state, kMaxMemoBytes),
          .tx_sig_limit = ReadInt64(state, kTxSigLimit),
          .tx_size_cost_per_byte = ReadInt64(state, kTxSizeCostPerByte),
          .sig_verify_cost_ed25519 = ReadInt64(state, kSigVerifyCostEd25519),
          .sig_verify_cost_secp256k1 = ReadInt64(state, kSigVerifyCostSecp256k1),
          .fee_collector = ReadFeeCollector(state)};
}

GasPriceParams ReadGasPriceParams(TxState* state) {
  GasPriceParams params;
  params.change_compressor = ReadInt64(state, kGasPriceChangeCompressor);
  params.target_gas_ratio = ReadInt64(state, kTargetGasRatio);
  const std::optional<std::string_view> value = state->Get(kInitialGasPrice, kFree);
  if (!value.has_value() || *value == "null") return params;
  const nlohmann::json json = Parse(*value);
  if (!json.is_object()) Malformed(*value);
  for (const auto& [name, field] : json.items()) {
    if (name == "gas") {
      params.initial.gas = ParseJsonInt64(field.dump());
    } else if (name == "price" && field.is_string()) {
      const auto text = field.get<std::string>();
      const std::optional<Coin> coin = Coin::FromField(text);
      if (!coin.has_value()) Malformed(*value);
      params.initial.denom = std::string(coin->denom);
      params.initial.amount = coin->amount;
    } else {
      Malformed(*value);
    }
  }
  return params;
}

std::vector<std::string> ReadRestrictedDenoms(TxState* state) {
  const std::optional<std::string_view> value = state->Get(kRestrictedDenoms, kFree);
  return value.has_value() ? ParseJsonStrings(*value) : std::vector<std::string>();
}

DepthParams ReadVmParams(TxState* state, const Payer& payer) {
  DepthParams params;
  params.iterator_next_flat = 0;
  // All are read before the first is parsed: running out of gas comes before a malformed value.
  std::array<std::optional<std::string_view>, kVmFields.size()> values;
  for (size_t i = 0; i < kVmFields.size(); ++i) values[i] = state->Get(kVmFields[i].key, payer);
  for (size_t i = 0; i < kVmFields.size(); ++i) {
    if (kVmFields[i].field != nullptr && values[i].has_value())
      params.*kVmFields[i].field = ParseJsonInt64(*values[i]);
  }
  return params;
}

}  // namespace blockreplay::keeper::gno
