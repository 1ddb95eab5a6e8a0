#include "replay/engine/native_state.h"

#include "absl/strings/str_cat.h"
#include "profiling/labels.h"

namespace blockreplay::replay {

keeper::CommittedState CommittedStateOf(const storage::Multistore& multistore,
                                        const std::vector<std::string>& stores) {
  keeper::CommittedState committed;
  if (multistore.version() > 0) committed.app_hash = storage::ToRaw(multistore.app_hash());
  for (const std::string& store : stores) {
    const storage::CommitTree* const tree = multistore.tree(store);
    committed.keys.push_back(tree != nullptr ? tree->size() : 0);
  }
  return committed;
}

void NativeState::Start(storage::Multistore* multistore, bool genesis) {
  multistore_ = multistore;
  block_.reset();
  genesis_.reset();
  stores_.clear();
  readers_.clear();
  for (const std::string& name : names_) {
    readers_.push_back(std::make_unique<keeper::sdk::ReaderStore>(multistore->store(name)));
    stores_.push_back(readers_.back().get());
  }
  if (genesis) {
    genesis_ = std::make_unique<keeper::sdk::MultiStore>(stores_);
    block_ = std::make_unique<keeper::sdk::MultiStore>(genesis_.get());
  } else {
    block_ = std::make_unique<keeper::sdk::MultiStore>(stores_);
  }
}

std::vector<const keeper::sdk::MultiStore*> NativeState::branches() const {
  std::vector<const keeper::sdk::MultiStore*> branches;
  // Genesis first: the shape of some trees is their history.
  if (genesis_ != nullptr) branches.push_back(genesis_.get());
  if (block_ != nullptr) branches.push_back(block_.get());
  return branches;
}

absl::Status NativeState::Apply() const {
  for (const keeper::sdk::MultiStore* branch : branches()) {
    for (size_t i = 0; i < names_.size(); ++i) {
      const profiling::ScopedLabel label(profiling::LabelKey::kStore,
                                         profiling::InternLabel(names_[i]));
      storage::Store* const store = multistore_->store(names_[i]);
      for (const auto& [key, operation] :
           branch->store(static_cast<keeper::sdk::StoreId>(i)).operations()) {
        absl::Status status =
            operation.deleted ? store->Delete(key) : store->Set(key, operation.value);
        if (!status.ok()) {
          return absl::Status(status.code(),
                              absl::StrCat("store ", names_[i], ": ", status.message()));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
