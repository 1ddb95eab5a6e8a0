#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/network.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {

struct Asset;

enum class SigningAlgo : uint8_t { kSecp256k1, kEd25519 };

// The identifier of a chain. It holds what came in, unchecked: messages and stores can carry any
// text; ToString is upper case, comparison ignores case.
class Chain {
 public:
  Chain() = default;
  explicit Chain(std::string id) : id_(std::move(id)) {}
  explicit Chain(std::string_view id) : id_(id) {}
  explicit Chain(const char* id) : id_(id) {}

  // Upper-cases and checks: 3 to 10 letters. The status message is the node's.
  static absl::StatusOr<Chain> Parse(std::string_view text);

  absl::Status Valid() const;
  bool IsEmpty() const;

  // As received; for encoding.
  const std::string& raw() const { return id_; }
  std::string ToString() const;

  // Equality as the node's Equals. For the exact bytes compare raw().
  friend bool operator==(const Chain& a, const Chain& b);

  bool IsTHORChain() const;
  bool IsEVM() const;
  bool IsUTXO() const;

  SigningAlgo GetSigningAlgo() const;
  // An empty asset for an unknown chain. As in the node, only the exact upper-case identifier is
  // recognised here and by the properties below.
  const Asset& GetGasAsset() const;
  // Name of the gas unit, and how many of them are one whole coin.
  std::pair<std::string_view, Uint> GetGasUnits() const;
  Uint NativeGasToThorchain(const Uint& native) const;
  Uint ThorchainToNativeGas(const Uint& amount) const;
  int64_t GetGasAssetDecimal() const;
  std::string_view AddressPrefix(const Network& network) const;
  Uint DustThreshold() const;
  int64_t P2WPKHOutputValue() const;
  int MaxMemoLength() const;
  double DefaultCoinbase() const;
  int64_t ApproximateBlockMilliseconds() const;

 private:
  std::string id_;
};

namespace chains {
extern const Chain kEmpty, kBSC, kETH, kBTC, kLTC, kBCH, kDOGE, kTHOR, kGAIA, kNOBLE, kAVAX, kBASE,
    kTRON, kXRP, kSOL, kZEC, kPOL, kSUI, kADA;
}  // namespace chains

// In the node's order, which some handlers iterate in.
const std::vector<Chain>& AllChains();
const std::vector<Chain>& EvmChains();
const std::vector<Chain>& UtxoChains();

bool Contains(const std::vector<Chain>& chains, const Chain& chain);
std::vector<Chain> Distinct(const std::vector<Chain>& chains);

}  // namespace blockreplay::keeper::thorchain
