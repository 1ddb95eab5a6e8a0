#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// The rows of --csv as columns of numbers by name, for the page's plots: {"height": [101, 102, …],
// …}. Columns that are no numbers (hashes) are left out, rows after `max_rows` too. InvalidArgument
// with the line where the text is something else.
inline constexpr size_t kMaxPageRows = 200'000;
absl::StatusOr<nlohmann::json> BlockColumns(std::string_view csv, size_t max_rows = kMaxPageRows);

}  // namespace blockreplay::replay
