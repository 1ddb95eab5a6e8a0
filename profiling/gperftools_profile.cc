#include "profiling/gperftools_profile.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::profiling {
namespace {

constexpr char kLibrary[] = "libprofiler.so.0";

struct Library {
  int (*start)(const char* path) = nullptr;
  void (*stop)() = nullptr;
};

absl::StatusOr<Library> Load(int hz) {
  setenv("CPUPROFILE_FREQUENCY", std::to_string(hz).c_str(), /*overwrite=*/0);
  setenv("TCMALLOC_STACKTRACE_METHOD", "libgcc", /*overwrite=*/0);
  void* handle = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot load gperftools' CPU profiler: ", dlerror(),
                                               " (Debian: apt install libgoogle-perftools4)"));
  }
  Library library;
  library.start = reinterpret_cast<int (*)(const char*)>(dlsym(handle, "ProfilerStart"));
  library.stop = reinterpret_cast<void (*)()>(dlsym(handle, "ProfilerStop"));
  if (library.start == nullptr || library.stop == nullptr) {
    return absl::UnavailableError(absl::StrCat(kLibrary, " is not gperftools' CPU profiler"));
  }
  return library;
}

absl::StatusOr<Library> GetLibrary(int hz) {
  static const absl::StatusOr<Library> library = Load(hz);
  return library;
}

}  // namespace

absl::StatusOr<GperftoolsProfile> ParseGperftoolsProfile(std::string_view bytes) {
  const size_t words = bytes.size() / sizeof(uint64_t);
  const auto word = [&](size_t index) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof(uint64_t), sizeof(value));
    return value;
  };
  constexpr size_t kHeaderWords = 5;
  if (words < kHeaderWords || word(0) != 0 || word(1) != 3 || word(2) != 0) {
    return absl::InvalidArgumentError("not a gperftools CPU profile of this machine's kind");
  }
  GperftoolsProfile profile;
  constexpr uint64_t kMaxPeriodMicros = 1'000'000'000;
  if (word(3) == 0 || word(3) > kMaxPeriodMicros) {
    return absl::InvalidArgumentError(
        absl::StrCat("gperftools CPU profile with a period of ", word(3), " us"));
  }
  profile.period_nanos = static_cast<int64_t>(word(3)) * 1000;
  for (size_t at = kHeaderWords;;) {
    if (words - at < 3) {
      return absl::DataLossError(
          absl::StrCat("gperftools CPU profile ends at word ", at,
                       " without a trailer: was the program killed before the profiler stopped?"));
    }
    const uint64_t count = word(at);
    const uint64_t depth = word(at + 1);
    if (count == 0 && depth == 1 && word(at + 2) == 0) return profile;
    if (depth == 0 || depth > words - at - 2) {
      return absl::DataLossError(
          absl::StrCat("gperftools CPU profile: stack of ", depth, " frames at word ", at));
    }
    GperftoolsProfile::Record record;
    record.count = count;
    record.stack.reserve(depth);
    for (uint64_t i = 0; i < depth; ++i) record.stack.push_back(word(at + 2 + i) - (i > 0 ? 1 : 0));
    profile.records.push_back(std::move(record));
    at += 2 + depth;
  }
}

GperftoolsCpuProfiler::~GperftoolsCpuProfiler() {
  if (!path_.empty()) Stop().IgnoreError();
}

absl::Status GperftoolsCpuProfiler::Start(int hz) {
  // The library refuses to work where SIGPROF has a handler, such as the one that our own sampler
  // left.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  if (sigaction(SIGPROF, &ignore, nullptr) != 0) {
    return absl::ErrnoToStatus(errno, "cannot ignore SIGPROF");
  }
  const absl::StatusOr<Library> library = GetLibrary(hz);
  if (!library.ok()) return library.status();
  const char* directory = std::getenv("TMPDIR");
  std::string path = absl::StrCat(directory != nullptr && *directory != '\0' ? directory : "/tmp",
                                  "/blockreplay-cpu-XXXXXX");
  const int fd = mkstemp(path.data());
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create the temporary file ", path));
  }
  close(fd);
  if (library->start(path.c_str()) == 0) {
    unlink(path.c_str());
    return absl::FailedPreconditionError(
        "gperftools' CPU profiler does not start: is it running already (CPUPROFILE set)?");
  }
  path_ = std::move(path);
  return absl::OkStatus();
}

absl::StatusOr<GperftoolsProfile> GperftoolsCpuProfiler::Stop() {
  if (path_.empty()) return absl::FailedPreconditionError("gperftools' profiler is not running");
  GetLibrary(0)->stop();
  const std::string path = std::exchange(path_, "");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const bool read = file.good();
  unlink(path.c_str());
  if (!read) return absl::DataLossError(absl::StrCat("cannot read back ", path));
  return ParseGperftoolsProfile(bytes.str());
}

}  // namespace blockreplay::profiling
