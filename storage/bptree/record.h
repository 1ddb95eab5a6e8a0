#pragma once

// Database records of the tree, byte for byte those of tm2 (tm2/pkg/bptree): each is a payload and
// its CRC-32C, big-endian. fixtures/gno/SPEC.md, section 1.2.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/bptree/node.h"

namespace blockreplay::storage::bptree {

inline constexpr char kNodeRecord = 'B';
inline constexpr char kValueRecord = 'V';
inline constexpr char kRootRecord = 'R';
inline constexpr char kOrphansRecord = 'O';
inline constexpr char kFastRecord = 'F';
inline constexpr std::string_view kFastIndexVersionKey = "Mfastidx";

// Levels above the leaves that a tree may have.
inline constexpr int kMaxHeight = 24;

// Database keys below the tree's prefix.
std::string KeyOf(char type, RecordKey key);
std::string KeyOf(char type, int64_t version);
// The version in a root record's key.
std::optional<int64_t> VersionOfRootKey(std::string_view key);

// Replaces `*record` with the sealed record of the arguments.
void SealNode(const Node& node, std::string* record);
void SealValue(std::string_view value, std::string* record);
void SealRoot(RecordKey root, const Hash& hash, std::string* record);
void SealOrphans(const std::vector<RecordKey>& values, std::string* record);
void SealFast(int64_t version, std::string_view value, std::string* record);
void SealVersion(int64_t version, std::string* record);

// The payload of a record whose checksum is right; kDataLoss otherwise.
absl::StatusOr<std::string_view> Unseal(std::string_view record);

struct RootRecord {
  RecordKey root;  // not named: the tree is empty
  Hash hash;
};
// From payloads. kDataLoss where they are malformed; nothing is allocated for what a length
// merely claims.
absl::StatusOr<RootRecord> ParseRoot(std::string_view payload);
absl::StatusOr<std::vector<RecordKey>> ParseOrphans(std::string_view payload);
// A node with no child and no value loaded. Its height must be `height` if that is given.
absl::StatusOr<Ref<Node>> ParseNode(RecordKey key, std::string_view payload,
                                    std::optional<int> height);

}  // namespace blockreplay::storage::bptree
