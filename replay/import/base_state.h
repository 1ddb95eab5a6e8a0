#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "blockreplay/v1/partial_state.pb.h"
#include "replay/import/disk_space.h"
#include "storage/commit_tree.h"
#include "storage/multistore/snapshot.h"
#include "storage/snapshot/snapshot_dir.h"

namespace blockreplay::replay {

// The state that a recording's first block builds on.
class BaseState {
 public:
  virtual ~BaseState() = default;

  virtual int64_t height() const = 0;
  // Where it is known without reading the state.
  virtual std::optional<storage::Hash> app_hash() const { return std::nullopt; }
  // What it takes on disk; nothing where that is not known.
  virtual absl::StatusOr<DiskBytes> EstimateBytes() const { return DiskBytes{}; }
  // Writes it as the folder `path`, which does not exist: a snapshot of the archive layout.
  virtual absl::Status Write(const std::string& path,
                             const storage::SnapshotProgressCallback& progress) const = 0;
  // True where there can be no such snapshot; the state is handed out in items instead.
  virtual bool in_items() const { return false; }
  virtual absl::Status WriteItems(
      const std::function<absl::Status(const v1::PartialStateItem&)>& /*sink*/) const {
    return absl::UnimplementedError("this base is a snapshot");
  }
};

// The state-sync snapshot at `path`: a folder in a layout that SnapshotDir reads, or an archive of
// `snapshots dump`. Of a node's `data/snapshots` the one of `height` is taken.
absl::StatusOr<std::unique_ptr<BaseState>> OpenSnapshotBase(const std::string& path,
                                                            int64_t height);

// A folder in any layout that SnapshotDir reads; its chunks are copied.
class SnapshotBase final : public BaseState {
 public:
  static absl::StatusOr<std::unique_ptr<SnapshotBase>> Open(const std::string& path);

  int64_t height() const override { return static_cast<int64_t>(snapshot_.metadata().height()); }
  absl::StatusOr<DiskBytes> EstimateBytes() const override {
    return DiskBytes{snapshot_.total_bytes(), snapshot_.total_bytes()};
  }
  absl::Status Write(const std::string& path,
                     const storage::SnapshotProgressCallback& progress) const override;

 private:
  explicit SnapshotBase(storage::snapshot::SnapshotDir snapshot) : snapshot_(std::move(snapshot)) {}

  const storage::snapshot::SnapshotDir snapshot_;
};

// An archive of the SDK's `snapshots dump`, unpacked where it is needed.
class ArchiveBase final : public BaseState {
 public:
  static absl::StatusOr<std::unique_ptr<ArchiveBase>> Open(const std::string& path);

  int64_t height() const override { return height_; }
  absl::StatusOr<DiskBytes> EstimateBytes() const override;
  absl::Status Write(const std::string& path,
                     const storage::SnapshotProgressCallback& progress) const override;

 private:
  ArchiveBase(std::string path, int64_t height) : path_(std::move(path)), height_(height) {}

  const std::string path_;
  const int64_t height_;
};

}  // namespace blockreplay::replay
