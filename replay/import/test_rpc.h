#pragma once

#include <string>

namespace blockreplay::replay {

// For tests: the answer in `path` (to /block) for a block of another time, honest by itself: with
// the hash that such a header has.
void ForgeBlockTime(const std::string& path, int64_t height, const std::string& time);

}  // namespace blockreplay::replay
