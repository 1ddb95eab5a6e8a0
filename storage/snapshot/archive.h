#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cosmos/store/snapshots/v1/snapshot.pb.h"

namespace blockreplay::storage::snapshot {

using ::cosmos::store::snapshots::v1::Snapshot;

// A snapshot as the SDK's `snapshots dump` packs it: a tar file, gzipped, of `_snapshot` and the
// chunks `0`, `1`, … in this order. Like the SDK's `snapshots load`, it takes these names and no
// others; no name from the archive becomes a path.

// The Snapshot message at its beginning. kDataLoss where it is no such archive.
absl::StatusOr<Snapshot> ReadArchiveMetadata(const std::string& path);

// Unpacks the archive into `folder`, which must exist, as SnapshotDir reads it. Hashes are not
// compared. `progress` gets the bytes unpacked so far, and may stop it with an error.
absl::StatusOr<Snapshot> UnpackArchive(const std::string& path, const std::string& folder,
                                       const std::function<absl::Status(uint64_t bytes)>& progress);

}  // namespace blockreplay::storage::snapshot
