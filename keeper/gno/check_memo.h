#pragma once

#include <cstdint>
#include <memory>

#include "keeper/gno/gas.h"
#include "keeper/gno/params.h"

namespace blockreplay::keeper::gno {

// What CheckTx needs of the committed parameters, decoded once per height instead of once per
// transaction: gnolang/gno does so since its pull request 6460 for the auth parameters, the vm
// parameters and the gas configuration. A check state never changes parameters, so between two
// commits each transaction would decode the same. Only for CheckTx and recheck: DeliverTx sees the
// parameter changes of its own block, and a simulation may run on any height.
class CheckMemo {
 public:
  struct Entry {
    int64_t height = 0;
    AuthParams auth;
    StoreCosts costs;
    // What reading the vm parameters costs: it is charged as if they had been read.
    int64_t vm_params_gas = 0;
  };

  // Nothing for a height that was not stored, for another one, and for height 0: before the first
  // commit the check state sees what genesis has written so far.
  std::shared_ptr<const Entry> Find(int64_t height) const {
    return entry_ != nullptr && entry_->height == height && height != 0 ? entry_ : nullptr;
  }
  // Readers share the entry; nobody can change it.
  void Store(Entry entry) {
    if (entry.height != 0) entry_ = std::make_shared<const Entry>(std::move(entry));
  }
  // With every commit.
  void Invalidate() { entry_.reset(); }

 private:
  std::shared_ptr<const Entry> entry_;
};

}  // namespace blockreplay::keeper::gno
