#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/chain.h"
#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

// The key that a bech32 public key text stands for.
struct CryptoKey {
  enum class Type : uint8_t { kSecp256k1, kEd25519 };

  Type type = Type::kSecp256k1;
  // 33 bytes compressed, or 32.
  std::string bytes;

  // The 20 bytes that accounts and consensus addresses are made of: RIPEMD-160(SHA-256(key)) for
  // secp256k1, the first 20 bytes of SHA-256(key) for ed25519.
  std::string AddressBytes() const;
};

// A public key as bech32 text with the network's account or consensus prefix. It holds what came
// in, unchecked; Parse checks.
class PubKey {
 public:
  PubKey() = default;
  explicit PubKey(std::string text) : text_(std::move(text)) {}
  explicit PubKey(std::string_view text) : text_(text) {}
  explicit PubKey(const char* text) : text_(text) {}

  // The empty text gives the empty key. Keeps the text as it is. The status message is the node's.
  static absl::StatusOr<PubKey> Parse(std::string_view text, const Network& network);
  static PubKey FromKey(const CryptoKey& key, const Network& network);

  // Decodes bech32 and the amino prefix; account keys, or those of consensus addresses.
  absl::StatusOr<CryptoKey> Decode(const Network& network) const;
  static absl::StatusOr<CryptoKey> DecodeConsensus(std::string_view text, const Network& network);

  // The address of this key on a chain; the empty address for an empty key and for chains that are
  // neither listed nor EVM. Results are remembered per thread.
  absl::StatusOr<Address> GetAddress(const Chain& chain, const Network& network) const;
  absl::StatusOr<AccAddress> GetThorAddress(const Network& network) const;

  bool IsEmpty() const { return text_.empty(); }
  const std::string& ToString() const { return text_; }

  friend bool operator==(const PubKey& a, const PubKey& b) = default;
  friend auto operator<=>(const PubKey& a, const PubKey& b) = default;

 private:
  std::string text_;
};

// The consensus key text of a key (cosmos `…cpub`).
std::string ConsensusPubKeyText(const CryptoKey& key, const Network& network);

bool Contains(const std::vector<PubKey>& keys, const PubKey& key);
// Equal after sorting both.
bool SameKeys(std::vector<PubKey> a, std::vector<PubKey> b);
std::string ToString(const std::vector<PubKey>& keys);

struct PubKeySet {
  PubKey secp256k1;
  PubKey ed25519;

  // True if either is empty.
  bool IsEmpty() const { return secp256k1.IsEmpty() || ed25519.IsEmpty(); }
  bool Contains(const PubKey& key) const { return ed25519 == key || secp256k1 == key; }
  absl::StatusOr<Address> GetAddress(const Chain& chain, const Network& network) const;
  // The node's %s of it, which spans lines.
  std::string ToString() const;

  friend bool operator==(const PubKeySet& a, const PubKeySet& b) = default;
};

}  // namespace blockreplay::keeper::thorchain
