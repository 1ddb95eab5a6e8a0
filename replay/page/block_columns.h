#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {

// Rows of --csv, for the page's plots.
struct BlockColumns {
  // By name: {"height": [101, 102, …], …}. Columns that are no numbers (hashes) are left out.
  nlohmann::json columns;
  // Rows after the first `max_rows`, which a page would be too big with.
  size_t rows_left_out = 0;
};

inline constexpr size_t kMaxPageRows = 200'000;
// InvalidArgument with the line where the text is something else.
absl::StatusOr<BlockColumns> ReadBlockColumns(std::string_view csv, size_t max_rows = kMaxPageRows);

}  // namespace blockreplay::replay
