#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/import/base_state.h"
#include "replay/record/stream_index.h"

namespace blockreplay::replay {

// What a recording can be made of: blocks, and the state before the first of them.
struct BaseChoice {
  std::unique_ptr<BaseState> base;  // null: genesis
  StreamRange range;
};

struct BaseRequest {
  // A snapshot, or a folder of them as nodes keep it (data/snapshots). Empty: none.
  std::string snapshots = {};
  // First height of a chain whose genesis document is at hand.
  std::optional<int64_t> genesis_height = std::nullopt;
  // Limits of the recording. Without `from` it is as long as can be.
  std::optional<int64_t> from = std::nullopt;
  std::optional<int64_t> to = std::nullopt;
};

// Finds among recorded `ranges` the longest one that begins right after a state that is at hand, or
// with the chain. kNotFound says which blocks and which states there are, and how to get what is
// missing. kInvalidArgument: the limits are outside of what is recorded.
absl::StatusOr<BaseChoice> ChooseBase(const std::vector<StreamRange>& ranges,
                                      const BaseRequest& request);

}  // namespace blockreplay::replay
