#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "keeper/chain.h"
#include "keeper/gno/tx_runner.h"

namespace blockreplay::keeper::gno {

// Stores by StoreId.
inline constexpr sdk::StoreId kBaseStore = 0;
inline constexpr sdk::StoreId kMainStore = 1;

// gno.land without its virtual machine: bank sends, sessions, fees; genesis, gas price, header.
// Nothing is carried over from one block to the next but memory: height, time, header and consensus
// parameters are read from the state.
std::unique_ptr<Chain> NewGnoland(const ChainSpec& spec);

}  // namespace blockreplay::keeper::gno
