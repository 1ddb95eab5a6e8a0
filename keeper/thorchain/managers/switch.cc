#include "keeper/thorchain/managers/switch.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

bool IsSwitchAsset(const Asset& asset) {
  constexpr std::array<std::string_view, 10> kAssets{
      "GAIA.KUJI", "GAIA.RKUJI", "GAIA.FUZN", "GAIA.LVN",  "GAIA.WINK",
      "GAIA.NAMI", "GAIA.AUTO",  "GAIA.LQDY", "GAIA.NSTK", "GAIA.XUSK"};
  return std::find(kAssets.begin(), kAssets.end(), asset.ToString()) != kAssets.end();
}

}  // namespace blockreplay::keeper::thorchain
