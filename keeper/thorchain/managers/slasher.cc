#include "keeper/thorchain/managers/slasher.h"

namespace blockreplay::keeper::thorchain {

Error SlashVault(Managers&, const Context&, const PubKey&, const Coins&) {
  throw sdk::NotNative("slashing of vaults");
}

}  // namespace blockreplay::keeper::thorchain
