#include "replay/inspect/database_diff.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

using storage::CommitInfo;
using storage::MultistoreView;

// The first height of both whose commit infos differ; nothing if there is none.
absl::StatusOr<std::optional<int64_t>> FirstDifferentHeight(const InspectedDatabase& left,
                                                            const InspectedDatabase& right,
                                                            int64_t* equal_heights) {
  std::vector<int64_t> common;
  std::set_intersection(left.versions().begin(), left.versions().end(), right.versions().begin(),
                        right.versions().end(), std::back_inserter(common));
  for (const int64_t height : common) {
    absl::StatusOr<CommitInfo> left_info = left.ReadCommitInfo(height);
    if (!left_info.ok()) return left_info.status();
    absl::StatusOr<CommitInfo> right_info = right.ReadCommitInfo(height);
    if (!right_info.ok()) return right_info.status();
    if (storage::AppHash(*left_info) != storage::AppHash(*right_info)) {
      return std::optional<int64_t>(height);
    }
    ++*equal_heights;
  }
  return std::optional<int64_t>();
}

std::optional<std::string> Copy(const std::optional<std::string_view>& value) {
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

absl::Status FindFirstKey(MultistoreView* left, MultistoreView* right, DatabaseDiff* diff) {
  for (const storage::StoreDifference& store : diff->stores) {
    if (store.same()) continue;
    absl::Status status =
        storage::DiffStore(left, right, store.name, [&](const storage::KeyDifference& difference) {
          diff->first_key = FirstKeyDifference{store.name, std::string(difference.key),
                                               Copy(difference.left), Copy(difference.right)};
          return false;
        });
    if (!status.ok()) return status;
    if (diff->first_key) return absl::OkStatus();
  }
  diff->key_note = "all keys and values are equal: only the histories differ";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DatabaseDiff> DiffDatabases(const InspectedDatabase& left,
                                           std::optional<int64_t> left_height,
                                           const InspectedDatabase& right,
                                           std::optional<int64_t> right_height) {
  DatabaseDiff diff;
  if (!left_height && !right_height) {
    absl::StatusOr<std::optional<int64_t>> first =
        FirstDifferentHeight(left, right, &diff.equal_heights);
    if (!first.ok()) return first.status();
    if (*first) left_height = right_height = *first;
  }
  diff.left_height = left_height.value_or(left.last_version());
  diff.right_height = right_height.value_or(right.last_version());

  absl::StatusOr<CommitInfo> left_info = left.ReadCommitInfo(diff.left_height);
  if (!left_info.ok()) return left_info.status();
  absl::StatusOr<CommitInfo> right_info = right.ReadCommitInfo(diff.right_height);
  if (!right_info.ok()) return right_info.status();
  diff.left_app_hash = storage::AppHash(*left_info);
  diff.right_app_hash = storage::AppHash(*right_info);
  diff.stores = storage::CompareStores(*left_info, *right_info);
  diff.same = diff.left_height == diff.right_height && diff.left_app_hash == diff.right_app_hash;
  if (diff.left_app_hash == diff.right_app_hash) return diff;

  absl::StatusOr<std::unique_ptr<MultistoreView>> left_view = left.View(diff.left_height);
  absl::StatusOr<std::unique_ptr<MultistoreView>> right_view = right.View(diff.right_height);
  absl::Status status = !left_view.ok() ? left_view.status() : right_view.status();
  if (status.ok()) status = FindFirstKey(left_view->get(), right_view->get(), &diff);
  if (absl::IsNotFound(status)) {
    diff.key_note =
        absl::StrCat("the trees of that height are not there any more: ", status.message());
    return diff;
  }
  if (!status.ok()) return status;
  return diff;
}

}  // namespace blockreplay::replay
