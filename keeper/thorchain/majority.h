#pragma once

// How many of `total` nodes have to agree. Never more signers than nodes, never none.

#include <cstddef>

namespace blockreplay::keeper::thorchain {

constexpr bool ReachesShare(size_t signers, size_t total, size_t numerator, size_t denominator) {
  return signers > 0 && signers <= total && signers * denominator >= total * numerator;
}
// At least two thirds.
constexpr bool HasSuperMajority(size_t signers, size_t total) {
  return ReachesShare(signers, total, 2, 3);
}
// At least a half.
constexpr bool HasSimpleMajority(size_t signers, size_t total) {
  return ReachesShare(signers, total, 1, 2);
}
// At least a third.
constexpr bool HasMinority(size_t signers, size_t total) {
  return ReachesShare(signers, total, 1, 3);
}

}  // namespace blockreplay::keeper::thorchain
