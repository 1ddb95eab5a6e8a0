#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "keeper/chain.h"
#include "keeper/sdk/store.h"
#include "storage/multistore/multistore.h"

namespace blockreplay::replay {

// What is committed in a multistore, for chains that want to know; `stores` are the chain's.
keeper::CommittedState CommittedStateOf(const storage::Multistore& multistore,
                                        const std::vector<std::string>& stores);

// The state as a chain's native code sees it: branches over the stores of a multistore. One thread.
class NativeState {
 public:
  // `stores` are the chain's, by StoreId.
  explicit NativeState(std::vector<std::string> stores) : names_(std::move(stores)) {}

  // Begins anew on what is in `multistore` now. With `genesis`, a branch for what genesis writes at
  // once lies below the block's.
  void Start(storage::Multistore* multistore, bool genesis);
  keeper::sdk::MultiStore* block() const { return block_.get(); }
  // Null without genesis.
  keeper::sdk::MultiStore* genesis() const { return genesis_.get(); }
  // Below all branches. They remember what they read, so they are of no use once the multistore was
  // written.
  const std::vector<keeper::sdk::BaseStore*>& stores() const { return stores_; }

  // Puts what the branches hold into the multistore, in the order in which the chain's own node
  // does; they keep it, to be looked at.
  absl::Status Apply() const;
  // The branches in the order of Apply.
  std::vector<const keeper::sdk::MultiStore*> branches() const;

 private:
  const std::vector<std::string> names_;
  storage::Multistore* multistore_ = nullptr;
  std::vector<std::unique_ptr<keeper::sdk::ReaderStore>> readers_;
  std::vector<keeper::sdk::BaseStore*> stores_;
  std::unique_ptr<keeper::sdk::MultiStore> genesis_;
  std::unique_ptr<keeper::sdk::MultiStore> block_;
};

}  // namespace blockreplay::replay
