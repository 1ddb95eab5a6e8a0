#include "replay/engine/apply_executor.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

absl::Status ApplyChangeSet(const v1::Block& block, StateBranch* state) {
  storage::Branch* branch = nullptr;
  const std::string* store = nullptr;  // of `branch`: writes come store by store
  for (const cosmos::store::v1beta1::StoreKVPair& write : block.change_set()) {
    if (store == nullptr || *store != write.store_key()) {
      branch = state->Find(write.store_key());
      store = &write.store_key();
      if (branch == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat("block ", block.height(),
                                                       " writes to store \"", write.store_key(),
                                                       "\", which manifest.json does not list"));
      }
    }
    absl::Status status =
        write.delete_() ? branch->Delete(write.key()) : branch->Set(write.key(), write.value());
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("block ", block.height(), ", store ", *store,
                                                      ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
