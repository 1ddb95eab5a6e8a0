#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/kv/store.h"

namespace blockreplay::storage {

struct LeveldbSourceOptions {
  // Reads a database that a running process holds. What is read is then the state of about the time
  // of the call; a node that writes much may make opening fail with kAborted: try again.
  bool allow_in_use = false;
  // Where the private directory goes; empty: the system's directory for temporary files.
  std::string temp_dir;
  size_t block_cache_bytes = size_t{32} << 20;
  // Compares each block's checksum when it is read, which takes a third of the time of scattered
  // Gets: to be left out where what is read is proven by hashes.
  bool verify_checksums = true;
};

// A LevelDB or goleveldb database (what Cosmos nodes write by default), read without changing it.
//
// LevelDB has no read-only mode: opening turns the journal into a table and starts a new manifest.
// So that happens in a private directory, removed at the end, which holds copies of the journals
// and the manifest. Tables never change once written and may be hundreds of gigabytes: they are
// read where they are. Nothing is ever compacted. The source keeps its bytes, times and links.
//
// While it is open, a shared lock is held on the source's LOCK file, so a node on that directory
// refuses to start. With allow_in_use there is no lock; the tables are hard-linked into the private
// directory if that is on the same file system, else copied, since their owner may delete them.
//
// Threads: may be read by several at once; an iterator belongs to one. Iterators must be gone
// before it is.
//
// Errors of Open:
//   kFailedPrecondition  in use by a process; not a LevelDB directory
//   kNotFound            no such directory, or nothing in it
//   kDataLoss            corruption
//   kAborted             allow_in_use, and its owner writes too fast
//   kResourceExhausted, kPermissionDenied, kUnavailable  as their names say
class LeveldbSource final : public Reader {
 public:
  static absl::StatusOr<std::unique_ptr<LeveldbSource>> Open(
      const std::string& path, const LeveldbSourceOptions& options = {});
  ~LeveldbSource() override;

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;

  const std::string& path() const;

 private:
  class Impl;
  explicit LeveldbSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace blockreplay::storage
