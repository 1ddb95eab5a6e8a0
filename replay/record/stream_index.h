#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// What a folder of a stream of blocks holds: the parts, and manifest.draft.json, which says what
// they are before there is a manifest.
namespace blockreplay::replay {

inline constexpr char kDraftManifestName[] = "manifest.draft.json";

// A file `blocks-<first>.zst` with the blocks from `first` to `last` in its first `size` bytes.
struct StreamPart {
  int64_t first = 0;
  int64_t last = 0;  // below `first`: no complete block
  uint64_t size = 0;
  std::string sha256 = {};  // of these bytes, lower-case hex; empty while it grows

  std::string name() const;
};

// By first height; parts never overlap.
using StreamParts = std::map<int64_t, StreamPart>;

// The part that holds a height; null if it was not recorded.
const StreamPart* FindPart(const StreamParts& parts, int64_t height);

// Heights from one to another, both included.
struct StreamRange {
  int64_t first = 0;
  int64_t last = 0;
  friend bool operator==(const StreamRange&, const StreamRange&) = default;
};
// The longest ranges without a gap, ascending. Between them are the gaps.
std::vector<StreamRange> RangesOf(const StreamParts& parts);
// "101 to 350, 360 to 400"
std::string DescribeRanges(const std::vector<StreamRange>& ranges);

// Who recorded what. Empty where it is not known: the plugin protocol tells neither.
struct StreamNames {
  std::string chain_id;
  std::string application_name;
  std::string application_version;
};

struct StreamIndex {
  StreamNames names;
  StreamParts parts;
};

// manifest.draft.json. Parsing refuses what is no such document; parts that cannot be are an error,
// too.
std::string IndexToJson(const StreamIndex& index);
absl::StatusOr<StreamIndex> ParseIndex(std::string_view json, std::string_view source);

// What was found wrong with the end of a part.
struct PartDamage {
  int64_t first = 0;  // the part
  uint64_t file_size = 0;
  absl::Status status;  // kOutOfRange: the last frame is incomplete; kDataLoss: something else
};

struct StreamContents {
  StreamIndex index;
  std::vector<PartDamage> damages;
  // Why the draft manifest could not be used, where it is there; the parts were read instead.
  absl::Status draft = absl::OkStatus();
};

// Lists the parts in `dir`. Those that are as the draft manifest says are believed, the others read
// to their last complete block. Changes nothing, so a recorder may be at work. An error if the
// folder can't be read, or parts overlap or have wrong names.
absl::StatusOr<StreamContents> ReadStream(const std::string& dir);

}  // namespace blockreplay::replay
