#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// Decodes every value that it is given and encodes it again: what is seen, equal byte for byte, and
// of unknown kind.
class CodecTable {
 public:
  struct Row {
    int64_t seen = 0;
    int64_t equal = 0;
    std::string first_difference;  // key, stored and encoded value in hex
  };

  void Add(std::string_view store, std::string_view key, std::string_view value);

  // By "<store> <group of keys> (<type>)".
  const std::map<std::string, Row>& rows() const { return rows_; }
  const std::map<std::string, int64_t>& unknown() const { return unknown_; }
  bool AllEqual() const;
  // For people.
  std::string ToString() const;

 private:
  std::map<std::string, Row> rows_;
  std::map<std::string, int64_t> unknown_;  // store and the key's first bytes
};

}  // namespace blockreplay::keeper::thorchain
