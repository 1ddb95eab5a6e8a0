#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "keeper/gno/error.h"
#include "keeper/gno/gas.h"
#include "keeper/gno/scratch.h"
#include "keeper/gno/state.h"

namespace blockreplay::keeper::gno {

// What a state transition of one transaction works with.
struct Context {
  TxState* state = nullptr;
  Scratch* scratch = nullptr;
  // The meter that accesses are paid from, at the prices in force.
  Payer payer = {};
  std::string_view chain_id = {};
  int64_t height = 0;
  int64_t time = 0;  // of the block, seconds since the epoch
  // Why the transaction failed, for people.
  std::string* log = nullptr;

  Error Fail(Error error, std::string_view why) const {
    if (log != nullptr) log->assign(why);
    return error;
  }
};

}  // namespace blockreplay::keeper::gno
