#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace blockreplay::profiling {

// A piece of a file in this process's memory.
struct CodeMapping {
  uint64_t start = 0;
  uint64_t limit = 0;
  uint64_t file_offset = 0;
  std::string filename;
  std::string build_id;  // lower-case hex; "" if the file has none

  friend bool operator==(const CodeMapping&, const CodeMapping&) = default;
};

// One function at an address; several per address where the compiler inlined.
struct CodeFrame {
  std::string name;         // as people read it
  std::string system_name;  // as the linker knows it
  std::string filename;     // "" if unknown
  int64_t start_line = 0;   // 0 if unknown
  int64_t line = 0;         // 0 if unknown
};

// Says what code is at this process's addresses: with debug information functions, files, lines and
// what was inlined, else names from the symbol tables. Reads the files that are mapped when it is
// made. Not thread-safe; making one takes milliseconds, the first lookup in each large compilation
// unit too. Uses no network: debug information is looked for in the file itself and under
// /usr/lib/debug/.build-id.
class Symbolizer {
 public:
  static absl::StatusOr<std::unique_ptr<Symbolizer>> ForThisProcess();
  ~Symbolizer();

  // The executable mappings, the main binary's first.
  const std::vector<CodeMapping>& mappings() const;

  // The mapping that contains an address: an index into mappings(), or -1.
  int MappingOf(uint64_t address) const;

  // The functions at an address, innermost first, the one that was emitted last. Empty if nothing
  // is known.
  std::vector<CodeFrame> Lookup(uint64_t address);

 private:
  struct Impl;
  explicit Symbolizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A C++ name as people read it, with template arguments; the name itself if it isn't mangled.
std::string Demangle(const std::string& name);

}  // namespace blockreplay::profiling
