#pragma once

#include <string>

namespace blockreplay::keeper::sdk {

// google.protobuf.Any: a message with the name of its type, "/package.Name".
struct Any {
  std::string type_url;
  std::string value;
  friend bool operator==(const Any&, const Any&) = default;
};

}  // namespace blockreplay::keeper::sdk
