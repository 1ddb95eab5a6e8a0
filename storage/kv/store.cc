#include "storage/kv/store.h"

namespace blockreplay::storage {

KeyRange KeyRange::Prefix(std::string_view prefix) {
  KeyRange range;
  range.start = std::string(prefix);
  // The end is the shortest key above all keys with the prefix: the prefix, less its trailing
  // 0xff bytes, with its last byte incremented. A prefix of only 0xff bytes has no end.
  std::string end = range.start;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    range.end = std::move(end);
  }
  return range;
}

}  // namespace blockreplay::storage
