#pragma once

// The simple Merkle tree of tm2 (tm2/pkg/crypto/merkle): what makes one hash of the stores of a
// multistore, of a block's transactions, of the fields of its header.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/commit_tree.h"

namespace blockreplay::storage::bptree {

// Nothing for no leaves.
std::optional<Hash> SimpleHash(const std::vector<std::string>& leaves);

// Of a map from names to values, ascending by name: a leaf has the name and the hash of the value.
std::optional<Hash> SimpleMapHash(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace blockreplay::storage::bptree
