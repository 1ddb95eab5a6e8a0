#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {

struct BankCoin {
  std::string denom;
  Uint amount;
};

// cosmos-sdk v0.53 ParseCoinsNormalized: "<amount><denom>,…", amounts with up to 18 decimal places
// that are cut off; zero ones are dropped and the rest is sorted by denomination. The status
// message is that library's.
absl::StatusOr<std::vector<BankCoin>> ParseBankCoins(std::string_view text);

}  // namespace blockreplay::keeper::thorchain
