#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>

#include "absl/container/btree_map.h"
#include "storage/kv/engine.h"

namespace blockreplay::storage {

// An engine in memory, for tests and for state that nobody keeps. An iterator reads the contents
// of the time when it was made: it pins them, and the first write while anything is pinned copies
// the whole map. So iterating is cheap, writing without live iterators is cheap, and a loop that
// does both at once on a large map is not.
//
// Threads: as Engine says. Iterators may outlive the engine.
class MemoryEngine final : public Engine {
 public:
  MemoryEngine();

  absl::StatusOr<bool> Get(std::string_view key, std::string* value) const override;
  absl::StatusOr<bool> Has(std::string_view key) const override;
  std::unique_ptr<Iterator> NewIterator(const KeyRange& range, Direction direction) const override;
  absl::Status Set(std::string_view key, std::string_view value) override;
  absl::Status Delete(std::string_view key) override;
  absl::Status Write(const WriteBatch& batch, Durability durability) override;
  // Only memory_bytes, as the sum of key and value sizes.
  Stats stats() const override;

 private:
  friend class MemoryIterator;

  // std::less<> compares with views, so that lookups do not allocate.
  using Map = absl::btree_map<std::string, std::string, std::less<>>;
  struct Contents {
    Map map;
    // Live iterators. Decremented with release order after an iterator's last access, so that a
    // writer that reads 0 with acquire order may change the map in place.
    std::atomic<int> pins{0};
  };

  // Requires mutex_ held exclusively.
  Map& MutableMap();

  mutable std::shared_mutex mutex_;
  std::shared_ptr<Contents> contents_;
};

}  // namespace blockreplay::storage
