#include "profiling/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::profiling {
namespace {

struct FreeDeleter {
  void operator()(char* memory) const { std::free(memory); }
};

// dwfl_standard_find_debuginfo would also ask debuginfod servers.
const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                   .find_debuginfo = dwfl_build_id_find_debuginfo,
                                   .section_address = nullptr,
                                   .debuginfo_path = nullptr};

std::string Hex(const unsigned char* bytes, int size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (int i = 0; i < size; ++i) {
    hex += kDigits[bytes[i] >> 4];
    hex += kDigits[bytes[i] & 15];
  }
  return hex;
}

// Address ranges with a value each, looked up by address. Ranges of functions may nest in no sane
// program; if they overlap, the one that starts last wins.
template <typename T>
class RangeIndex {
 public:
  void Add(uint64_t low, uint64_t high, T value) {
    if (low < high) ranges_.push_back({low, high, std::move(value)});
  }
  void Sort() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& a, const Range& b) { return a.low < b.low; });
  }
  const T* Find(uint64_t address) const {
    auto it = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                               [](uint64_t at, const Range& range) { return at < range.low; });
    if (it == ranges_.begin()) return nullptr;
    --it;
    return address < it->high ? &it->value : nullptr;
  }

 private:
  struct Range {
    uint64_t low;
    uint64_t high;
    T value;
  };
  std::vector<Range> ranges_;
};

template <typename Function>
void ForEachRange(Dwarf_Die* die, Function function) {
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) function(low, high);
}

const char* LinkageName(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != nullptr ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != nullptr) {
    return dwarf_formstring(&attribute);
  }
  return nullptr;
}

const char* DeclarationFile(Dwarf_Die* die) {
  if (const char* file = dwarf_decl_file(die)) return file;
  // Since DWARF 5 file 0 is the unit's own. Clang makes use of it, and libdw takes it for none.
  Dwarf_Attribute attribute;
  Dwarf_Word index = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) == nullptr ||
      dwarf_formudata(&attribute, &index) != 0 || index != 0 ||
      dwarf_diecu(die, &unit, nullptr, nullptr) == nullptr ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || count == 0) {
    return nullptr;
  }
  return dwarf_filesrc(files, 0, nullptr, nullptr);
}

// What debug information says about a function, without the line that is executing.
CodeFrame FunctionOf(Dwarf_Die* die) {
  CodeFrame frame;
  const char* linkage = LinkageName(die);
  const char* name = dwarf_diename(die);  // follows abstract origins
  if (linkage != nullptr) {
    frame.system_name = linkage;
    frame.name = Demangle(linkage);
  } else if (name != nullptr) {
    frame.system_name = frame.name = name;
  }
  if (const char* file = DeclarationFile(die)) frame.filename = file;
  int line = 0;
  if (dwarf_decl_line(die, &line) == 0) frame.start_line = line;
  return frame;
}

// Below this depth of scopes something is wrong with the debug information.
constexpr int kMaxScopeDepth = 200;

}  // namespace

std::string Demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, FreeDeleter> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : name;
}

struct Symbolizer::Impl {
  // The functions of one compilation unit. Addresses are as in the file, without the module's load
  // bias.
  struct Unit {
    Dwarf_Die die;
    bool indexed = false;
    RangeIndex<Dwarf_Die> functions;
  };
  // The debug information of one file.
  struct Module {
    Dwarf_Addr bias = 0;
    std::vector<std::unique_ptr<Unit>> units;
    RangeIndex<Unit*> by_address;
  };

  ~Impl() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  Module& ModuleOf(Dwfl_Module* handle) {
    auto& module = modules[handle];
    if (module != nullptr) return *module;
    module = std::make_unique<Module>();
    // Units' own ranges rather than .debug_aranges, which Clang doesn't write.
    Dwarf_Die* die = nullptr;
    while ((die = dwfl_module_nextcu(handle, die, &module->bias)) != nullptr) {
      auto unit = std::make_unique<Unit>();
      unit->die = *die;
      ForEachRange(die, [&](Dwarf_Addr low, Dwarf_Addr high) {
        module->by_address.Add(low, high, unit.get());
      });
      module->units.push_back(std::move(unit));
    }
    module->by_address.Sort();
    return *module;
  }

  static void IndexFunctions(Unit& unit, Dwarf_Die* scope, int depth) {
    Dwarf_Die child;
    if (depth > kMaxScopeDepth || dwarf_child(scope, &child) != 0) return;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram:
          ForEachRange(&child, [&](Dwarf_Addr low, Dwarf_Addr high) {
            unit.functions.Add(low, high, child);
          });
          break;
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
          IndexFunctions(unit, &child, depth + 1);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  // Appends the inlined calls that lead from `scope` to `address`, outermost first.
  static void FindInlined(Dwarf_Die scope, uint64_t address, std::vector<Dwarf_Die>* inlined) {
    for (int depth = 0; depth < kMaxScopeDepth; ++depth) {
      Dwarf_Die child;
      if (dwarf_child(&scope, &child) != 0) return;
      bool found = false;
      do {
        const int tag = dwarf_tag(&child);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
        if (dwarf_haspc(&child, address) <= 0) continue;
        if (tag == DW_TAG_inlined_subroutine) inlined->push_back(child);
        found = true;
        break;
      } while (dwarf_siblingof(&child, &child) == 0);
      if (!found) return;
      scope = child;
    }
  }

  // Empty if there is no debug information for the address.
  std::vector<CodeFrame> LookupDebugInformation(Dwfl_Module* handle, uint64_t address) {
    Module& module = ModuleOf(handle);
    const uint64_t in_file = address - module.bias;
    Unit* const* found = module.by_address.Find(in_file);
    if (found == nullptr) return {};
    Unit& unit = **found;
    if (!unit.indexed) {
      IndexFunctions(unit, &unit.die, 0);
      unit.functions.Sort();
      unit.indexed = true;
    }
    const Dwarf_Die* function = unit.functions.Find(in_file);
    if (function == nullptr) return {};

    std::vector<Dwarf_Die> scopes{*function};
    FindInlined(*function, in_file, &scopes);

    std::vector<CodeFrame> frames;
    int64_t line = 0;
    if (Dwarf_Line* record = dwarf_getsrc_die(&unit.die, in_file)) {
      int number = 0;
      if (dwarf_lineno(record, &number) == 0) line = number;
    }
    for (size_t i = scopes.size(); i-- > 0;) {
      CodeFrame frame = FunctionOf(&scopes[i]);
      frame.line = line;
      frames.push_back(std::move(frame));
      // The line of the next outer function is where this one was called.
      Dwarf_Attribute attribute;
      Dwarf_Word call_line = 0;
      line = dwarf_attr(&scopes[i], DW_AT_call_line, &attribute) != nullptr &&
                     dwarf_formudata(&attribute, &call_line) == 0
                 ? static_cast<int64_t>(call_line)
                 : 0;
    }
    return frames;
  }

  Dwfl* dwfl = nullptr;
  std::vector<CodeMapping> mappings;  // the main binary's first, then by address
  RangeIndex<int> mapping_index;
  std::unordered_map<Dwfl_Module*, std::unique_ptr<Module>> modules;
};

Symbolizer::Symbolizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Symbolizer::~Symbolizer() = default;

absl::StatusOr<std::unique_ptr<Symbolizer>> Symbolizer::ForThisProcess() {
  auto impl = std::make_unique<Impl>();
  impl->dwfl = dwfl_begin(&kCallbacks);
  if (impl->dwfl == nullptr) {
    return absl::InternalError(absl::StrCat("cannot start libdw: ", dwfl_errmsg(-1)));
  }
  if (dwfl_linux_proc_report(impl->dwfl, getpid()) != 0 ||
      dwfl_report_end(impl->dwfl, nullptr, nullptr) != 0) {
    return absl::InternalError(
        absl::StrCat("cannot read this process's mappings from /proc: ", dwfl_errmsg(-1)));
  }

  char main_path[4096];
  const ssize_t main_size = readlink("/proc/self/exe", main_path, sizeof(main_path));
  const std::string main_binary(main_path, main_size > 0 ? static_cast<size_t>(main_size) : 0);

  std::ifstream maps("/proc/self/maps");
  std::map<std::string, std::string> build_ids;
  for (std::string text; std::getline(maps, text);) {
    CodeMapping mapping;
    char permissions[8];
    int name_at = 0;
    if (std::sscanf(text.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n",
                    &mapping.start, &mapping.limit, permissions, &mapping.file_offset,
                    &name_at) != 4 ||
        permissions[2] != 'x' || name_at == 0) {
      continue;
    }
    mapping.filename = text.substr(static_cast<size_t>(name_at));
    if (mapping.filename == "[vsyscall]") continue;
    auto [known, inserted] = build_ids.try_emplace(mapping.filename);
    if (inserted) {
      if (Dwfl_Module* module = dwfl_addrmodule(impl->dwfl, mapping.start)) {
        GElf_Addr bias = 0;
        dwfl_module_getelf(module, &bias);  // reads the build id
        const unsigned char* bytes = nullptr;
        GElf_Addr address = 0;
        const int size = dwfl_module_build_id(module, &bytes, &address);
        if (size > 0) known->second = Hex(bytes, size);
      }
    }
    mapping.build_id = known->second;
    impl->mappings.push_back(std::move(mapping));
  }
  const auto order = [&](const CodeMapping& mapping) {
    return std::pair(mapping.filename != main_binary, mapping.start);
  };
  std::sort(impl->mappings.begin(), impl->mappings.end(),
            [&](const CodeMapping& a, const CodeMapping& b) { return order(a) < order(b); });
  for (size_t i = 0; i < impl->mappings.size(); ++i) {
    impl->mapping_index.Add(impl->mappings[i].start, impl->mappings[i].limit, static_cast<int>(i));
  }
  impl->mapping_index.Sort();
  return std::unique_ptr<Symbolizer>(new Symbolizer(std::move(impl)));
}

const std::vector<CodeMapping>& Symbolizer::mappings() const { return impl_->mappings; }

int Symbolizer::MappingOf(uint64_t address) const {
  const int* index = impl_->mapping_index.Find(address);
  return index == nullptr ? -1 : *index;
}

std::vector<CodeFrame> Symbolizer::Lookup(uint64_t address) {
  Dwfl_Module* module = dwfl_addrmodule(impl_->dwfl, address);
  if (module == nullptr) return {};
  std::vector<CodeFrame> frames = impl_->LookupDebugInformation(module, address);
  GElf_Off offset = 0;
  GElf_Sym symbol{};
  const char* symbol_name =
      dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (frames.empty()) {
    if (symbol_name == nullptr) return {};
    CodeFrame frame;
    frame.system_name = symbol_name;
    // Versions (malloc@@GLIBC_2.2.5) are not part of the name.
    frame.system_name = frame.system_name.substr(0, frame.system_name.find('@'));
    frame.name = Demangle(frame.system_name);
    frames.push_back(std::move(frame));
  } else if (symbol_name != nullptr && frames.back().name.empty()) {
    frames.back().system_name = symbol_name;
    frames.back().name = Demangle(symbol_name);
  }
  for (CodeFrame& frame : frames) {
    if (frame.name.empty()) frame.name = frame.system_name = "<anonymous>";
  }
  return frames;
}

}  // namespace blockreplay::profiling
