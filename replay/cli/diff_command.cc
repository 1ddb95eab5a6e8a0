#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/escaping.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/inspect/database.h"
#include "replay/inspect/database_diff.h"
#include "replay/inspect/report_diff.h"
#include "replay/verify/printable.h"
#include "storage/multistore/commit_info.h"

namespace blockreplay::replay {
namespace {

constexpr int kExitDifferent = kExitAppHashMismatch;

std::string HexOf(const std::optional<storage::Hash>& hash) {
  return hash ? storage::ToHex(*hash) : "(no such store)";
}

std::string ValueText(const std::optional<std::string>& value) {
  return value ? Printable(*value) : "(absent)";
}

void PrintStores(const DatabaseDiff& diff) {
  size_t width = 5;
  for (const storage::StoreDifference& store : diff.stores)
    width = std::max(width, store.name.size());
  const int pad = static_cast<int>(width);
  std::printf("%-*s  %-64s  %s\n", pad, "store", "left root", "right root");
  for (const storage::StoreDifference& store : diff.stores) {
    std::printf("%-*s  %-64s  %s\n", pad, store.name.c_str(), HexOf(store.left).c_str(),
                store.same() ? "same" : HexOf(store.right).c_str());
  }
}

int DiffTwoDatabases(const PathAtHeight& left_path, const PathAtHeight& right_path) {
  absl::StatusOr<InspectedDatabase> left = InspectedDatabase::Open(left_path.path);
  if (!left.ok()) return ReportError(left.status());
  absl::StatusOr<InspectedDatabase> right = InspectedDatabase::Open(right_path.path);
  if (!right.ok()) return ReportError(right.status());
  absl::StatusOr<DatabaseDiff> diff =
      DiffDatabases(*left, left_path.height, *right, right_path.height);
  if (!diff.ok()) return ReportError(diff.status());

  std::printf("left   %s at height %lld, app hash %s\n", left_path.path.c_str(),
              static_cast<long long>(diff->left_height),
              storage::ToHex(diff->left_app_hash).c_str());
  std::printf("right  %s at height %lld, app hash %s\n", right_path.path.c_str(),
              static_cast<long long>(diff->right_height),
              storage::ToHex(diff->right_app_hash).c_str());
  if (diff->equal_heights > 0) {
    std::printf("%lld heights that both have are equal before that\n",
                static_cast<long long>(diff->equal_heights));
  }
  std::printf("\n");
  PrintStores(*diff);
  if (diff->same) {
    std::printf("\nsame\n");
    return kExitOk;
  }
  if (diff->left_app_hash == diff->right_app_hash) {
    std::printf("\ndifferent heights with the same state\n");
  } else if (diff->first_key) {
    std::printf("\nfirst difference: store %s, key %s\n  left   %s\n  right  %s\n",
                diff->first_key->store.c_str(), Printable(diff->first_key->key).c_str(),
                ValueText(diff->first_key->left).c_str(),
                ValueText(diff->first_key->right).c_str());
  } else {
    std::printf("\ndifferent; %s\n", diff->key_note.c_str());
  }
  return kExitDifferent;
}

int DiffTwoReports(const std::string& left, const std::string& right) {
  absl::StatusOr<ReportDiff> diff = DiffReports(left, right);
  if (!diff.ok()) return ReportError(diff.status());
  std::printf("%-26s %20s %20s %9s\n", "measured", "left", "right", "change");
  for (const ReportField& field : diff->measurements) {
    std::printf("%-26s %20s %20s", field.name.c_str(), field.left.dump().c_str(),
                field.right.dump().c_str());
    if (field.left.is_number() && field.right.is_number() && field.left.get<double>() != 0) {
      std::printf(" %+8.2f%%", (field.right.get<double>() / field.left.get<double>() - 1) * 100);
    }
    std::printf("\n");
  }
  if (diff->results.empty()) {
    std::printf("\nsame results\n");
    return kExitOk;
  }
  std::printf("\ndifferent results:\n");
  for (const ReportField& field : diff->results) {
    std::printf("  %s\n    left   %s\n    right  %s\n", field.name.c_str(),
                field.left.dump().c_str(), field.right.dump().c_str());
  }
  return kExitDifferent;
}

int Diff(const std::string& left, const std::string& right) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(left, ignored) &&
      std::filesystem::is_regular_file(right, ignored)) {
    return DiffTwoReports(left, right);
  }
  absl::StatusOr<PathAtHeight> left_path = ParsePathAtHeight(left);
  if (!left_path.ok()) return ReportError(left_path.status());
  absl::StatusOr<PathAtHeight> right_path = ParsePathAtHeight(right);
  if (!right_path.ok()) return ReportError(right_path.status());
  return DiffTwoDatabases(*left_path, *right_path);
}

}  // namespace

void AddDiffCommand(CLI::App* app, Command* selected) {
  CLI::App* command = app->add_subcommand(
      "diff",
      "Compares two databases, two versions of one, or two reports; 0 the same, 2 different");
  auto left = std::make_shared<std::string>();
  auto right = std::make_shared<std::string>();
  command->add_option("LEFT", *left, "PATH or PATH@HEIGHT of a database, or a report")->required();
  command->add_option("RIGHT", *right, "What to compare it with")->required();
  command->footer(
      "Databases: a kept one (--db), a node's application.db (RocksDB or goleveldb), or a node's "
      "home.\n"
      "Without heights the first height that differs is looked for among those that both have.");
  command->callback([=] { *selected = [=] { return Diff(*left, *right); }; });
}

}  // namespace blockreplay::replay
