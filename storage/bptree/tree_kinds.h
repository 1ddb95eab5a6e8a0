#pragma once

#include "storage/multistore/tree_kind.h"

namespace blockreplay::storage::bptree {

// What gno.land's stores are: a B+32 tree with its fast index, and keys without a tree. Both have
// their records below `s/_/`, so a multistore can have one of each.
const TreeKind* TreeStoreKind();
const TreeKind* RawStoreKind();

}  // namespace blockreplay::storage::bptree
