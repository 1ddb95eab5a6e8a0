// Profiles that users hand in may be anything: decoding must refuse or yield something that
// CheckProfile accepts and that encodes and decodes to itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profiling/gperftools_profile.h"
#include "profiling/profile_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blockreplay::profiling;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr size_t kLimit = 1 << 22;
  if (const auto profile = DecodeProfile(bytes, kLimit); profile.ok()) {
    const auto encoded = EncodeProfile(*profile);
    if (!encoded.ok()) std::abort();
    // Written anew, a profile may be larger than it came (packed fields), within a factor.
    if (!DecodeProfile(*encoded, 16 * kLimit).ok()) std::abort();
  }
  ParseGperftoolsProfile(bytes).status().IgnoreError();
  return 0;
}
