#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "blockreplay/v1/recording.pb.h"
#include "storage/multistore/view.h"

namespace blockreplay::replay {

// Adds a write to the block's change set: a delete without a value.
void AddWrite(const std::string& store, std::string_view key, std::optional<std::string_view> value,
              v1::Block* block);

// Adds what `after` changed against `before`, the version below it, to the block's change set:
// stores by name, keys ascending, sets of an unchanged value included (their leaf is a new one).
// Without a version before it (null, or a store that it lacks) everything in it is new. Deletes of
// keys that were absent leave no trace in a tree, so they are not among the writes. Trees that have
// the same root are not opened.
absl::Status AddChanges(storage::MultistoreView* before, storage::MultistoreView* after,
                        v1::Block* block);

}  // namespace blockreplay::replay
