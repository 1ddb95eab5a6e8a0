#include "replay/engine/chain_stores.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::replay {

absl::StatusOr<std::vector<storage::StoreSpec>> StoresOf(const Manifest& manifest) {
  if (absl::StartsWith(manifest.application_name, "gno")) {
    return absl::UnimplementedError(absl::StrCat(
        "application \"", manifest.application_name,
        "\": its stores are B+32 trees below a tm2 multistore, which this version cannot "
        "replay; chains of the Cosmos SDK (IAVL) can be"));
  }
  std::vector<storage::StoreSpec> stores;
  for (const std::string& name : manifest.stores) stores.push_back({name});
  return stores;
}

}  // namespace blockreplay::replay
