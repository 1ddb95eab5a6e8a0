// Profiles that users hand in may be anything: decoding must refuse or yield something that
// CheckProfile accepts and that encodes and decodes to itself; what it is made into for tables,
// flame graphs and merges must come out of anything that was accepted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/gperftools_profile.h"
#include "profiling/profile_file.h"
#include "profiling/profile_merge.h"
#include "profiling/profile_view.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;

// Small, because a few bytes can claim a lot.
constexpr size_t kFrameLimit = 1 << 16;

void Ask(const Profile& profile) {
  auto view = ProfileView::Create(profile, kFrameLimit);
  if (!view.ok()) return;
  const std::vector<std::string> keys = view->LabelKeys();
  for (size_t type = 0; type < view->types().size(); ++type) {
    const auto rows = SumByFunction(*view, type);
    DiffRows(rows, rows);
    SumByLabels(*view, type, keys);
    FoldedStacks(*view, type, keys);
    FormatValue(Total(*view, type), view->types()[type].unit);
  }
  if (!keys.empty()) view->Keep(keys.front(), "");
}

void Merge(const Profile& profile) {
  const Profile twice[] = {profile, profile};
  const auto merged = MergeProfiles(twice);
  if (!merged.ok() || !CheckProfile(*merged).ok()) std::abort();
}

}  // namespace
}  // namespace blockreplay::profiling

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blockreplay::profiling;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr size_t kLimit = 1 << 22;
  if (const auto profile = DecodeProfile(bytes, kLimit); profile.ok()) {
    const auto encoded = EncodeProfile(*profile);
    if (!encoded.ok()) std::abort();
    // Written anew, a profile may be larger than it came (packed fields), within a factor.
    if (!DecodeProfile(*encoded, 16 * kLimit).ok()) std::abort();
    Ask(*profile);
    Merge(*profile);
  }
  ParseGperftoolsProfile(bytes).status().IgnoreError();
  return 0;
}
