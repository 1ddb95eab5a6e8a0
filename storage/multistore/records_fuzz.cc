// Input: which decoder (1 byte), then bytes: a write-ahead record without its checksum, or a
// CommitInfo. Decoding must end in a value or an error, and what was decoded encodes to something
// that decodes to the same.
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/multistore/commit_info.h"
#include "storage/multistore/wal.h"

namespace {

using namespace blockreplay::storage;  // NOLINT(google-build-using-namespace)

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void TryWalRecord(std::string bytes) {
  const auto crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(crc >> shift));
  int64_t version = 0;
  for (size_t i = 1; i < 9 && i < bytes.size(); ++i) {
    version =
        static_cast<int64_t>(static_cast<uint64_t>(version) << 8 | static_cast<uint8_t>(bytes[i]));
  }
  const absl::StatusOr<WalRecord> record = DecodeWalRecord(version, bytes);
  if (!record.ok()) return;
  for (const WalStore& store : record->stores) {
    ForEachChange(store.changes, [](std::string_view, const std::string_view*) {
      return absl::OkStatus();
    }).IgnoreError();
  }
  const std::string again = EncodeWalRecord(*record);
  Require(DecodeWalRecord(version, again).ok(), "a record does not survive");
}

void TryCommitInfo(std::string_view bytes) {
  const absl::StatusOr<CommitInfo> info = DecodeCommitInfo(bytes);
  if (!info.ok()) return;
  const absl::StatusOr<CommitInfo> again = DecodeCommitInfo(EncodeCommitInfo(*info));
  Require(again.ok() && *again == *info, "a commit info does not survive");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    TryWalRecord(std::string(bytes));
  } else {
    TryCommitInfo(bytes);
  }
  return 0;
}
