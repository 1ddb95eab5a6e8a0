#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// a + b, or the nearest value that there is: sums over profiles that came from outside.
int64_t SaturatingAdd(int64_t a, int64_t b);

// A profile as its readers think of it: stacks of names, and labels as text. For profiles of any
// program, not only of this one.
class ProfileView {
 public:
  struct ValueType {
    std::string type;
    std::string unit;
    friend bool operator==(const ValueType&, const ValueType&) = default;
  };
  // Sorted by key; a key that a sample has several values of has them joined by commas.
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    std::vector<uint32_t> stack;  // indexes into functions(), root first; inlined calls are in it
    uint32_t labels = 0;          // index into label_sets()
    std::vector<int64_t> values;  // one per types()
  };

  // `profile` must be one that CheckProfile accepts. Functions that the profile says are to be
  // dropped (drop_frames, keep_frames) are left out with what they called, as pprof does.
  // ResourceExhausted: the stacks have more than `max_frames` frames altogether, which a small file
  // can claim.
  static constexpr size_t kMaxFrames = size_t{1} << 26;
  static absl::StatusOr<ProfileView> Create(const perftools::profiles::Profile& profile,
                                            size_t max_frames = kMaxFrames);

  // Distinct. "[library.so]" stands for code of it that the profile has no name for.
  const std::vector<std::string>& functions() const { return functions_; }
  const std::vector<Labels>& label_sets() const { return label_sets_; }
  const std::vector<ValueType>& types() const { return types_; }
  const std::vector<Sample>& samples() const { return samples_; }

  // The index of a sample type; "" is the profile's default, as pprof picks it. InvalidArgument
  // lists those that there are.
  absl::StatusOr<size_t> TypeNamed(std::string_view name) const;

  // Every label key of any sample, sorted.
  std::vector<std::string> LabelKeys() const;
  // The label's text, "" for a sample without it.
  std::string_view LabelOf(const Sample& sample, std::string_view key) const;

  // Leaves only samples with this label value ("" for those without the label).
  void Keep(std::string_view key, std::string_view value);

  // Gives each sample the label that `value` says, in place of what it has by that key; "" is none.
  void SetLabel(std::string_view key, const std::function<std::string(const Sample&)>& value);

 private:
  ProfileView() = default;

  std::vector<std::string> functions_;
  std::vector<Labels> label_sets_;
  std::vector<ValueType> types_;
  size_t default_type_ = 0;
  std::vector<Sample> samples_;
};

// What belongs to one function or label value.
struct ProfileRow {
  std::string name;
  int64_t flat = 0;        // in itself
  int64_t cumulative = 0;  // with what it called; of labels the same as flat

  friend bool operator==(const ProfileRow&, const ProfileRow&) = default;
};

// By function, largest flat value first. A function that is on a stack twice counts once.
std::vector<ProfileRow> SumByFunction(const ProfileView& view, size_t type);
// By the values of one label or, joined by " / ", of several; samples that lack one count as
// "(none)". Largest first.
std::vector<ProfileRow> SumByLabels(const ProfileView& view, size_t type,
                                    absl::Span<const std::string> keys);
int64_t Total(const ProfileView& view, size_t type);

struct ProfileDiffRow {
  std::string name;
  ProfileRow before;
  ProfileRow after;
};
// Rows of both, by name; largest change of the flat value first, then of the cumulative one.
std::vector<ProfileDiffRow> DiffRows(std::vector<ProfileRow> before, std::vector<ProfileRow> after);

// One line per distinct stack, "root;…;leaf value", sorted, as flamegraph.pl, speedscope, inferno
// and others read it. With label keys their values are the first frames. Semicolons in names become
// colons, line breaks spaces.
std::string FoldedStacks(const ProfileView& view, size_t type, absl::Span<const std::string> keys);

// "1.23s", "45.6MB", "789": a value in a unit that suits its size. Units other than nanoseconds,
// bytes and counts stay what they are.
std::string FormatValue(int64_t value, std::string_view unit);

}  // namespace blockreplay::profiling
