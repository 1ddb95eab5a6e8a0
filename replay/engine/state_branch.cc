#include "replay/engine/state_branch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

StateBranch::StateBranch(storage::Multistore* multistore) {
  for (const std::string& name : multistore->store_names()) {
    storage::Store* store = multistore->store(name);
    stores_.push_back(
        {name, store, std::make_unique<storage::Branch>(store), profiling::InternLabel(name)});
  }
}

storage::Branch* StateBranch::Find(std::string_view store) {
  const auto it = std::lower_bound(
      stores_.begin(), stores_.end(), store,
      [](const StoreBranch& entry, std::string_view name) { return entry.name < name; });
  return it != stores_.end() && it->name == store ? it->branch.get() : nullptr;
}

absl::Status StateBranch::Flush() {
  for (const StoreBranch& entry : stores_) {
    if (entry.branch->pending().empty()) continue;
    const profiling::ScopedLabel label(profiling::LabelKey::kStore, entry.label);
    if (absl::Status status = entry.branch->Flush(entry.store); !status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("store ", entry.name, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

void StateBranch::Discard() {
  for (const StoreBranch& entry : stores_) entry.branch->Discard();
}

}  // namespace blockreplay::replay
