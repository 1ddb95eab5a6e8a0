#include "profiling/profile_merge.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiling/profile_view.h"

namespace blockreplay::profiling {
namespace {

using perftools::profiles::Location;
using perftools::profiles::Mapping;
using perftools::profiles::Profile;

const std::string& StringAt(const Profile& profile, int64_t index) {
  return profile.string_table(static_cast<int>(index));
}

// "alloc_space/bytes inuse_space/bytes, period space/bytes"
std::string DescribeTypes(const Profile& profile) {
  std::string text;
  for (const auto& type : profile.sample_type()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", StringAt(profile, type.type()), "/",
                    StringAt(profile, type.unit()));
  }
  absl::StrAppend(&text, ", period ", StringAt(profile, profile.period_type().type()), "/",
                  StringAt(profile, profile.period_type().unit()));
  return text;
}

class Merger {
 public:
  Merger() { String(""); }

  void Add(const Profile& source) {
    source_ = &source;
    mappings_.clear();
    functions_.clear();
    locations_.clear();
    if (!started_) AddHeader();
    // pprof takes the first mapping for the main binary.
    if (source.mapping_size() > 0) MapMapping(source.mapping(0));
    for (const auto& mapping : source.mapping()) source_mappings_[mapping.id()] = &mapping;
    for (const auto& function : source.function())
      functions_[function.id()] = MapFunction(function);
    for (const auto& location : source.location())
      locations_[location.id()] = MapLocation(location);
    for (const auto& sample : source.sample()) AddSample(sample);
    AddTimes();
    source_mappings_.clear();
  }

  Profile Finish() {
    for (const auto& [key, values] : samples_) {
      if (std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; })) {
        continue;
      }
      auto* sample = merged_.add_sample();
      for (const uint64_t location : key.first) sample->add_location_id(location);
      for (const int64_t value : values) sample->add_value(value);
      for (const auto& [label_key, str, num, unit] : key.second) {
        auto* label = sample->add_label();
        label->set_key(label_key);
        label->set_str(str);
        label->set_num(num);
        label->set_num_unit(unit);
      }
    }
    return std::move(merged_);
  }

 private:
  using LabelKey = std::tuple<int64_t, int64_t, int64_t, int64_t>;  // as the fields of a label
  using SampleKey = std::pair<std::vector<uint64_t>, std::vector<LabelKey>>;
  // A mapping by what it is of, not where it was loaded.
  // Size, whether it says nothing of addresses, offset, file, build id.
  using MappingKey = std::tuple<uint64_t, bool, uint64_t, int64_t, int64_t>;
  using FunctionKey = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  struct LocationKey {
    uint64_t mapping;
    uint64_t address;
    bool is_folded;
    std::vector<std::tuple<uint64_t, int64_t, int64_t>> lines;
    auto operator<=>(const LocationKey&) const = default;
  };

  int64_t String(const std::string& text) {
    const auto [it, added] =
        strings_.try_emplace(text, static_cast<int64_t>(merged_.string_table_size()));
    if (added) merged_.add_string_table(text);
    return it->second;
  }
  int64_t MapString(int64_t index) { return String(StringAt(*source_, index)); }

  void AddHeader() {
    started_ = true;
    for (const auto& type : source_->sample_type()) {
      auto* added = merged_.add_sample_type();
      added->set_type(MapString(type.type()));
      added->set_unit(MapString(type.unit()));
    }
    if (source_->has_period_type()) {
      merged_.mutable_period_type()->set_type(MapString(source_->period_type().type()));
      merged_.mutable_period_type()->set_unit(MapString(source_->period_type().unit()));
    }
    merged_.set_drop_frames(MapString(source_->drop_frames()));
    merged_.set_keep_frames(MapString(source_->keep_frames()));
  }

  void AddTimes() {
    if (merged_.time_nanos() == 0 ||
        (source_->time_nanos() != 0 && source_->time_nanos() < merged_.time_nanos())) {
      merged_.set_time_nanos(source_->time_nanos());
    }
    merged_.set_duration_nanos(SaturatingAdd(merged_.duration_nanos(), source_->duration_nanos()));
    merged_.set_period(std::max(merged_.period(), source_->period()));
    if (merged_.default_sample_type() == 0) {
      merged_.set_default_sample_type(MapString(source_->default_sample_type()));
    }
    if (merged_.doc_url() == 0) merged_.set_doc_url(MapString(source_->doc_url()));
    for (const int64_t comment : source_->comment()) {
      const int64_t mapped = MapString(comment);
      if (std::find(merged_.comment().begin(), merged_.comment().end(), mapped) ==
          merged_.comment().end()) {
        merged_.add_comment(mapped);
      }
    }
  }

  uint64_t MapMapping(const Mapping& mapping) {
    const auto [known, is_new] = mappings_.try_emplace(mapping.id(), 0);
    if (!is_new) return known->second;
    const bool no_addresses = mapping.memory_limit() == 0;
    const uint64_t size = no_addresses ? 0 : mapping.memory_limit() - mapping.memory_start();
    const int64_t build_id = MapString(mapping.build_id());
    // With a build id the file's name says nothing more.
    const int64_t filename = MapString(mapping.filename());
    const auto [it, added] =
        merged_mappings_.try_emplace(MappingKey{size, no_addresses, mapping.file_offset(),
                                                build_id != 0 ? 0 : filename, build_id},
                                     static_cast<uint64_t>(merged_.mapping_size()) + 1);
    known->second = it->second;
    if (!added) return it->second;
    auto* copy = merged_.add_mapping();
    *copy = mapping;
    copy->set_id(it->second);
    copy->set_filename(filename);
    copy->set_build_id(build_id);
    return it->second;
  }

  uint64_t MapFunction(const perftools::profiles::Function& function) {
    const FunctionKey key{MapString(function.name()), MapString(function.system_name()),
                          MapString(function.filename()), function.start_line()};
    const auto [it, added] =
        merged_functions_.try_emplace(key, static_cast<uint64_t>(merged_.function_size()) + 1);
    if (added) {
      auto* copy = merged_.add_function();
      copy->set_id(it->second);
      copy->set_name(std::get<0>(key));
      copy->set_system_name(std::get<1>(key));
      copy->set_filename(std::get<2>(key));
      copy->set_start_line(function.start_line());
    }
    return it->second;
  }

  uint64_t MapLocation(const Location& location) {
    LocationKey key{0, location.address(), location.is_folded(), {}};
    if (location.mapping_id() != 0) {
      const Mapping& mapping = *source_mappings_.at(location.mapping_id());
      key.mapping = MapMapping(mapping);
      // Moved to where the mapping of the first profile is; CheckProfile has seen to it that the
      // address is inside of its mapping, or that the mapping says nothing of addresses.
      if (mapping.memory_limit() != 0 && location.address() != 0) {
        key.address = location.address() - mapping.memory_start() +
                      merged_.mapping(static_cast<int>(key.mapping) - 1).memory_start();
      }
    }
    for (const auto& line : location.line()) {
      key.lines.emplace_back(functions_.at(line.function_id()), line.line(), line.column());
    }
    const auto [it, added] = merged_locations_.try_emplace(
        std::move(key), static_cast<uint64_t>(merged_.location_size()) + 1);
    if (added) {
      auto* copy = merged_.add_location();
      copy->set_id(it->second);
      copy->set_mapping_id(it->first.mapping);
      copy->set_address(it->first.address);
      copy->set_is_folded(it->first.is_folded);
      for (const auto& [function, line, column] : it->first.lines) {
        auto* added_line = copy->add_line();
        added_line->set_function_id(function);
        added_line->set_line(line);
        added_line->set_column(column);
      }
    }
    return it->second;
  }

  void AddSample(const perftools::profiles::Sample& sample) {
    SampleKey key;
    for (const uint64_t location : sample.location_id()) {
      key.first.push_back(locations_.at(location));
    }
    for (const auto& label : sample.label()) {
      key.second.emplace_back(MapString(label.key()), MapString(label.str()), label.num(),
                              MapString(label.num_unit()));
    }
    std::sort(key.second.begin(), key.second.end());
    std::vector<int64_t>& sums = samples_[std::move(key)];
    sums.resize(static_cast<size_t>(sample.value_size()));
    for (int i = 0; i < sample.value_size(); ++i) {
      int64_t& sum = sums[static_cast<size_t>(i)];
      sum = SaturatingAdd(sum, sample.value(i));
    }
  }

  Profile merged_;
  bool started_ = false;
  absl::flat_hash_map<std::string, int64_t> strings_;
  std::map<MappingKey, uint64_t> merged_mappings_;
  std::map<FunctionKey, uint64_t> merged_functions_;
  std::map<LocationKey, uint64_t> merged_locations_;
  // Sorted, so that the same profiles give the same file.
  std::map<SampleKey, std::vector<int64_t>> samples_;

  // Of the profile at hand: its ids to the merged ones.
  const Profile* source_ = nullptr;
  absl::flat_hash_map<uint64_t, const Mapping*> source_mappings_;
  absl::flat_hash_map<uint64_t, uint64_t> mappings_;
  absl::flat_hash_map<uint64_t, uint64_t> functions_;
  absl::flat_hash_map<uint64_t, uint64_t> locations_;
};

}  // namespace

absl::StatusOr<Profile> MergeProfiles(absl::Span<const Profile> profiles) {
  if (profiles.empty()) return absl::InvalidArgumentError("there is no profile to merge");
  const std::string types = DescribeTypes(profiles.front());
  for (size_t i = 1; i < profiles.size(); ++i) {
    const std::string other = DescribeTypes(profiles[i]);
    if (other != types) {
      return absl::InvalidArgumentError(
          absl::StrCat("profiles of different things do not add up: the first has ", types,
                       "; number ", i + 1, " has ", other));
    }
  }
  Merger merger;
  for (const Profile& profile : profiles) merger.Add(profile);
  return merger.Finish();
}

}  // namespace blockreplay::profiling
