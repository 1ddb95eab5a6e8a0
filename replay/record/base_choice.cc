#include "replay/record/base_choice.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

// The snapshots that can be read, by height; of the others, why not.
struct Snapshots {
  std::map<int64_t, std::unique_ptr<SnapshotBase>> usable;
  std::string refused;
};

void Add(const std::string& path, Snapshots* snapshots) {
  absl::StatusOr<std::unique_ptr<SnapshotBase>> snapshot = SnapshotBase::Open(path);
  if (snapshot.ok()) {
    snapshots->usable[(*snapshot)->height()] = *std::move(snapshot);
  } else {
    absl::StrAppend(&snapshots->refused, "; not usable: ", snapshot.status().message());
  }
}

absl::StatusOr<Snapshots> FindSnapshots(const std::string& path) {
  Snapshots snapshots;
  if (path.empty()) return snapshots;
  bool has_heights = false;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    int64_t height = 0;
    // In the node's layout `<height>/<format>/0`, …: a chunk is a number as well, but a file, and a
    // format is a folder of files.
    if (!it->is_directory() || !absl::SimpleAtoi(it->path().filename().string(), &height)) continue;
    std::error_code ignored;
    if (!fs::is_directory(it->path() / "3", ignored)) continue;
    has_heights = true;
    Add(it->path().string(), &snapshots);
  }
  if (error) return ErrnoStatus(error.value(), "list", path);
  if (!has_heights) Add(path, &snapshots);
  return snapshots;
}

std::string DescribeHeights(const Snapshots& snapshots) {
  if (snapshots.usable.empty()) return "no state";
  return absl::StrCat("the states of ", absl::StrJoin(snapshots.usable, ", ",
                                                      [](std::string* out, const auto& entry) {
                                                        absl::StrAppend(out, entry.first);
                                                      }));
}

// What is left of the recorded ranges within the limits.
std::vector<StreamRange> Limit(const std::vector<StreamRange>& ranges, const BaseRequest& request) {
  std::vector<StreamRange> limited;
  for (StreamRange range : ranges) {
    range.first = std::max(range.first, request.from.value_or(range.first));
    range.last = std::min(range.last, request.to.value_or(range.last));
    if (range.first <= range.last) limited.push_back(range);
  }
  return limited;
}

}  // namespace

absl::StatusOr<BaseChoice> ChooseBase(const std::vector<StreamRange>& ranges,
                                      const BaseRequest& request) {
  if (ranges.empty()) return absl::NotFoundError("no block is recorded");
  const std::vector<StreamRange> limited = Limit(ranges, request);
  if (limited.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nothing of what was asked for is recorded, only blocks ", DescribeRanges(ranges)));
  }
  absl::StatusOr<Snapshots> snapshots = FindSnapshots(request.snapshots);
  if (!snapshots.ok()) return snapshots.status();

  std::optional<StreamRange> best;
  const auto consider = [&](const StreamRange& range, int64_t first) {
    if (first < range.first || first > range.last || (request.from && first != *request.from))
      return;
    if (!best || range.last - first > best->last - best->first)
      best = StreamRange{first, range.last};
  };
  for (const StreamRange& range : limited) {
    if (request.genesis_height) consider(range, *request.genesis_height);
    for (const auto& [height, snapshot] : snapshots->usable) consider(range, height + 1);
  }
  if (!best) {
    return absl::NotFoundError(absl::StrCat(
        "blocks ", DescribeRanges(limited), " are recorded, and there is ",
        DescribeHeights(*snapshots), snapshots->refused, ": needed is a snapshot of a height from ",
        limited.front().first - 1,
        " on whose next block is recorded. Set snapshot-interval in the "
        "node's app.toml and let it run, or stop it and use its `snapshots export`, and name the "
        "folder with --base; for a "
        "chain recorded from its first block on, name its genesis document with --genesis"));
  }
  BaseChoice choice;
  choice.range = *best;
  if (const auto it = snapshots->usable.find(best->first - 1); it != snapshots->usable.end()) {
    choice.base = std::move(it->second);
  }
  return choice;
}

}  // namespace blockreplay::replay
