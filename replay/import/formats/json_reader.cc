#include "replay/import/formats/json_reader.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

const json& Null() {
  static const auto* null = new json;
  return *null;
}

const json& NoElements() {
  static const auto* array = new json(json::array());
  return *array;
}

bool IsHex(const std::string& text) {
  return text.size() % 2 == 0 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c));
         });
}

template <typename Number>
bool ParseNumber(const json& value, Number* number) {
  if (const auto* text = value.get_ptr<const std::string*>()) {
    return absl::SimpleAtoi(*text, number);
  }
  if (value.is_number_unsigned()) {
    const auto wide = value.get<uint64_t>();
    *number = static_cast<Number>(wide);
    return wide <= static_cast<uint64_t>(std::numeric_limits<Number>::max());
  }
  if (!value.is_number_integer() || std::is_unsigned_v<Number>) return false;
  const auto wide = value.get<int64_t>();  // negative: others are unsigned
  *number = static_cast<Number>(wide);
  return wide >= static_cast<int64_t>(std::numeric_limits<Number>::min());
}

}  // namespace

JsonReader::JsonReader(std::string name, std::string_view text) : name_(std::move(name)) {
  root_ = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root_.is_object()) {
    Fail("document", root_.is_discarded() ? "is no JSON, or ends early" : "is no JSON object");
    root_ = nullptr;
  }
}

void JsonReader::Fail(std::string_view member, std::string_view problem) {
  if (!status_.ok()) return;
  status_ = absl::DataLossError(
      absl::StrCat(name_, ": ", std::string(member), ": ", std::string(problem)));
}

const json& JsonReader::Member(const json& object, const char* name) {
  if (object.is_null()) return Null();
  if (!object.is_object()) {
    Fail(name, "should be a member of an object, but that is none");
    return Null();
  }
  const auto found = object.find(name);
  return found == object.end() ? Null() : *found;
}

const json& JsonReader::Object(const json& object, const char* name) {
  const json& member = Member(object, name);
  if (member.is_object()) return member;
  Fail(name, "is not there, or no object");
  return Null();
}

const json& JsonReader::Array(const json& object, const char* name) {
  const json& member = Member(object, name);
  if (member.is_array()) return member;
  if (!member.is_null()) Fail(name, "is no array");
  return NoElements();
}

int64_t JsonReader::Int64(const json& object, const char* name) {
  int64_t number = 0;
  const json& member = Member(object, name);
  if (!member.is_null() && !ParseNumber(member, &number)) Fail(name, "is no 64-bit number");
  return number;
}

uint64_t JsonReader::Uint64(const json& object, const char* name) {
  uint64_t number = 0;
  const json& member = Member(object, name);
  if (!member.is_null() && !ParseNumber(member, &number)) {
    Fail(name, "is no 64-bit number without sign");
  }
  return number;
}

int32_t JsonReader::Int32(const json& object, const char* name) {
  int32_t number = 0;
  const json& member = Member(object, name);
  if (!member.is_null() && !ParseNumber(member, &number)) Fail(name, "is no 32-bit number");
  return number;
}

uint32_t JsonReader::Uint32(const json& object, const char* name) {
  uint32_t number = 0;
  const json& member = Member(object, name);
  if (!member.is_null() && !ParseNumber(member, &number)) {
    Fail(name, "is no 32-bit number without sign");
  }
  return number;
}

bool JsonReader::Bool(const json& object, const char* name) {
  const json& member = Member(object, name);
  if (member.is_null()) return false;
  if (!member.is_boolean()) Fail(name, "is neither true nor false");
  return member.is_boolean() && member.get<bool>();
}

std::string JsonReader::Text(const json& object, const char* name) {
  const json& member = Member(object, name);
  if (member.is_null()) return {};
  if (const auto* text = member.get_ptr<const std::string*>()) return *text;
  Fail(name, "is no text");
  return {};
}

std::string JsonReader::Base64Of(const json& value, std::string_view what) {
  std::string bytes;
  if (value.is_null()) return bytes;
  const auto* text = value.get_ptr<const std::string*>();
  if (text == nullptr || !absl::Base64Unescape(*text, &bytes)) Fail(what, "is no base64");
  return bytes;
}

std::string JsonReader::Base64(const json& object, const char* name) {
  return Base64Of(Member(object, name), name);
}

std::string JsonReader::HexOrBase64(const json& object, const char* name, size_t size) {
  const std::string text = Text(object, name);
  if (IsHex(text) && (size == 0 || text.size() == 2 * size)) return absl::HexStringToBytes(text);
  std::string bytes;
  if (absl::Base64Unescape(text, &bytes) && (size == 0 || bytes.size() == size)) return bytes;
  if (text.empty()) return {};
  Fail(name, size == 0 ? "is neither hex nor base64"
                       : absl::StrCat("is not ", size, " bytes in hex or base64"));
  return {};
}

google::protobuf::Timestamp JsonReader::Time(const json& object, const char* name) {
  google::protobuf::Timestamp time;
  if (!google::protobuf::util::TimeUtil::FromString(Text(object, name), &time)) {
    Fail(name, "is no time as RFC 3339 has it");
  }
  return time;
}

}  // namespace blockreplay::replay
