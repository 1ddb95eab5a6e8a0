#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blockreplay::replay {

// What blockreplay.json in a kept database says about it: which recording it belongs to and how it
// was written.
struct DatabaseInfo {
  std::string recording_digest;
  std::string chain_id;
  std::string persist;  // "every" or "deferred"
};

// The folder of a run's database: `application.db/` and `blockreplay.json`. A temporary one goes
// away with the object; a kept one stays. Holds an exclusive lock on the folder, so that no second
// run works on it.
class DatabaseDir {
 public:
  // Makes the folder, which must not exist (kAlreadyExists, and nothing is touched).
  static absl::StatusOr<DatabaseDir> Create(const std::string& path, const DatabaseInfo& info);
  // Takes over an existing one: kFailedPrecondition if it belongs to another recording, was written
  // in another way, isn't one of ours, or is in use. Makes it where there is nothing yet.
  static absl::StatusOr<DatabaseDir> Resume(const std::string& path, const DatabaseInfo& info);
  // Below $TMPDIR, or /tmp.
  static absl::StatusOr<DatabaseDir> CreateTemporary(const DatabaseInfo& info);

  DatabaseDir(DatabaseDir&& other) noexcept;
  DatabaseDir& operator=(DatabaseDir&&) = delete;
  ~DatabaseDir();

  const std::string& path() const { return path_; }
  std::string database_path() const { return path_ + "/application.db"; }
  bool temporary() const { return temporary_; }

  // Whether the state that the recording starts from is complete in the database.
  bool has_base() const { return has_base_; }
  // To be called when it is, before the first block.
  absl::Status MarkBaseComplete();
  // Removes the database, which must be closed: the next run, or pass, starts from nothing.
  absl::Status Clear();

 private:
  DatabaseDir(std::string path, const DatabaseInfo& info, bool temporary)
      : path_(std::move(path)), info_(info), temporary_(temporary) {}

  absl::Status Lock();
  absl::Status WriteInfo() const;

  std::string path_;
  DatabaseInfo info_;
  bool temporary_;
  bool has_base_ = false;
  int lock_fd_ = -1;
};

// Bytes that the file system of `path` (or of its nearest existing parent) has left for us.
absl::StatusOr<uint64_t> FreeDiskBytes(const std::string& path);

}  // namespace blockreplay::replay
