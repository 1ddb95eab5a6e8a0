#pragma once

#include <string>
#include <string_view>

#include "keeper/sdk/address_codec.h"
#include "keeper/sdk/string_map.h"
#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

// Accounts as bech32 texts of a network. Remembers what it converted: a few thousand addresses come
// again and again. Not thread-safe.
class Bech32Addresses : public sdk::AddressCodec {
 public:
  // `network` must outlive it.
  explicit Bech32Addresses(const Network* network) : network_(network) {}

  const std::string& ToText(std::string_view bytes) override;
  sdk::Result<std::string> ToBytes(std::string_view text) override;

 private:
  // With the codes of the SDK's codec, which some refusals of transactions show.
  sdk::Error Reason(std::string_view text, std::string message) const;

  const Network* network_;
  sdk::StringMap<std::string> text_;
  sdk::StringMap<std::string> bytes_;
};

}  // namespace blockreplay::keeper::thorchain
