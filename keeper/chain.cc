#include "keeper/chain.h"

#include "keeper/gno/gnoland.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/thorchain.h"

namespace blockreplay::keeper {

absl::StatusOr<std::unique_ptr<Chain>> NewChain(const ChainSpec& spec) {
  if (spec.application == "thornode") return thorchain::NewThorchain(spec);
  if (spec.application == "gnoland") return gno::NewGnoland(spec);
  return absl::NotFoundError(sdk::StrCat("no native code for the application \"", spec.application,
                                         "\"; there is for: gnoland, thornode"));
}

}  // namespace blockreplay::keeper
