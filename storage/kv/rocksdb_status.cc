#include "storage/kv/rocksdb_status.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::storage {

absl::Status FromRocksDb(const rocksdb::Status& status, const std::string& doing,
                         const std::string& path) {
  if (status.ok()) return absl::OkStatus();
  const std::string detail = status.ToString();
  const std::string what = absl::StrCat("cannot ", doing, " database ", path, ": ");

  if (status.IsNoSpace() || absl::StrContains(detail, "No space left on device") ||
      absl::StrContains(detail, "Disk quota exceeded") ||
      absl::StrContains(detail, "File too large")) {
    return absl::ResourceExhaustedError(absl::StrCat(
        what, detail, "; free space there (what was written before is intact) and open it again"));
  }
  // Lock errors have no code of their own, only errno's text behind the lock file's name.
  if (absl::StrContains(detail, "/LOCK: No locks available") ||
      absl::StrContains(detail, "lock hold by current process")) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, "it is already open in this process; close it first"));
  }
  if (absl::StrContains(detail, "/LOCK: Resource temporarily unavailable")) {
    return absl::FailedPreconditionError(
        absl::StrCat(what,
                     "another process has it open (holds LOCK in that directory); stop that "
                     "process or use another directory"));
  }
  if (absl::StrContains(detail, "Permission denied") ||
      absl::StrContains(detail, "Read-only file system") ||
      absl::StrContains(detail, "Operation not permitted")) {
    return absl::PermissionDeniedError(
        absl::StrCat(what, detail, "; make the directory writable for this user or use another"));
  }
  if (status.IsCorruption()) {
    return absl::DataLossError(
        absl::StrCat(what, detail, "; restore it from a copy or make it again from its recording"));
  }
  if (status.IsNotFound() || status.IsPathNotFound()) {
    return absl::NotFoundError(absl::StrCat(what, detail));
  }
  if (status.IsInvalidArgument() && absl::StrContains(detail, "exists (error_if_exists")) {
    return absl::AlreadyExistsError(
        absl::StrCat(what, "it exists; use another directory or resume it"));
  }
  if (status.IsInvalidArgument()) return absl::InvalidArgumentError(absl::StrCat(what, detail));
  return absl::UnavailableError(absl::StrCat(what, detail));
}

}  // namespace blockreplay::storage
