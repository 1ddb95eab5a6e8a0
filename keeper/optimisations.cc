#include "keeper/optimisations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace blockreplay::keeper {

absl::StatusOr<OptimisationSet> ParseOptimisations(const std::vector<std::string>& names) {
  OptimisationSet set;
  for (const std::string& name : names) {
    const auto found = std::find(kOptimisationNames.begin(), kOptimisationNames.end(), name);
    if (found == kOptimisationNames.end()) {
      const std::vector<std::string> known(kOptimisationNames.begin(), kOptimisationNames.end());
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no optimisation \"", name, "\"; there are: ", absl::StrJoin(known, ", ")));
    }
    set.Add(static_cast<Optimisation>(found - kOptimisationNames.begin()));
  }
  return set;
}

}  // namespace blockreplay::keeper
