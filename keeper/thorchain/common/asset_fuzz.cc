#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/coin.h"
#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/common/tx.h"

namespace blockreplay::keeper::thorchain {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void Run(std::string_view text) {
  const absl::StatusOr<Asset> asset = Asset::ParseWithShortCodes(text);
  if (asset.ok()) {
    const absl::StatusOr<Asset> again = Asset::Parse(asset->ToString());
    Check(again.ok() && *again == *asset, "an asset's text is read again");
    Check(again->ToString() == asset->ToString(), "an asset's text is stable");
    Check(asset->GetTradeAsset().GetLayer1Asset() == asset->GetLayer1Asset(),
          "the trade asset stands for the same asset");
    (void)asset->Valid();
    (void)asset->Native();
    (void)asset->IsDerived();
  }
  const absl::StatusOr<Coin> coin = Coin::Parse(text);
  if (coin.ok()) {
    const absl::StatusOr<Coin> again = Coin::Parse(coin->ToString());
    Check(again.ok() && *again == *coin, "a coin's text is read again");
  }
  const absl::StatusOr<Uint> number = Uint::Parse(text);
  if (number.ok()) {
    Check(Uint::Parse(number->ToString()).value() == *number, "a number's text is read again");
  }
  const absl::StatusOr<LegacyDec> fraction = LegacyDec::Parse(text);
  if (fraction.ok()) {
    Check(LegacyDec::Parse(fraction->ToString()).value() == *fraction,
          "a fraction's text is read again");
    Check(LegacyDec::Unmarshal(fraction->Marshal()).value() == *fraction,
          "a fraction's encoding is read again");
  }
  (void)TxID::Parse(text);
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::keeper::thorchain::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
