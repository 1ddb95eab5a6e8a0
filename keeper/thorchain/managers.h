#pragma once

// What THORChain keeps in memory beside its state, and what handlers share. Memory is not rolled
// back with a failed transaction; nothing in it outlives a block.

#include <map>
#include <string>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

struct Managers {
  const Keeper* keeper;

  // Observer manager: who observed something in this block, for the end block.
  std::vector<AccAddress> observers;

  // Gas manager: gas that outbound transactions of this block took, for the end block.
  struct GasItem {
    Asset asset;
    Uint amount;
    int64_t count = 0;
  };
  std::vector<GasItem> gas;

  // Validator manager: who signed the last block, from its votes; operator addresses as text.
  std::vector<std::string> existing_validators;
};

}  // namespace blockreplay::keeper::thorchain
