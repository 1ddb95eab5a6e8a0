#include "keeper/thorchain/stores.h"

namespace blockreplay::keeper::thorchain {

const std::vector<std::string>& StoreNames() {
  static const auto* const names = new std::vector<std::string>{
      "acc",    "authz",     "bank",    "consensus", "denom",   "mint",
      "params", "scheduler", "staking", "thorchain", "upgrade", "wasm"};
  return *names;
}

}  // namespace blockreplay::keeper::thorchain
