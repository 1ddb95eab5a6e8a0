#pragma once

#include <cstdint>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// Which kind of network addresses belong to. The values are the node's (they appear in no store).
enum class ChainNetwork : uint8_t {
  kTestNet = 0,
  kMainNet = 1,
  kMockNet = 2,
  kStageNet = 3,
  kChainNet = 4,
};

// Everything that the node's build tags change about addresses and keys. One value per process is
// enough, but nothing here is global: whoever needs it gets it passed.
struct Network {
  ChainNetwork kind;
  std::string_view account_prefix;          // bech32 prefix of accounts
  std::string_view account_pub_key_prefix;  // bech32 prefix of account public keys
  std::string_view validator_prefix;        // operator addresses
  std::string_view validator_pub_key_prefix;
  std::string_view consensus_prefix;  // consensus addresses
  std::string_view consensus_pub_key_prefix;
  std::string_view treasury_address;

  bool IsMockNet() const { return kind == ChainNetwork::kMockNet; }
};

// The build without tags.
const Network& MainNet();
// The build with the tag `mocknet` (the regression recordings).
const Network& MockNet();

// True if both are mainnet or neither is.
bool SoftEquals(ChainNetwork a, ChainNetwork b);

}  // namespace blockreplay::keeper::thorchain
