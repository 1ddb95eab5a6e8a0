#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "replay/import/base_state.h"
#include "replay/import/block_feed.h"

namespace blockreplay::replay {

// What an importer makes of what the user names: the blocks, and the state they start from where it
// has that, too (null: genesis, or the user's --base).
struct ImportSource {
  std::unique_ptr<BaseState> base;
  std::unique_ptr<BlockFeed> feed;
};

// The heights asked for; what is left out is the first or the last that the source can give.
struct ImportRange {
  std::optional<int64_t> from;
  std::optional<int64_t> to;
};

}  // namespace blockreplay::replay
