#pragma once

// Hashes of the B+32 tree of tm2 (gnolang/gno, tm2/pkg/bptree): SHA-256 with a domain byte.

#include <cstdint>
#include <string_view>

#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

// Root of a tree without keys: SHA-256 of nothing.
const Hash& EmptyTreeHash();
// A slot, or a subtree of slots, that holds nothing.
const Hash& EmptySlotHash();
// A key in a leaf.
Hash LeafSlotHash(std::string_view key, const Hash& value_hash);
// Two neighbours of which at least one is not empty.
Hash PairHash(const Hash& left, const Hash& right);

}  // namespace blockreplay::storage::bptree
