#include "keeper/thorchain/codec_table.h"

#include <cstdio>
#include <optional>

#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/state_schema.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string_view CodecName(const StoredKind& kind) {
  switch (kind.codec) {
    case ValueCodec::kMessage:
      return kind.type;
    case ValueCodec::kText:
      return "text";
    case ValueCodec::kNumberText:
      return "number as text";
    case ValueCodec::kBigEndian64:
      return "big-endian integer";
    case ValueCodec::kEmpty:
      return "empty";
    case ValueCodec::kBytes:
      return "bytes";
    case ValueCodec::kTxCounter:
      return "height and count";
    case ValueCodec::kTimestamp:
      return "timestamp";
  }
  return "";
}

}  // namespace

void CodecTable::Add(std::string_view store, std::string_view key, std::string_view value) {
  const StoredKind* kind = FindStoredKind(store, key);
  if (kind == nullptr) {
    constexpr size_t kShownBytes = 16;
    ++unknown_[sdk::StrCat(store, " ", LowerHex(key.substr(0, kShownBytes)))];
    return;
  }
  Row& row = rows_[sdk::StrCat(store, " ", kind->name, " (", CodecName(*kind), ")")];
  ++row.seen;
  const std::optional<std::string> encoded = ReencodeValue(*kind, value);
  if (encoded == value) {
    ++row.equal;
  } else if (row.first_difference.empty()) {
    row.first_difference =
        sdk::StrCat("key ", LowerHex(key), "\n    stored  ", LowerHex(value), "\n    encoded ",
                    encoded ? LowerHex(*encoded) : "(can't be decoded)");
  }
}

bool CodecTable::AllEqual() const {
  for (const auto& [name, row] : rows_) {
    if (row.seen != row.equal) return false;
  }
  return unknown_.empty();
}

std::string CodecTable::ToString() const {
  std::string text;
  char line[256];
  std::snprintf(line, sizeof(line), "%-72s %10s %10s\n", "values by store, keys and type", "seen",
                "equal");
  text += line;
  Row total;
  for (const auto& [name, row] : rows_) {
    std::snprintf(line, sizeof(line), "%-72s %10lld %10lld\n", name.c_str(),
                  static_cast<long long>(row.seen), static_cast<long long>(row.equal));
    text += line;
    total.seen += row.seen;
    total.equal += row.equal;
  }
  int64_t unknown = 0;
  for (const auto& [name, count] : unknown_) unknown += count;
  std::snprintf(line, sizeof(line), "%-72s %10lld %10lld\n%-72s %10lld\n", "total",
                static_cast<long long>(total.seen), static_cast<long long>(total.equal), "unknown",
                static_cast<long long>(unknown));
  text += line;
  for (const auto& [name, count] : unknown_) {
    sdk::StrAppend(&text, "unknown: ", name, "… ", count, "\n");
  }
  for (const auto& [name, row] : rows_) {
    if (!row.first_difference.empty()) {
      sdk::StrAppend(&text, name, ": ", row.first_difference, "\n");
    }
  }
  return text;
}

}  // namespace blockreplay::keeper::thorchain
