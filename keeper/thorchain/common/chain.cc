#include "keeper/thorchain/common/chain.h"

#include <algorithm>

#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {

namespace chains {
const Chain kEmpty("");
const Chain kBSC("BSC");
const Chain kETH("ETH");
const Chain kBTC("BTC");
const Chain kLTC("LTC");
const Chain kBCH("BCH");
const Chain kDOGE("DOGE");
const Chain kTHOR("THOR");
const Chain kGAIA("GAIA");
const Chain kNOBLE("NOBLE");
const Chain kAVAX("AVAX");
const Chain kBASE("BASE");
const Chain kTRON("TRON");
const Chain kXRP("XRP");
const Chain kSOL("SOL");
const Chain kZEC("ZEC");
const Chain kPOL("POL");
const Chain kSUI("SUI");
const Chain kADA("ADA");
}  // namespace chains

namespace {

// What is fixed per chain, at THORNode 3.17.0. Amounts in 1e-8.
struct Properties {
  std::string_view id;
  const Asset* gas_asset;
  std::string_view gas_unit;
  uint64_t gas_units_per_one;
  int64_t gas_asset_decimals;
  uint64_t dust_threshold;
  int64_t block_milliseconds;
  int64_t witness_output_value;  // 0: memos can't continue in outputs
  double coinbase;
  std::string_view prefix_mainnet;
  std::string_view prefix_mocknet;
  bool evm;
  bool utxo;
};

const Properties kUnknown{"", &assets::kEmpty, "", 1, 8, 0, 0, 0, 0, "", "", false, false};

const std::vector<Properties>& Table() {
  static const std::vector<Properties> kTable{
      {"THOR", &assets::kRune, "", 1, 8, 0, 6'000, 0, 0, "", "", false, false},
      {"BTC", &assets::kBTC, "satsperbyte", 100'000'000, 8, 1'000, 600'000, 294, 3.125, "bc",
       "bcrt", false, true},
      {"ETH", &assets::kETH, "gwei", 1'000'000'000, 8, 1'000, 12'000, 0, 0, "0x", "0x", true,
       false},
      {"BSC", &assets::kBNB, "gwei", 1'000'000'000, 8, 10'000, 450, 0, 0, "0x", "0x", true, false},
      {"AVAX", &assets::kAVAX, "nAVAX", 1'000'000'000, 8, 100'000, 1'000, 0, 0, "0x", "0x", true,
       false},
      {"BASE", &assets::kBaseETH, "mwei", 1'000'000'000'000, 8, 1'000, 2'000, 0, 0, "0x", "0x",
       true, false},
      {"POL", &assets::kPOL, "gwei", 1'000'000'000, 8, 100'000, 2'000, 0, 0, "0x", "0x", true,
       false},
      {"LTC", &assets::kLTC, "satsperbyte", 100'000'000, 8, 100'000, 150'000, 2'940, 6.25, "ltc",
       "rltc", false, true},
      {"BCH", &assets::kBCH, "satsperbyte", 100'000'000, 8, 10'000, 600'000, 546, 3.125, "", "",
       false, true},
      {"DOGE", &assets::kDOGE, "satsperbyte", 100'000'000, 8, 100'000'000, 60'000, 18'200'000,
       10'000, "bc", "bcrt", false, true},
      {"ZEC", &assets::kZEC, "satsperbyte", 100'000'000, 8, 15'000, 75'000, 2'730, 1.5625, "t1",
       "tm", false, true},
      {"GAIA", &assets::kATOM, "uatom", 1'000'000, 6, 1'000'000, 6'000, 0, 0, "cosmos", "cosmos",
       false, false},
      {"NOBLE", &assets::kUSDC, "uusdc", 1'000'000, 6, 1'000'000, 1'500, 0, 0, "noble", "noble",
       false, false},
      {"XRP", &assets::kXRP, "drop", 1'000'000, 6, 100'000'000, 4'000, 0, 0, "", "", false, false},
      {"TRON", &assets::kTRX, "sun", 1'000'000, 6, 10'000'000, 3'000, 0, 0, "", "", false, false},
      {"SOL", &assets::kSOL, "lamport", 1'000'000'000, 9, 100'000, 400, 0, 0, "", "", false, false},
      {"SUI", &assets::kSUI, "mist", 1'000'000'000, 9, 1'000'000, 250, 0, 0, "", "", false, false},
      {"ADA", &assets::kADA, "lovelace", 1'000'000, 6, 10'000'000, 20'000, 0, 0, "addr1",
       "addr_test1", false, false},
  };
  return kTable;
}

const Properties& Find(std::string_view id) {
  for (const Properties& properties : Table()) {
    if (properties.id == id) return properties;
  }
  return kUnknown;
}

bool IsOneOf(const std::vector<Chain>& chains, const Chain& chain) {
  return std::find(chains.begin(), chains.end(), chain) != chains.end();
}

}  // namespace

absl::StatusOr<Chain> Chain::Parse(std::string_view text) {
  Chain chain(thorchain::ToUpper(text));
  if (absl::Status status = chain.Valid(); !status.ok()) return status;
  return chain;
}

absl::Status Chain::Valid() const {
  if (id_.size() < 3) return Error("chain id len is less than 3");
  if (id_.size() > 10) return Error("chain id len is more than 10");
  for (const char c : id_) {
    if (c < 'A' || c > 'Z') {
      return Error("chain id can consist only of uppercase letters");
    }
  }
  return absl::OkStatus();
}

bool Chain::IsEmpty() const { return IsBlank(id_); }

std::string Chain::ToString() const { return thorchain::ToUpper(id_); }

bool operator==(const Chain& a, const Chain& b) {
  return a.id_ == b.id_ || EqualFold(a.id_, b.id_);
}

bool Chain::IsTHORChain() const { return *this == chains::kTHOR; }
bool Chain::IsEVM() const { return IsOneOf(EvmChains(), *this); }
bool Chain::IsUTXO() const { return IsOneOf(UtxoChains(), *this); }

SigningAlgo Chain::GetSigningAlgo() const {
  return id_ == "SOL" || id_ == "SUI" || id_ == "ADA" ? SigningAlgo::kEd25519
                                                      : SigningAlgo::kSecp256k1;
}

const Asset& Chain::GetGasAsset() const { return *Find(id_).gas_asset; }

std::pair<std::string_view, Uint> Chain::GetGasUnits() const {
  const Properties& properties = Find(id_);
  return {properties.gas_unit, Uint(properties.gas_units_per_one)};
}

Uint Chain::NativeGasToThorchain(const Uint& native) const {
  return native * Uint(kOne) / GetGasUnits().second;
}

Uint Chain::ThorchainToNativeGas(const Uint& amount) const {
  return amount * GetGasUnits().second / Uint(kOne);
}

int64_t Chain::GetGasAssetDecimal() const { return Find(id_).gas_asset_decimals; }

std::string_view Chain::AddressPrefix(const Network& network) const {
  // EVM chains are recognised in any case, the others by the exact identifier.
  if (IsEVM()) return "0x";
  if (id_ == "THOR") return network.account_prefix;
  const Properties& properties = Find(id_);
  return network.IsMockNet() ? properties.prefix_mocknet : properties.prefix_mainnet;
}

Uint Chain::DustThreshold() const { return Uint(Find(id_).dust_threshold); }

int64_t Chain::P2WPKHOutputValue() const { return Find(id_).witness_output_value; }

int Chain::MaxMemoLength() const {
  constexpr int kMaxOpReturnDataSize = 80;
  constexpr int kMaxMemoSize = 250;
  return Find(id_).utxo ? kMaxOpReturnDataSize : kMaxMemoSize;
}

double Chain::DefaultCoinbase() const { return Find(id_).coinbase; }

int64_t Chain::ApproximateBlockMilliseconds() const { return Find(id_).block_milliseconds; }

const std::vector<Chain>& AllChains() {
  static const std::vector<Chain> kChains{
      Chain("BSC"),  Chain("ETH"),  Chain("BTC"),   Chain("LTC"),  Chain("BCH"),  Chain("DOGE"),
      Chain("THOR"), Chain("GAIA"), Chain("NOBLE"), Chain("AVAX"), Chain("BASE"), Chain("TRON"),
      Chain("XRP"),  Chain("SOL"),  Chain("ZEC"),   Chain("POL")};
  return kChains;
}

const std::vector<Chain>& EvmChains() {
  static const std::vector<Chain> kChains{Chain("ETH"), Chain("AVAX"), Chain("BSC"), Chain("BASE"),
                                          Chain("POL")};
  return kChains;
}

const std::vector<Chain>& UtxoChains() {
  static const std::vector<Chain> kChains{Chain("BTC"), Chain("LTC"), Chain("BCH"), Chain("DOGE"),
                                          Chain("ZEC")};
  return kChains;
}

bool Contains(const std::vector<Chain>& chains, const Chain& chain) {
  return IsOneOf(chains, chain);
}

std::vector<Chain> Distinct(const std::vector<Chain>& chains) {
  std::vector<Chain> result;
  for (const Chain& chain : chains) {
    if (!IsOneOf(result, chain)) result.push_back(chain);
  }
  return result;
}

}  // namespace blockreplay::keeper::thorchain
