#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

// An account of THORChain: 20 bytes, or 32 for some module and contract accounts. Holds the raw
// bytes, which is how stores and gas count it.
class AccAddress {
 public:
  AccAddress() = default;
  explicit AccAddress(std::string bytes) : bytes_(std::move(bytes)) {}

  static constexpr size_t kAccountSize = 20;
  static constexpr size_t kContractSize = 32;

  // From bech32 text with the network's account prefix, of one of these sizes. The status message
  // is the node's error text (cosmos-sdk v0.53 AccAddressFromBech32).
  static absl::StatusOr<AccAddress> FromBech32(std::string_view text, const Network& network);
  // From hexadecimal digits, without checking the length.
  static absl::StatusOr<AccAddress> FromHex(std::string_view text);

  bool IsEmpty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }
  // Empty text for the empty address.
  std::string ToString(const Network& network) const;

  friend bool operator==(const AccAddress& a, const AccAddress& b) = default;
  friend auto operator<=>(const AccAddress& a, const AccAddress& b) = default;

 private:
  std::string bytes_;
};

// The account of a module: the first 20 bytes of the SHA-256 of its name, as cosmos-sdk v0.53 does.
AccAddress ModuleAddress(std::string_view module_name);

}  // namespace blockreplay::keeper::thorchain
