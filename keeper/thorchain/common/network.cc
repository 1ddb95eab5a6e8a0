#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

const Network& MainNet() {
  static constexpr Network kNetwork{
      .kind = ChainNetwork::kMainNet,
      .account_prefix = "thor",
      .account_pub_key_prefix = "thorpub",
      .validator_prefix = "thorv",
      .validator_pub_key_prefix = "thorvpub",
      .consensus_prefix = "thorc",
      .consensus_pub_key_prefix = "thorcpub",
      .treasury_address = "thor10qh5272ktq4wes8ex343ky9rsuehcypddjh08k",
  };
  return kNetwork;
}

const Network& MockNet() {
  static constexpr Network kNetwork{
      .kind = ChainNetwork::kMockNet,
      .account_prefix = "tthor",
      .account_pub_key_prefix = "tthorpub",
      .validator_prefix = "tthorv",
      .validator_pub_key_prefix = "tthorvpub",
      .consensus_prefix = "tthorc",
      .consensus_pub_key_prefix = "tthorcpub",
      .treasury_address = "tthor1zf3gsk7edzwl9syyefvfhle37cjtql35h6k85m",
  };
  return kNetwork;
}

bool SoftEquals(ChainNetwork a, ChainNetwork b) {
  return (a == ChainNetwork::kMainNet) == (b == ChainNetwork::kMainNet);
}

}  // namespace blockreplay::keeper::thorchain
