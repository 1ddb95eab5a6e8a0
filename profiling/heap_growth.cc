#include "profiling/heap_growth.h"

#include <dlfcn.h>
#include <gperftools/malloc_extension.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "profiling/profile_builder.h"
#include "profiling/symbolizer.h"

namespace blockreplay::profiling {
namespace {

// Null without tcmalloc: this library does not link it, programs do.
MallocExtension* Extension() {
  using Instance = MallocExtension* (*)();
  const auto instance =
      reinterpret_cast<Instance>(dlsym(RTLD_DEFAULT, "_ZN15MallocExtension8instanceEv"));
  return instance == nullptr ? nullptr : instance();
}

}  // namespace

// The check of the virtual call's type would need MallocExtension's type information from tcmalloc
// itself, at link time.
__attribute__((no_sanitize("vptr"))) absl::StatusOr<perftools::profiles::Profile>
HeapGrowthProfile() {
  MallocExtension* extension = Extension();
  if (extension == nullptr) {
    return absl::UnavailableError("this program runs without tcmalloc, which knows of growth");
  }
  MallocExtensionWriter text;
  extension->GetHeapGrowthStacks(&text);
  absl::StatusOr<std::unique_ptr<Symbolizer>> symbolizer = Symbolizer::ForThisProcess();
  if (!symbolizer.ok()) return symbolizer.status();
  ProfileBuilder builder(symbolizer->get(), {{"objects", "count"}, {"space", "bytes"}}, "space",
                         {"space", "bytes"}, 1);
  // After a header a line for each stack, "count: bytes [count: bytes] @ address address …", then
  // the process's mappings.
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits('@', 1));
    const std::vector<absl::string_view> figures =
        absl::StrSplit(halves.first, absl::ByAnyChar(": ["), absl::SkipEmpty());
    double count = 0;
    double bytes = 0;
    if (figures.size() < 2 || !absl::SimpleAtod(figures[0], &count) ||
        !absl::SimpleAtod(figures[1], &bytes)) {
      continue;
    }
    std::vector<uintptr_t> stack;
    for (const absl::string_view part : absl::StrSplit(halves.second, ' ', absl::SkipEmpty())) {
      uint64_t address = 0;
      // Return addresses: the call is before them.
      if (absl::SimpleHexAtoi(part, &address) && address != 0) stack.push_back(address - 1);
    }
    if (!stack.empty()) builder.AddSample(stack, LabelValues{}, {count, bytes});
  }
  return builder.Build();
}

}  // namespace blockreplay::profiling
