#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "perftools/profiles/profile.pb.h"
#include "profiling/labels.h"
#include "profiling/symbolizer.h"

namespace blockreplay::profiling {

// Puts a symbolised profile together: one location per address, one function per name and place,
// identical samples merged, ids dense from 1, strings once.
class ProfileBuilder {
 public:
  // {type, unit}, for example {"cpu", "nanoseconds"}.
  using ValueType = std::pair<std::string_view, std::string_view>;
  static constexpr size_t kMaxValues = 4;

  // `symbolizer` must live as long as the builder.
  ProfileBuilder(Symbolizer* symbolizer, absl::Span<const ValueType> sample_types,
                 std::string_view default_sample_type, ValueType period_type, int64_t period);

  // Leaf first. One value per sample type. Samples may be fractions (they may stand for fractions
  // of an allocation): they are rounded once, after merging, and those that round to zero
  // throughout are left out.
  void AddSample(absl::Span<const uintptr_t> stack, const LabelValues& labels,
                 absl::Span<const double> values);

  void SetTime(int64_t start_nanos, int64_t duration_nanos);
  void SetDropFrames(std::string_view regular_expression);
  void AddComment(std::string_view comment);

  // The finished profile. Leaves the builder empty: call it once.
  perftools::profiles::Profile Build();

 private:
  struct SampleId {
    std::vector<uint64_t> locations;
    LabelValues labels;
    friend bool operator==(const SampleId&, const SampleId&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const SampleId& id) {
      return H::combine(std::move(h), id.locations, id.labels);
    }
  };
  struct FunctionId {
    int64_t system_name;
    int64_t filename;
    int64_t start_line;
    friend bool operator==(const FunctionId&, const FunctionId&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const FunctionId& id) {
      return H::combine(std::move(h), id.system_name, id.filename, id.start_line);
    }
  };

  int64_t String(std::string_view text);
  int64_t LabelString(LabelId id);
  uint64_t Location(uintptr_t address);
  uint64_t FunctionOf(const CodeFrame& frame);
  // The profile's mapping for one of the symbolizer's; mappings that no sample touches stay out,
  // except the first.
  perftools::profiles::Mapping* MappingOf(int index);

  Symbolizer* symbolizer_;
  perftools::profiles::Profile profile_;
  absl::flat_hash_map<std::string, int64_t> strings_;
  absl::flat_hash_map<LabelId, int64_t> label_strings_;
  absl::flat_hash_map<uintptr_t, uint64_t> locations_;
  absl::flat_hash_map<FunctionId, uint64_t> functions_;
  std::vector<uint64_t> mapping_ids_;  // by the symbolizer's index; 0: not in the profile yet
  absl::flat_hash_map<SampleId, std::array<double, kMaxValues>> samples_;
};

}  // namespace blockreplay::profiling
