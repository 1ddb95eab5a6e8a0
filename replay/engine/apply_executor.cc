#include "replay/engine/apply_executor.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

namespace {

// `find(name)` gives a storage::Store*, or null.
template <typename Find>
absl::Status ApplyTo(const v1::Block& block, Find&& find) {
  storage::Store* to = nullptr;
  const std::string* store = nullptr;  // that `to` is: writes come store by store
  for (const cosmos::store::v1beta1::StoreKVPair& write : block.change_set()) {
    if (store == nullptr || *store != write.store_key()) {
      to = find(write.store_key());
      store = &write.store_key();
      if (to == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("block ", block.height(),
                                                       " writes to store \"", write.store_key(),
                                                       "\", which manifest.json does not list"));
      }
    }
    absl::Status status =
        write.delete_() ? to->Delete(write.key()) : to->Set(write.key(), write.value());
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("block ", block.height(), ", store ", *store,
                                                      ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyChangeSet(const v1::Block& block, StateBranch* state) {
  return ApplyTo(block, [&](const std::string& name) { return state->Find(name); });
}

absl::Status ApplyInRecordedOrder(const v1::Block& block, storage::Multistore* multistore) {
  return ApplyTo(block, [&](const std::string& name) { return multistore->store(name); });
}

}  // namespace blockreplay::replay
