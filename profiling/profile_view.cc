#include "profiling/profile_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "re2/re2.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Profile;

constexpr std::string_view kNoLabelText = "(none)";

const std::string& StringAt(const Profile& profile, int64_t index) {
  return profile.string_table(static_cast<int>(index));
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The name that drop_frames is about: without the parameters of C++.
std::string_view WithoutParameters(std::string_view name) {
  constexpr std::string_view kNamespace = "(anonymous namespace)";
  constexpr std::string_view kCall = "operator()";
  size_t from = 0;
  while (true) {
    const size_t open = name.find('(', from);
    if (open == std::string_view::npos || open == 0) return name;
    if (name.substr(open).starts_with(kNamespace)) {
      from = open + kNamespace.size();
    } else if (name.substr(0, open + 2).ends_with(kCall)) {
      from = open + 2;
    } else {
      return name.substr(0, open);
    }
  }
}

// Which functions a profile wants left out. RE2 because the expressions come with the file: its
// matching takes linear time and bounded memory whatever they are.
class FrameFilter {
 public:
  explicit FrameFilter(const Profile& profile)
      : drop_(Compile(StringAt(profile, profile.drop_frames()))),
        keep_(Compile(StringAt(profile, profile.keep_frames()))) {}

  bool Drops(std::string_view function) const {
    if (drop_ == nullptr) return false;
    const std::string_view name = WithoutParameters(function);
    const re2::StringPiece piece(name.data(), name.size());
    return RE2::FullMatch(piece, *drop_) && (keep_ == nullptr || !RE2::FullMatch(piece, *keep_));
  }

 private:
  static std::unique_ptr<RE2> Compile(const std::string& expression) {
    if (expression.empty()) return nullptr;
    RE2::Options options;
    options.set_log_errors(false);
    auto compiled = std::make_unique<RE2>(expression, options);
    // What cannot be understood drops nothing: more is shown, nothing is lost.
    return compiled->ok() ? std::move(compiled) : nullptr;
  }

  std::unique_ptr<RE2> drop_;
  std::unique_ptr<RE2> keep_;
};

// Gives names dense ids.
class NameTable {
 public:
  explicit NameTable(std::vector<std::string>* names) : names_(names) {}

  uint32_t IdOf(const std::string& name) {
    const auto [it, added] = ids_.try_emplace(name, static_cast<uint32_t>(names_->size()));
    if (added) names_->push_back(name);
    return it->second;
  }

 private:
  std::vector<std::string>* names_;
  absl::flat_hash_map<std::string, uint32_t> ids_;
};

ProfileView::Labels LabelsOf(const Profile& profile, const perftools::profiles::Sample& sample) {
  std::map<std::string, std::string> labels;
  for (const auto& label : sample.label()) {
    const std::string& key = StringAt(profile, label.key());
    std::string text =
        label.str() != 0 ? StringAt(profile, label.str()) : absl::StrCat(label.num());
    if (label.str() == 0 && label.num_unit() != 0) {
      const std::string& unit = StringAt(profile, label.num_unit());
      if (unit != key) absl::StrAppend(&text, " ", unit);
    }
    const auto [it, added] = labels.try_emplace(key, text);
    if (!added) absl::StrAppend(&it->second, ",", text);
  }
  return {labels.begin(), labels.end()};
}

std::vector<ProfileRow> Sorted(std::vector<ProfileRow> rows) {
  std::sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    if (a.flat != b.flat) return a.flat > b.flat;
    if (a.cumulative != b.cumulative) return a.cumulative > b.cumulative;
    return a.name < b.name;
  });
  return rows;
}

std::string FoldedName(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return folded;
}

std::string_view LabelText(std::string_view value) { return value.empty() ? kNoLabelText : value; }

}  // namespace

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

absl::StatusOr<ProfileView> ProfileView::Create(const Profile& profile, size_t max_frames) {
  ProfileView view;
  for (const auto& type : profile.sample_type()) {
    view.types_.push_back({StringAt(profile, type.type()), StringAt(profile, type.unit())});
  }
  // Without a default pprof shows the last type.
  view.default_type_ = view.types_.empty() ? 0 : view.types_.size() - 1;
  const std::string& default_type = StringAt(profile, profile.default_sample_type());
  for (size_t i = 0; i < view.types_.size(); ++i) {
    if (!default_type.empty() && view.types_[i].type == default_type) {
      view.default_type_ = i;
      break;
    }
  }

  absl::flat_hash_map<uint64_t, std::string> mapping_names;
  for (const auto& mapping : profile.mapping()) {
    const std::string& file = StringAt(profile, mapping.filename());
    mapping_names[mapping.id()] =
        file.empty() ? "[unknown]" : absl::StrCat("[", BaseName(file), "]");
  }
  NameTable names(&view.functions_);
  absl::flat_hash_map<uint64_t, uint32_t> function_names;
  for (const auto& function : profile.function()) {
    const std::string& name = StringAt(profile, function.name());
    function_names[function.id()] =
        names.IdOf(name.empty() ? StringAt(profile, function.system_name()) : name);
  }
  // Root first, as the stacks.
  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> location_frames;
  for (const auto& location : profile.location()) {
    std::vector<uint32_t>& frames = location_frames[location.id()];
    for (int i = location.line_size() - 1; i >= 0; --i) {
      frames.push_back(function_names[location.line(i).function_id()]);
    }
    if (!frames.empty()) continue;
    const auto mapping = mapping_names.find(location.mapping_id());
    frames.push_back(names.IdOf(mapping == mapping_names.end() ? "[unknown]" : mapping->second));
  }
  const FrameFilter filter(profile);
  std::vector<bool> dropped(view.functions_.size());
  for (size_t i = 0; i < dropped.size(); ++i) dropped[i] = filter.Drops(view.functions_[i]);

  std::map<Labels, uint32_t> label_ids;
  size_t frames_left = max_frames;
  for (const auto& sample : profile.sample()) {
    Sample& added = view.samples_.emplace_back();
    bool inside = false;  // below a function that is not to be dropped
    bool cut = false;
    for (int i = sample.location_id_size() - 1; i >= 0 && !cut; --i) {
      const std::vector<uint32_t>& frames = location_frames[sample.location_id(i)];
      if (frames.size() > frames_left) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the profile's stacks have more than ", max_frames, " frames altogether"));
      }
      frames_left -= frames.size();
      for (const uint32_t frame : frames) {
        cut = inside && dropped[frame];
        if (cut) break;
        inside |= !dropped[frame];
        added.stack.push_back(frame);
      }
    }
    const auto [it, is_new] = label_ids.try_emplace(LabelsOf(profile, sample),
                                                    static_cast<uint32_t>(view.label_sets_.size()));
    if (is_new) view.label_sets_.push_back(it->first);
    added.labels = it->second;
    added.values.assign(sample.value().begin(), sample.value().end());
  }
  return view;
}

absl::StatusOr<size_t> ProfileView::TypeNamed(std::string_view name) const {
  if (types_.empty()) return absl::InvalidArgumentError("the profile has no sample types");
  if (name.empty()) return default_type_;
  for (size_t i = 0; i < types_.size(); ++i) {
    if (types_[i].type == name) return i;
  }
  const std::string known = absl::StrJoin(
      types_, ", ", [](std::string* out, const ValueType& type) { out->append(type.type); });
  return absl::InvalidArgumentError(
      absl::StrCat("no sample type ", std::string(name), ": there are ", known));
}

std::vector<std::string> ProfileView::LabelKeys() const {
  std::set<std::string> keys;
  for (const Labels& labels : label_sets_) {
    for (const auto& [key, value] : labels) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

std::string_view ProfileView::LabelOf(const Sample& sample, std::string_view key) const {
  for (const auto& [name, value] : label_sets_[sample.labels]) {
    if (name == key) return value;
  }
  return {};
}

void ProfileView::Keep(std::string_view key, std::string_view value) {
  std::erase_if(samples_, [&](const Sample& sample) { return LabelOf(sample, key) != value; });
}

void ProfileView::SetLabel(std::string_view key,
                           const std::function<std::string(const Sample&)>& value) {
  std::map<std::pair<uint32_t, std::string>, uint32_t> labelled;  // by the set of before
  for (Sample& sample : samples_) {
    const auto [it, added] = labelled.try_emplace({sample.labels, value(sample)}, 0);
    if (added) {
      Labels labels = label_sets_[sample.labels];
      std::erase_if(labels, [&](const auto& label) { return label.first == key; });
      if (!it->first.second.empty()) labels.emplace_back(key, it->first.second);
      std::sort(labels.begin(), labels.end());
      it->second = static_cast<uint32_t>(label_sets_.size());
      label_sets_.push_back(std::move(labels));
    }
    sample.labels = it->second;
  }
}

std::vector<ProfileRow> SumByFunction(const ProfileView& view, size_t type) {
  std::vector<ProfileRow> rows(view.functions().size());
  std::vector<bool> used(rows.size());
  // The number of the sample that a function was last met in.
  std::vector<size_t> last_sample(rows.size(), 0);
  size_t number = 0;
  for (const ProfileView::Sample& sample : view.samples()) {
    ++number;
    const int64_t value = sample.values[type];
    if (value == 0) continue;
    for (const uint32_t function : sample.stack) {
      if (last_sample[function] == number) continue;
      last_sample[function] = number;
      used[function] = true;
      rows[function].cumulative = SaturatingAdd(rows[function].cumulative, value);
    }
    if (sample.stack.empty()) continue;
    int64_t& flat = rows[sample.stack.back()].flat;
    flat = SaturatingAdd(flat, value);
  }
  std::vector<ProfileRow> result;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!used[i]) continue;
    rows[i].name = view.functions()[i];
    result.push_back(std::move(rows[i]));
  }
  return Sorted(std::move(result));
}

std::vector<ProfileRow> SumByLabels(const ProfileView& view, size_t type,
                                    absl::Span<const std::string> keys) {
  std::map<std::string, int64_t> sums;
  for (const ProfileView::Sample& sample : view.samples()) {
    std::string name;
    for (const std::string& key : keys) {
      if (!name.empty()) name += " / ";
      name += LabelText(view.LabelOf(sample, key));
    }
    int64_t& sum = sums[name];
    sum = SaturatingAdd(sum, sample.values[type]);
  }
  std::vector<ProfileRow> rows;
  for (const auto& [name, sum] : sums) {
    if (sum != 0) rows.push_back({name, sum, sum});
  }
  return Sorted(std::move(rows));
}

int64_t Total(const ProfileView& view, size_t type) {
  int64_t total = 0;
  for (const ProfileView::Sample& sample : view.samples()) {
    total = SaturatingAdd(total, sample.values[type]);
  }
  return total;
}

std::vector<ProfileDiffRow> DiffRows(std::vector<ProfileRow> before,
                                     std::vector<ProfileRow> after) {
  std::map<std::string, ProfileDiffRow> by_name;
  for (ProfileRow& row : before) by_name[row.name].before = std::move(row);
  for (ProfileRow& row : after) by_name[row.name].after = std::move(row);
  std::vector<ProfileDiffRow> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  const auto change = [](int64_t from, int64_t to) {
    return std::abs(static_cast<double>(to) - static_cast<double>(from));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ProfileDiffRow& a, const ProfileDiffRow& b) {
    const double flat_a = change(a.before.flat, a.after.flat);
    const double flat_b = change(b.before.flat, b.after.flat);
    if (flat_a != flat_b) return flat_a > flat_b;
    return change(a.before.cumulative, a.after.cumulative) >
           change(b.before.cumulative, b.after.cumulative);
  });
  return rows;
}

std::string FoldedStacks(const ProfileView& view, size_t type, absl::Span<const std::string> keys) {
  std::vector<std::string> names;
  names.reserve(view.functions().size());
  for (const std::string& name : view.functions()) names.push_back(FoldedName(name));
  std::map<std::string, int64_t> stacks;
  for (const ProfileView::Sample& sample : view.samples()) {
    if (sample.values[type] == 0) continue;
    std::vector<std::string> frames;
    for (const std::string& key : keys) {
      frames.push_back(FoldedName(LabelText(view.LabelOf(sample, key))));
    }
    for (const uint32_t function : sample.stack) frames.push_back(names[function]);
    if (frames.empty()) frames.emplace_back("[unknown]");
    int64_t& sum = stacks[absl::StrJoin(frames, ";")];
    sum = SaturatingAdd(sum, sample.values[type]);
  }
  std::string text;
  for (const auto& [stack, value] : stacks) {
    if (value != 0) absl::StrAppend(&text, stack, " ", value, "\n");
  }
  return text;
}

std::string FormatValue(int64_t value, std::string_view unit) {
  struct Scale {
    double factor;
    const char* suffix;
  };
  static constexpr Scale kTimes[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  static constexpr Scale kBytes[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
  const bool time = unit == "nanoseconds";
  if (value == 0) return "0";
  if (!time && unit != "bytes") {
    return unit == "count" || unit.empty() ? absl::StrCat(value)
                                           : absl::StrCat(value, " ", std::string(unit));
  }
  const double amount = static_cast<double>(value);
  for (const Scale& scale : time ? kTimes : kBytes) {
    if (std::abs(amount) < scale.factor) continue;
    const double scaled = amount / scale.factor;
    const int digits = scale.factor == 1 ? 0 : std::abs(scaled) < 10 ? 2 : 1;
    return absl::StrFormat("%.*f%s", digits, scaled, scale.suffix);
  }
  return absl::StrCat(value);
}

}  // namespace blockreplay::profiling
