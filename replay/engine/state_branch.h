#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "profiling/labels.h"
#include "storage/branch.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// The block-level branch: one write-back cache per store of a multistore. What a block does to the
// state goes here first and reaches the trees once, store by store, keys ascending. One thread.
class StateBranch {
 public:
  // The multistore must outlive it.
  explicit StateBranch(storage::Multistore* multistore);

  // Null if there is no such store.
  storage::Branch* Find(std::string_view store);
  // Applies everything pending to the trees, stores in ascending order, and forgets it.
  absl::Status Flush();
  void Discard();

 private:
  struct StoreBranch {
    std::string name;
    storage::Store* store;
    std::unique_ptr<storage::Branch> branch;
    profiling::LabelId label;
  };

  std::vector<StoreBranch> stores_;  // ascending by name
};

}  // namespace blockreplay::replay
