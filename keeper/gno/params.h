#pragma once

// Parameters of modules: a struct each, every field under a key of its own as amino JSON
// (tm2/pkg/sdk/params).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/gno/address.h"
#include "keeper/gno/gas.h"
#include "keeper/gno/state.h"

namespace blockreplay::keeper::gno {

struct GasPrice {
  int64_t gas = 0;
  std::string denom;
  int64_t amount = 0;

  // As stored; nothing where amino refuses.
  static std::optional<GasPrice> Decode(std::string_view bytes);
  std::string Encode() const;
  friend bool operator==(const GasPrice&, const GasPrice&) = default;
};

// What the ante handler uses of the auth module's parameters.
struct AuthParams {
  int64_t max_memo_bytes = 0;
  int64_t tx_sig_limit = 0;
  int64_t tx_size_cost_per_byte = 0;
  int64_t sig_verify_cost_ed25519 = 0;
  int64_t sig_verify_cost_secp256k1 = 0;
  Address fee_collector;
  friend bool operator==(const AuthParams&, const AuthParams&) = default;
};

// What the end of a block uses of them.
struct GasPriceParams {
  int64_t change_compressor = 0;
  int64_t target_gas_ratio = 0;
  GasPrice initial;
};

// Free of gas, as the original reads them. Throw sdk::Panic for values that don't parse.
AuthParams ReadAuthParams(TxState* state);
GasPriceParams ReadGasPriceParams(TxState* state);
Address ReadFeeCollector(TxState* state);
std::vector<std::string> ReadRestrictedDenoms(TxState* state);

// All of the vm module's parameters are read, and paid for by `payer`; these are what is used.
DepthParams ReadVmParams(TxState* state, const Payer& payer);

// "/pv/<module>:p:<field>" and the like.
std::string ParamKey(std::string_view name);

// Amino JSON.
int64_t ParseJsonInt64(std::string_view json);
std::string ParseJsonString(std::string_view json);
std::vector<std::string> ParseJsonStrings(std::string_view json);

}  // namespace blockreplay::keeper::gno
