#include "profiling/profile_builder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace blockreplay::profiling {

using perftools::profiles::Profile;

ProfileBuilder::ProfileBuilder(Symbolizer* symbolizer, absl::Span<const ValueType> sample_types,
                               std::string_view default_sample_type, ValueType period_type,
                               int64_t period)
    : symbolizer_(symbolizer) {
  if (sample_types.size() > kMaxValues) {
    std::fprintf(stderr, "profiling: %zu sample types, at most %zu are provided for\n",
                 sample_types.size(), kMaxValues);
    std::abort();
  }
  String("");
  for (const auto& [type, unit] : sample_types) {
    auto* sample_type = profile_.add_sample_type();
    sample_type->set_type(String(type));
    sample_type->set_unit(String(unit));
  }
  profile_.set_default_sample_type(String(default_sample_type));
  profile_.mutable_period_type()->set_type(String(period_type.first));
  profile_.mutable_period_type()->set_unit(String(period_type.second));
  profile_.set_period(period);
  mapping_ids_.resize(symbolizer_->mappings().size());
  // pprof takes the first mapping for the main binary.
  if (!mapping_ids_.empty()) MappingOf(0);
}

int64_t ProfileBuilder::String(std::string_view text) {
  const auto [it, inserted] =
      strings_.try_emplace(std::string(text), static_cast<int64_t>(profile_.string_table_size()));
  if (inserted) profile_.add_string_table(std::string(text));
  return it->second;
}

int64_t ProfileBuilder::LabelString(LabelId id) {
  const auto [it, inserted] = label_strings_.try_emplace(id, 0);
  if (inserted) it->second = String(LabelValue(id));
  return it->second;
}

perftools::profiles::Mapping* ProfileBuilder::MappingOf(int index) {
  uint64_t& id = mapping_ids_[static_cast<size_t>(index)];
  if (id == 0) {
    id = static_cast<uint64_t>(profile_.mapping_size()) + 1;
    const CodeMapping& mapping = symbolizer_->mappings()[static_cast<size_t>(index)];
    auto* added = profile_.add_mapping();
    added->set_id(id);
    added->set_memory_start(mapping.start);
    added->set_memory_limit(mapping.limit);
    added->set_file_offset(mapping.file_offset);
    added->set_filename(String(mapping.filename));
    added->set_build_id(String(mapping.build_id));
  }
  return profile_.mutable_mapping(static_cast<int>(id) - 1);
}

uint64_t ProfileBuilder::FunctionOf(const CodeFrame& frame) {
  const FunctionId id{.system_name = String(frame.system_name),
                      .filename = String(frame.filename),
                      .start_line = frame.start_line};
  const auto [it, inserted] =
      functions_.try_emplace(id, static_cast<uint64_t>(profile_.function_size()) + 1);
  if (inserted) {
    auto* function = profile_.add_function();
    function->set_id(it->second);
    function->set_name(String(frame.name));
    function->set_system_name(id.system_name);
    function->set_filename(id.filename);
    function->set_start_line(id.start_line);
  }
  return it->second;
}

uint64_t ProfileBuilder::Location(uintptr_t address) {
  const auto [it, inserted] =
      locations_.try_emplace(address, static_cast<uint64_t>(profile_.location_size()) + 1);
  if (!inserted) return it->second;
  const uint64_t id = it->second;
  auto* location = profile_.add_location();
  location->set_id(id);
  location->set_address(address);
  const std::vector<CodeFrame> frames = symbolizer_->Lookup(address);
  if (const int index = symbolizer_->MappingOf(address); index >= 0) {
    auto* mapping = MappingOf(index);
    location->set_mapping_id(mapping->id());
    // The flags tell pprof that it need not look for more. One location with lines suffices: the
    // others of this mapping had their chance with the same information.
    if (!frames.empty()) mapping->set_has_functions(true);
    if (!frames.empty() && !frames.front().filename.empty()) {
      mapping->set_has_filenames(true);
      mapping->set_has_line_numbers(true);
      mapping->set_has_inline_frames(true);
    }
  }
  for (const CodeFrame& frame : frames) {
    auto* line = location->add_line();
    line->set_function_id(FunctionOf(frame));
    line->set_line(frame.line);
  }
  return id;
}

void ProfileBuilder::AddSample(absl::Span<const uintptr_t> stack, const LabelValues& labels,
                               absl::Span<const double> values) {
  if (values.size() != static_cast<size_t>(profile_.sample_type_size())) {
    std::fprintf(stderr, "profiling: sample with %zu values for %d sample types\n", values.size(),
                 profile_.sample_type_size());
    std::abort();
  }
  SampleId id;
  id.labels = labels;
  id.locations.reserve(stack.size());
  for (const uintptr_t address : stack) id.locations.push_back(Location(address));
  auto& sums = samples_.try_emplace(std::move(id)).first->second;
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

void ProfileBuilder::SetTime(int64_t start_nanos, int64_t duration_nanos) {
  profile_.set_time_nanos(start_nanos);
  profile_.set_duration_nanos(duration_nanos);
}

void ProfileBuilder::SetDropFrames(std::string_view regular_expression) {
  profile_.set_drop_frames(String(regular_expression));
}

void ProfileBuilder::AddComment(std::string_view comment) { profile_.add_comment(String(comment)); }

Profile ProfileBuilder::Build() {
  const auto values = static_cast<size_t>(profile_.sample_type_size());
  // In the order of locations, so that the same samples give the same file whatever the hash seed.
  std::vector<const decltype(samples_)::value_type*> sorted;
  sorted.reserve(samples_.size());
  for (const auto& entry : samples_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    if (a->first.locations != b->first.locations) return a->first.locations < b->first.locations;
    if (a->first.labels.height != b->first.labels.height) {
      return a->first.labels.height < b->first.labels.height;
    }
    return std::lexicographical_compare(
        std::begin(a->first.labels.ids), std::end(a->first.labels.ids),
        std::begin(b->first.labels.ids), std::end(b->first.labels.ids));
  });
  for (const auto* entry : sorted) {
    const auto& [id, sums] = *entry;
    std::array<int64_t, kMaxValues> rounded{};
    bool any = false;
    for (size_t i = 0; i < values; ++i) {
      rounded[i] = std::llround(sums[i]);
      any |= rounded[i] != 0;
    }
    if (!any) continue;
    auto* sample = profile_.add_sample();
    for (const uint64_t location : id.locations) sample->add_location_id(location);
    for (size_t i = 0; i < values; ++i) sample->add_value(rounded[i]);
    for (int i = 0; i < kLabelKeyCount; ++i) {
      if (id.labels.ids[i] == kNoLabel) continue;
      auto* label = sample->add_label();
      label->set_key(String(LabelKeyName(static_cast<LabelKey>(i))));
      label->set_str(LabelString(id.labels.ids[i]));
    }
    if (id.labels.height != 0) {
      auto* label = sample->add_label();
      label->set_key(String("height"));
      label->set_num(id.labels.height);
      label->set_num_unit(String("height"));
    }
  }
  samples_.clear();
  return std::move(profile_);
}

}  // namespace blockreplay::profiling
