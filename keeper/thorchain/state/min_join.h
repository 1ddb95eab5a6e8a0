#pragma once

// minjoinlast/: the lowest version that nodes may join with, and since when.

#include "keeper/thorchain/common/semver.h"
#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

struct MinJoin {
  SemVer version;
  int64_t since = 0;
};
// The record; without one, the version of now and height 0.
MinJoin GetMinJoinLast(const Keeper& k, const Context& ctx);
// The highest version that two thirds of the active validators have reached; 0.0.0 if there is
// none.
SemVer GetMinJoinVersion(const Keeper& k, const Context& ctx);
// Updates the record if that version has changed.
void SetMinJoinLast(const Keeper& k, const Context& ctx);

}  // namespace blockreplay::keeper::thorchain
