// The other process of rocksdb_engine_test.cc: `child ROLE PATH NUMBER`. Answers with binary
// numbers on standard output.

#include "storage/kv/rocksdb_engine_child.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "storage/kv/rocksdb_engine.h"

namespace blockreplay::storage {
namespace {

bool Send(uint64_t number) {
  return write(STDOUT_FILENO, &number, sizeof(number)) == sizeof(number);
}

int HoldOpen(const std::string& path) {
  const auto engine = RocksDbEngine::Open(path, {});
  if (!engine.ok() || !Send(1)) return 1;
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

int WriteBatches(const std::string& path, uint64_t last) {
  const auto engine = RocksDbEngine::Open(path, SmallOptions());
  if (!engine.ok()) return 1;
  for (uint64_t n = last + 1;; ++n) {
    if (!(*engine)->Write(NumberedBatch(n), Durability::kProcessCrash).ok()) return 1;
    if (!Send(n)) return 1;
  }
}

int FillUnderLimit(const std::string& path) {
  signal(SIGXFSZ, SIG_IGN);  // so that writes fail with EFBIG
  const rlimit limit{150 << 10, 150 << 10};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  uint64_t written = 0;
  const absl::Status status = WriteUntilError(path, &written);
  return Send(static_cast<uint64_t>(status.code())) && Send(written) ? 0 : 1;
}

int OpenAsNobody(const std::string& path) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && setuid(kNobody) != 0) return 1;  // root may write everywhere
  return Send(static_cast<uint64_t>(RocksDbEngine::Open(path, {}).status().code())) ? 0 : 1;
}

int Main(const std::string& role, const std::string& path, uint64_t number) {
  if (role == "hold-open") return HoldOpen(path);
  if (role == "write-batches") return WriteBatches(path, number);
  if (role == "fill-under-limit") return FillUnderLimit(path);
  if (role == "open-as-nobody") return OpenAsNobody(path);
  return 2;
}

}  // namespace
}  // namespace blockreplay::storage

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return blockreplay::storage::Main(argv[1], argv[2], std::stoull(argv[3]));
}
