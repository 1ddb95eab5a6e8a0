#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "profiling/profile_file.h"
#include "profiling/profile_merge.h"
#include "profiling/profile_view.h"
#include "replay/cli/commands.h"
#include "replay/cli/exit_status.h"
#include "replay/page/node_phases.h"

namespace blockreplay::replay {
namespace {

using profiling::ProfileRow;
using profiling::ProfileView;

constexpr const char* kFunction = "function";

// What is asked of a profile.
struct ProfileQuestion {
  std::string by = kFunction;  // or label keys, separated by commas
  std::string sample_type;
  std::vector<std::string> where;  // LABEL=VALUE
  int64_t limit = 30;
  bool cumulative = false;
};

std::vector<std::string> KeysOf(const std::string& list) {
  return absl::StrSplit(list, ',', absl::SkipEmpty());
}

struct Selection {
  ProfileView view;
  size_t type = 0;

  const std::string& unit() const { return view.types()[type].unit; }
  std::string TypeText() const {
    return absl::StrCat(view.types()[type].type, "/", view.types()[type].unit);
  }
};

absl::StatusOr<Selection> Select(const std::string& path, const ProfileQuestion& question) {
  const auto located = [&](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  };
  absl::StatusOr<perftools::profiles::Profile> profile = profiling::ReadProfile(path);
  if (!profile.ok()) return profile.status();
  absl::StatusOr<ProfileView> view = ProfileView::Create(*profile);
  if (!view.ok()) return located(view.status());
  absl::StatusOr<size_t> type = view->TypeNamed(question.sample_type);
  if (!type.ok()) return located(type.status());
  // Profiles of nodes have no labels of phases: there the stacks tell.
  LabelNodePhases(&*view);
  const std::vector<std::string> labels = view->LabelKeys();
  const auto check_label = [&](const std::string& key) {
    if (std::find(labels.begin(), labels.end(), key) != labels.end()) return absl::OkStatus();
    return located(absl::InvalidArgumentError(
        absl::StrCat("no sample has a label ", key,
                     labels.empty() ? std::string(": there are none")
                                    : absl::StrCat(": there are ", absl::StrJoin(labels, ", ")))));
  };
  if (question.by != kFunction) {
    for (const std::string& key : KeysOf(question.by)) {
      if (absl::Status status = check_label(key); !status.ok()) return status;
    }
  }
  for (const std::string& condition : question.where) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(condition, absl::MaxSplits('=', 1));
    if (absl::Status status = check_label(parts.first); !status.ok()) return status;
    view->Keep(parts.first, parts.second);
  }
  return Selection{*std::move(view), *type};
}

std::vector<ProfileRow> RowsOf(const Selection& selection, const std::string& by) {
  return by == kFunction ? SumByFunction(selection.view, selection.type)
                         : SumByLabels(selection.view, selection.type, KeysOf(by));
}

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void PrintRest(size_t rows, size_t shown) {
  if (shown < rows) std::printf("… and %zu more (--limit)\n", rows - shown);
}

size_t RowsToShow(size_t rows, int64_t limit) {
  return limit == 0 ? rows : std::min(rows, static_cast<size_t>(limit));
}

int Top(const std::string& path, const ProfileQuestion& question) {
  absl::StatusOr<Selection> selection = Select(path, question);
  if (!selection.ok()) return ReportError(selection.status());
  const int64_t total = Total(selection->view, selection->type);
  std::printf("%s, total %s\n", selection->TypeText().c_str(),
              profiling::FormatValue(total, selection->unit()).c_str());
  std::vector<ProfileRow> rows = RowsOf(*selection, question.by);
  if (question.cumulative) {
    std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
      return a.cumulative > b.cumulative;
    });
  }
  const bool functions = question.by == kFunction;
  std::printf("%10s %7s", functions ? "flat" : "value", "share");
  if (functions) std::printf(" %10s %7s", "cum", "share");
  std::printf("  %s\n", question.by.c_str());
  const size_t shown = RowsToShow(rows.size(), question.limit);
  for (size_t i = 0; i < shown; ++i) {
    const ProfileRow& row = rows[i];
    std::printf("%10s %6.2f%%", profiling::FormatValue(row.flat, selection->unit()).c_str(),
                Percent(row.flat, total));
    if (functions) {
      std::printf(" %10s %6.2f%%",
                  profiling::FormatValue(row.cumulative, selection->unit()).c_str(),
                  Percent(row.cumulative, total));
    }
    std::printf("  %s\n", row.name.c_str());
  }
  PrintRest(rows.size(), shown);
  return kExitOk;
}

int Fold(const std::string& path, const std::string& output, const ProfileQuestion& question) {
  absl::StatusOr<Selection> selection = Select(path, question);
  if (!selection.ok()) return ReportError(selection.status());
  const std::vector<std::string> keys =
      question.by == kFunction ? std::vector<std::string>() : KeysOf(question.by);
  const std::string folded = FoldedStacks(selection->view, selection->type, keys);
  if (output.empty()) {
    std::fputs(folded.c_str(), stdout);
    return std::fflush(stdout) == 0 ? kExitOk
                                    : ReportError(absl::UnavailableError("cannot write to stdout"));
  }
  if (absl::Status status = profiling::WriteFileAtomically(output, folded); !status.ok()) {
    return ReportError(status);
  }
  return kExitOk;
}

std::string Change(int64_t before, int64_t after, const std::string& unit) {
  const int64_t change = profiling::SaturatingAdd(after, -before);
  return absl::StrCat(change > 0 ? "+" : "", profiling::FormatValue(change, unit));
}

std::string ChangePercent(int64_t before, int64_t after) {
  if (before == 0) return after == 0 ? "" : "new";
  return absl::StrFormat("%+.1f%%",
                         100 * (static_cast<double>(after) / static_cast<double>(before) - 1));
}

void PrintChange(int64_t before, int64_t after, const std::string& unit) {
  std::printf(" %10s %10s %10s %9s", profiling::FormatValue(before, unit).c_str(),
              profiling::FormatValue(after, unit).c_str(), Change(before, after, unit).c_str(),
              ChangePercent(before, after).c_str());
}

int Diff(const std::string& before_path, const std::string& after_path,
         const ProfileQuestion& question) {
  absl::StatusOr<Selection> before = Select(before_path, question);
  if (!before.ok()) return ReportError(before.status());
  absl::StatusOr<Selection> after = Select(after_path, question);
  if (!after.ok()) return ReportError(after.status());
  if (before->view.types()[before->type] != after->view.types()[after->type]) {
    return ReportError(absl::InvalidArgumentError(
        absl::StrCat(before_path, " shows ", before->TypeText(), ", ", after_path, " ",
                     after->TypeText(), ": give --sample-type")));
  }
  const std::string& unit = before->unit();
  std::printf("%s\n%10s %10s %10s %9s", before->TypeText().c_str(), "before", "after", "change",
              "");
  const bool functions = question.by == kFunction;
  if (functions) std::printf(" %10s %10s %10s %9s", "cum before", "cum after", "change", "");
  std::printf("  %s\n", question.by.c_str());
  const auto rows = DiffRows(RowsOf(*before, question.by), RowsOf(*after, question.by));
  const size_t shown = RowsToShow(rows.size(), question.limit);
  const auto print = [&](const profiling::ProfileDiffRow& row) {
    PrintChange(row.before.flat, row.after.flat, unit);
    if (functions) PrintChange(row.before.cumulative, row.after.cumulative, unit);
    std::printf("  %s\n", row.name.c_str());
  };
  const int64_t total_before = Total(before->view, before->type);
  const int64_t total_after = Total(after->view, after->type);
  print({"(total)", {"", total_before, total_before}, {"", total_after, total_after}});
  for (size_t i = 0; i < shown; ++i) print(rows[i]);
  PrintRest(rows.size(), shown);
  return kExitOk;
}

int Merge(const std::vector<std::string>& inputs, const std::string& output) {
  std::vector<perftools::profiles::Profile> profiles;
  for (const std::string& path : inputs) {
    absl::StatusOr<perftools::profiles::Profile> profile = profiling::ReadProfile(path);
    if (!profile.ok()) return ReportError(profile.status());
    profiles.push_back(*std::move(profile));
  }
  absl::StatusOr<perftools::profiles::Profile> merged = profiling::MergeProfiles(profiles);
  if (!merged.ok()) {
    return ReportError(
        absl::Status(merged.status().code(),
                     absl::StrCat(absl::StrJoin(inputs, " "), ": ", merged.status().message())));
  }
  if (absl::Status status = profiling::WriteProfile(*merged, output); !status.ok()) {
    return ReportError(status);
  }
  std::printf("%s: %zu profiles, %d samples\n", output.c_str(), inputs.size(),
              merged->sample_size());
  return kExitOk;
}

void AddQuestion(CLI::App* command, ProfileQuestion* question, const std::string& by_text) {
  command->add_option("--by", question->by, by_text)
      ->type_name("function|LABEL[,LABEL...]")
      ->capture_default_str();
  command
      ->add_option("--sample-type", question->sample_type,
                   "What to sum: cpu, samples, alloc_space, … (default: the profile's own choice)")
      ->type_name("NAME");
  command
      ->add_option("--where", question->where,
                   "Only samples with this label; without VALUE, those that lack it")
      ->allow_extra_args(false)
      ->type_name("LABEL=[VALUE]");
}

void AddLimit(CLI::App* command, ProfileQuestion* question) {
  command->add_option("--limit", question->limit, "Rows to print, 0 for all")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40).description(""))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void AddProfileCommand(CLI::App* app, Command* selected) {
  CLI::App* profile = app->add_subcommand(
      "profile", "Tables, flame graph stacks, differences and sums of pprof profiles");
  profile->require_subcommand(1);
  profile->footer(
      "Takes any pprof profile, gzipped or not, a Go program's too. Profiles of Cosmos SDK and tm2 "
      "nodes get the label phase by the functions on their stacks.");
  auto question = std::make_shared<ProfileQuestion>();
  auto path = std::make_shared<std::string>();
  auto second = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto inputs = std::make_shared<std::vector<std::string>>();

  CLI::App* top = profile->add_subcommand("top", "Where the most of it is");
  top->add_option("FILE", *path, "Profile")->required();
  AddQuestion(top, question.get(), "Sum by function, or by the values of labels");
  top->add_flag("--cum", question->cumulative, "Sort by what functions take with their callees");
  AddLimit(top, question.get());
  top->callback([=] { *selected = [=] { return Top(*path, *question); }; });

  CLI::App* fold =
      profile->add_subcommand("fold", "Folded stacks, for tools that draw flame graphs");
  fold->add_option("FILE", *path, "Profile")->required();
  AddQuestion(fold, question.get(), "Put the values of labels at the root");
  fold->add_option("-o,--output", *output, "Where to write (default: stdout)")->type_name("FILE");
  fold->callback([=] { *selected = [=] { return Fold(*path, *output, *question); }; });

  CLI::App* diff = profile->add_subcommand("diff", "What changed from one profile to another");
  diff->add_option("BEFORE", *path, "Profile")->required();
  diff->add_option("AFTER", *second, "Profile")->required();
  AddQuestion(diff, question.get(), "Compare by function, or by the values of labels");
  AddLimit(diff, question.get());
  diff->callback([=] { *selected = [=] { return Diff(*path, *second, *question); }; });

  CLI::App* merge = profile->add_subcommand("merge", "One profile with the samples of all");
  merge->add_option("FILE", *inputs, "Profiles of the same sample types")->required();
  merge->add_option("-o,--output", *output, "Where to write")->type_name("FILE")->required();
  merge->callback([=] { *selected = [=] { return Merge(*inputs, *output); }; });
}

}  // namespace blockreplay::replay
