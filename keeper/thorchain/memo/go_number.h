#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/uint.h"

// Numbers and bytes in memos as Go's standard library reads them; the status messages are its.
namespace blockreplay::keeper::thorchain {

// strconv.ParseInt(text, 10, 64) and strconv.ParseUint(text, 10, 64).
absl::StatusOr<int64_t> ParseGoInt64(std::string_view text);
absl::StatusOr<uint64_t> ParseGoUint64(std::string_view text);

// The price limit of a streaming swap: big.ParseFloat(text, 10, 0, ToZero) without its fraction,
// so 64 significant bits; "Inf" is 0. Panics if it is negative or above 256 bits.
absl::StatusOr<Uint> ParseTradeTarget(std::string_view text);

// base64.StdEncoding.DecodeString.
absl::StatusOr<std::string> DecodeGoBase64(std::string_view text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace blockreplay::keeper::thorchain
