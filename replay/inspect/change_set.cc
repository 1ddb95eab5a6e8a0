#include "replay/inspect/change_set.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace blockreplay::replay {
namespace {

using storage::MultistoreView;

}  // namespace

void AddWrite(const std::string& store, std::string_view key, std::optional<std::string_view> value,
              v1::Block* block) {
  cosmos::store::v1beta1::StoreKVPair* write = block->add_change_set();
  write->set_store_key(store);
  write->set_key(std::string(key));
  if (value) {
    write->set_value(std::string(*value));
  } else {
    write->set_delete_(true);
  }
}

absl::Status AddChanges(MultistoreView* before, MultistoreView* after, v1::Block* block) {
  for (const storage::StoreInfo& info : after->commit_info().stores) {
    const storage::StoreInfo* const old =
        before == nullptr ? nullptr : before->commit_info().Find(info.name);
    if (old != nullptr && old->hash == info.hash) continue;
    absl::StatusOr<const storage::iavl::View*> to = after->store(info.name);
    if (!to.ok()) return to.status();
    absl::Status status;
    if (old == nullptr) {
      status =
          (*to)->ForEachLeafSince(0, [&](std::string_view key, std::string_view value, int64_t) {
            AddWrite(info.name, key, value, block);
            return absl::OkStatus();
          });
    } else {
      absl::StatusOr<const storage::iavl::View*> from = before->store(info.name);
      if (!from.ok()) return from.status();
      status = storage::iavl::DiffLeaves(**from, **to,
                                         [&](std::string_view key, std::optional<std::string_view>,
                                             std::optional<std::string_view> value) {
                                           AddWrite(info.name, key, value, block);
                                           return absl::OkStatus();
                                         });
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
