#include "replay/engine/chain_stores.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "storage/bptree/tree_kinds.h"

namespace blockreplay::replay {

absl::StatusOr<ChainStores> StoresOf(const Manifest& manifest) {
  ChainStores chain;
  const bool gno = absl::StartsWith(manifest.application_name, "gno");
  if (gno) chain.format = storage::CommitFormat::kTm2;
  for (const std::string& name : manifest.stores) {
    const storage::TreeKind* kind = storage::IavlKind();
    if (gno) {
      kind = name == "main"   ? storage::bptree::TreeStoreKind()
             : name == "base" ? storage::bptree::RawStoreKind()
                              : nullptr;
    }
    if (kind == nullptr) {
      return absl::UnimplementedError(absl::StrCat("application \"", manifest.application_name,
                                                   "\": a store \"", name,
                                                   "\" is not known; there are base and main"));
    }
    chain.stores.push_back({name, kind});
  }
  return chain;
}

}  // namespace blockreplay::replay
