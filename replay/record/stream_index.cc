#include "replay/record/stream_index.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "blockreplay/v1/recording.pb.h"
#include "nlohmann/json.hpp"
#include "replay/record/part_file.h"
#include "replay/recording/file_io.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A part takes some 150 bytes there.
constexpr size_t kMaxDraftSize = size_t{64} << 20;
constexpr int kMaxDepth = 8;

std::string StringAt(const json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

template <typename Integer>
std::optional<Integer> IntegerAt(const json& object, const char* name) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number_unsigned()) return std::nullopt;
  const auto value = it->get<uint64_t>();
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<Integer>(value);
}

std::optional<StreamPart> PartFromJson(const json& object) {
  if (!object.is_object()) return std::nullopt;
  const std::optional<int64_t> first = IntegerAt<int64_t>(object, "first_height");
  const std::optional<int64_t> last = IntegerAt<int64_t>(object, "last_height");
  const std::optional<uint64_t> size = IntegerAt<uint64_t>(object, "size");
  if (!first || !last || !size || *first <= 0 || *last < *first) return std::nullopt;
  return StreamPart{*first, *last, *size, StringAt(object, "sha256")};
}

absl::Status Overlap(const StreamPart& part, const StreamPart& next) {
  return absl::FailedPreconditionError(absl::StrCat(part.name(), " has the blocks up to ",
                                                    part.last, ", but ", next.name(),
                                                    " is there as well: move one of them away"));
}

absl::Status CheckDisjoint(const StreamParts& parts) {
  const StreamPart* previous = nullptr;
  for (const auto& [first, part] : parts) {
    if (previous != nullptr && previous->last >= first) return Overlap(*previous, part);
    if (part.last >= part.first) previous = &part;
  }
  return absl::OkStatus();
}

// Reads a part to its last complete block.
absl::StatusOr<StreamPart> ReadPart(const std::string& path, int64_t first, absl::Status* damage) {
  absl::StatusOr<std::unique_ptr<PartReader>> reader = PartReader::Open(path);
  if (!reader.ok()) return reader.status();
  StreamPart part{first, first - 1, 0, ""};
  v1::Block block;
  for (;;) {
    absl::StatusOr<bool> more = (*reader)->Next(&block);
    if (!more.ok()) {
      if (!absl::IsOutOfRange(more.status()) && !absl::IsDataLoss(more.status()))
        return more.status();
      *damage = more.status();
      return part;
    }
    if (!*more) return part;
    if (block.height() != part.last + 1) {
      if (part.last < part.first) {
        return absl::FailedPreconditionError(
            absl::StrCat(path, " begins with block ", block.height(),
                         ", which its name does not say: move it away"));
      }
      *damage =
          absl::DataLossError(absl::StrCat(path, ": at offset ", (*reader)->begin(), ": block ",
                                           block.height(), " follows block ", part.last));
      return part;
    }
    part.last = block.height();
    part.size = (*reader)->end();
  }
}

}  // namespace

std::string StreamPart::name() const { return absl::StrCat("blocks-", first, ".zst"); }

const StreamPart* FindPart(const StreamParts& parts, int64_t height) {
  auto it = parts.upper_bound(height);
  if (it == parts.begin()) return nullptr;
  --it;
  return height <= it->second.last ? &it->second : nullptr;
}

std::vector<StreamRange> RangesOf(const StreamParts& parts) {
  std::vector<StreamRange> ranges;
  for (const auto& [first, part] : parts) {
    if (part.last < part.first) continue;
    if (!ranges.empty() && ranges.back().last + 1 == first) {
      ranges.back().last = part.last;
    } else {
      ranges.push_back({first, part.last});
    }
  }
  return ranges;
}

std::string DescribeRanges(const std::vector<StreamRange>& ranges) {
  return absl::StrJoin(ranges, ", ", [](std::string* out, const StreamRange& range) {
    absl::StrAppend(out, range.first, " to ", range.last);
  });
}

std::string IndexToJson(const StreamIndex& index) {
  json ranges = json::array();
  for (const StreamRange& range : RangesOf(index.parts)) {
    ranges.push_back({{"first", range.first}, {"last", range.last}});
  }
  json parts = json::array();
  for (const auto& [first, part] : index.parts) {
    parts.push_back({{"name", part.name()},
                     {"first_height", part.first},
                     {"last_height", part.last},
                     {"size", part.size},
                     {"sha256", part.sha256}});
  }
  const json document = {
      {"format", std::string(kRecordingFormat)},
      {"chain_id", index.names.chain_id},
      {"application",
       {{"name", index.names.application_name}, {"version", index.names.application_version}}},
      {"origin", {{"source", "state streaming plugin"}, {"ranges", std::move(ranges)}}},
      {"parts", std::move(parts)}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

absl::StatusOr<StreamIndex> ParseIndex(std::string_view text, std::string_view source) {
  const auto bad = [&](const char* problem) {
    return absl::InvalidArgumentError(absl::StrCat(std::string(source), ": ", problem));
  };
  // Deeper documents are discarded as they come: taking them down again recurses.
  const json document = json::parse(
      text, [](int depth, json::parse_event_t, json&) { return depth < kMaxDepth; },
      /*allow_exceptions=*/false);
  if (!document.is_object()) return bad("not a JSON object");
  if (StringAt(document, "format") != kRecordingFormat)
    return bad("\"format\" is not \"blockreplay.v1\"");
  StreamIndex index;
  index.names.chain_id = StringAt(document, "chain_id");
  if (const auto it = document.find("application"); it != document.end() && it->is_object()) {
    index.names.application_name = StringAt(*it, "name");
    index.names.application_version = StringAt(*it, "version");
  }
  const auto parts = document.find("parts");
  if (parts == document.end() || !parts->is_array()) return bad("\"parts\" is not an array");
  for (const json& entry : *parts) {
    const std::optional<StreamPart> part = PartFromJson(entry);
    if (!part) return bad("a part must have first_height, last_height and size");
    if (!index.parts.emplace(part->first, *part).second) return bad("a part is there twice");
  }
  if (absl::Status status = CheckDisjoint(index.parts); !status.ok()) return bad("parts overlap");
  return index;
}

absl::StatusOr<StreamContents> ReadStream(const std::string& dir) {
  StreamContents contents;
  StreamIndex draft;
  const std::string draft_path = absl::StrCat(dir, "/", kDraftManifestName);
  if (absl::StatusOr<std::string> text = ReadFile(draft_path, kMaxDraftSize); text.ok()) {
    absl::StatusOr<StreamIndex> parsed = ParseIndex(*text, draft_path);
    contents.draft = parsed.status();
    if (parsed.ok()) draft = *std::move(parsed);
  } else if (!absl::IsNotFound(text.status())) {
    contents.draft = text.status();
  }
  contents.index.names = draft.names;

  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    const std::optional<int64_t> first = PartFirstHeight("blocks", name);
    if (!first || name != StreamPart{.first = *first}.name()) continue;
    const uint64_t size = it->file_size(error);
    if (error) break;
    if (const auto known = draft.parts.find(*first);
        known != draft.parts.end() && known->second.size == size) {
      contents.index.parts.insert(*known);
      continue;
    }
    absl::Status damage;
    absl::StatusOr<StreamPart> part = ReadPart(it->path().string(), *first, &damage);
    if (!part.ok()) return part.status();
    if (!damage.ok()) contents.damages.push_back({*first, size, damage});
    contents.index.parts.emplace(*first, *std::move(part));
  }
  if (error) return ErrnoStatus(error.value(), "list", dir);
  if (absl::Status status = CheckDisjoint(contents.index.parts); !status.ok()) return status;
  return contents;
}

}  // namespace blockreplay::replay
