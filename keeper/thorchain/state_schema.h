#pragma once

// What is stored under which key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blockreplay::keeper::thorchain {

// How the values of a group of keys are encoded.
enum class ValueCodec {
  kMessage,      // a protobuf message of the type named
  kText,         // characters, as they are
  kNumberText,   // a decimal integer
  kBigEndian64,  // an unsigned integer
  kEmpty,        // the key says it all
  kBytes,        // an address, a hash, a contract's own data
  kTxCounter,    // height and number of transactions, big-endian
  kTimestamp,    // cosmos-sdk's text of a time
};

struct StoredKind {
  std::string_view store;
  std::string_view prefix;  // of the key
  std::string_view name;    // for people
  ValueCodec codec;
  std::string_view type;  // of messages
};

// In no particular order.
std::vector<const StoredKind*> AllStoredKinds();

// Null for a key of no known group.
const StoredKind* FindStoredKind(std::string_view store, std::string_view key);

// Decodes a value and encodes it again. Nothing if its kind is unknown or the bytes can't be
// decoded.
std::optional<std::string> ReencodeValue(const StoredKind& kind, std::string_view value);

// "pool BTC.BTC"; hex behind the name where the key isn't text.
std::string DescribeStoredKey(std::string_view store, std::string_view key);
// Field by field.
std::string DescribeStoredValue(std::string_view store, std::string_view key,
                                std::string_view value);

}  // namespace blockreplay::keeper::thorchain
