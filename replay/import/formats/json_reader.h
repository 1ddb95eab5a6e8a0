#pragma once

#include <google/protobuf/timestamp.pb.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// Takes a JSON document apart that others wrote. The first thing that is not as it should be is
// kept as the document's error, and what is asked afterwards is empty: one look at status() at the
// end is enough. Not thread-safe.
class JsonReader {
 public:
  // `name` stands for the document in messages. What cannot be parsed is an error.
  JsonReader(std::string name, std::string_view text);

  // kDataLoss: "<name>: <member>: <problem>".
  const absl::Status& status() const { return status_; }
  void Fail(std::string_view member, std::string_view problem);

  const nlohmann::json& root() const { return root_; }
  // A member of an object; null where it is absent. Anything but an object or null is an error.
  const nlohmann::json& Member(const nlohmann::json& object, const char* name);
  // Likewise, but it must be an object.
  const nlohmann::json& Object(const nlohmann::json& object, const char* name);
  // Likewise an array, where null and absence are an empty one.
  const nlohmann::json& Array(const nlohmann::json& object, const char* name);

  // Whole numbers, as a JSON number or in a string; absent or null: 0.
  int64_t Int64(const nlohmann::json& object, const char* name);
  uint64_t Uint64(const nlohmann::json& object, const char* name);
  int32_t Int32(const nlohmann::json& object, const char* name);
  uint32_t Uint32(const nlohmann::json& object, const char* name);
  bool Bool(const nlohmann::json& object, const char* name);
  // Absent or null: empty.
  std::string Text(const nlohmann::json& object, const char* name);
  std::string Base64(const nlohmann::json& object, const char* name);
  // A value itself, not a member; `what` names it.
  std::string Base64Of(const nlohmann::json& value, std::string_view what);
  // Hexadecimal digits, or base64 where `size` (in bytes) or the digits say that it can be only
  // that.
  std::string HexOrBase64(const nlohmann::json& object, const char* name, size_t size);
  // RFC 3339 with up to nine digits of a second.
  google::protobuf::Timestamp Time(const nlohmann::json& object, const char* name);

 private:
  std::string name_;
  nlohmann::json root_;
  absl::Status status_;
};

}  // namespace blockreplay::replay
