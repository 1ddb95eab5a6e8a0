#pragma once

// The switch manager: tokens of other chains that can be turned into THORChain's own.

#include "keeper/thorchain/common/asset.h"

namespace blockreplay::keeper::thorchain {

// One of the tokens listed; whether switching is open is another question.
bool IsSwitchAsset(const Asset& asset);

}  // namespace blockreplay::keeper::thorchain
