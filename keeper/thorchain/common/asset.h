#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/chain.h"

namespace blockreplay::keeper::thorchain {

// An asset: CHAIN.SYMBOL, or with `/` a synthetic, `~` a trade, `-` a secured asset of it. Fields
// hold what came in, unchecked, as messages and stores can carry any text; ToString is upper case
// and comparison ignores case.
struct Asset {
  Chain chain;
  std::string symbol;
  std::string ticker;
  bool synth = false;
  bool trade = false;
  bool secured = false;

  // The first of `~./-` separates chain and symbol; without one the chain is THOR. The status
  // message is the node's.
  static absl::StatusOr<Asset> Parse(std::string_view text);
  // The same, but the whole text may also be a short code such as `b` for BTC.BTC (exact case).
  static absl::StatusOr<Asset> ParseWithShortCodes(std::string_view text);

  absl::Status Valid() const;

  // The chain that holds it: THOR for synthetic, trade and secured assets.
  const Chain& GetChain() const;
  Asset GetLayer1Asset() const;
  Asset GetSyntheticAsset() const;
  Asset GetTradeAsset() const;
  Asset GetSecuredAsset() const;
  Asset GetDerivedAsset() const;

  bool IsSynthetic() const { return synth; }
  bool IsTrade() const { return trade; }
  bool IsSecured() const { return secured; }
  bool IsVaultAsset() const { return synth; }
  bool IsDerived() const;
  bool IsEmpty() const;
  bool IsGasAsset() const;
  bool IsRune() const;
  bool IsTCY() const;
  // One of the listed THOR tokens. As in the node, exact bytes.
  bool IsWhitelisted() const;
  bool IsNative() const { return GetChain().IsTHORChain(); }

  // The bank denomination; meaningful for native assets only.
  std::string Native() const;
  std::string ToString() const;
  // Empty if there is none.
  std::string_view ShortCode() const;
  // CHAIN-SYMBOL, as used in mimir keys.
  std::string MimirString() const;

  // Equality as the node's Equals: texts ignoring case, and the kind.
  friend bool operator==(const Asset& a, const Asset& b);
};

namespace assets {
extern const Asset kEmpty, kATOM, kBNB, kBTC, kLTC, kBCH, kDOGE, kETH, kBaseETH, kAVAX, kTRX, kXRP,
    kSOL, kZEC, kPOL, kSUI, kADA, kRune, kTCY, kTOR, kThorBTC, kUSDC, kRUJI, kNAMI, kLQDY, kAUTO,
    kXUSK;
}  // namespace assets

// Rules for the parts, with the node's messages.
absl::StatusOr<std::string> ParseSymbol(std::string_view text);
absl::StatusOr<std::string> ParseTicker(std::string_view text);

}  // namespace blockreplay::keeper::thorchain
