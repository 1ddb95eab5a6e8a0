#pragma once

// The one interface to ordered byte strings: engines, trees, branches and the keepers' views all
// speak it.
//
// Keys and values are arbitrary bytes; keys compare as unsigned bytes. An empty value is a value:
// it is not the same as an absent key. Keys and values handed in need to live only for the duration
// of the call.
//
// Threads: an object may be read by several threads at once only where its class says so; writes
// exclude everything else.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace blockreplay::storage {

// The half-open range [start, end); no end means "to the last key". An empty start is the first
// key.
struct KeyRange {
  std::string start;
  std::optional<std::string> end;

  // All keys that begin with `prefix`.
  static KeyRange Prefix(std::string_view prefix);
  static KeyRange All() { return {}; }

  bool Contains(std::string_view key) const { return key >= start && (!end || key < *end); }
};

enum class Direction { kForward, kReverse };

// A cursor over a range. Starts at the first element in its direction. Writing to the store it came
// from invalidates it, unless the store's class says otherwise.
class Iterator {
 public:
  virtual ~Iterator() = default;

  // False past the last element and after an error: check status() when it turns false.
  virtual bool Valid() const = 0;
  // Requires Valid().
  virtual void Next() = 0;
  // Valid until the next call of Next() or the end of the iterator. Require Valid().
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual absl::Status status() const = 0;
};

class Reader {
 public:
  virtual ~Reader() = default;

  // True and `*value` assigned if the key exists; false and `*value` unchanged if not. Errors are
  // I/O or corruption.
  virtual absl::StatusOr<bool> Get(std::string_view key, std::string* value) const = 0;
  virtual absl::StatusOr<bool> Has(std::string_view key) const = 0;
  virtual std::unique_ptr<Iterator> NewIterator(const KeyRange& range,
                                                Direction direction) const = 0;
};

class Store : public Reader {
 public:
  virtual absl::Status Set(std::string_view key, std::string_view value) = 0;
  // Deleting an absent key is not an error.
  virtual absl::Status Delete(std::string_view key) = 0;
};

}  // namespace blockreplay::storage
