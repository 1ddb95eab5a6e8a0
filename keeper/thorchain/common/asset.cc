#include "keeper/thorchain/common/asset.h"

#include <algorithm>
#include <array>
#include <utility>

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"

namespace blockreplay::keeper::thorchain {
namespace {

Asset Make(std::string_view chain, std::string_view symbol) {
  return {.chain = Chain(chain), .symbol = std::string(symbol), .ticker = std::string(symbol)};
}

}  // namespace

namespace assets {
const Asset kEmpty{};
const Asset kATOM = Make("GAIA", "ATOM");
const Asset kBNB = Make("BSC", "BNB");
const Asset kBTC = Make("BTC", "BTC");
const Asset kLTC = Make("LTC", "LTC");
const Asset kBCH = Make("BCH", "BCH");
const Asset kDOGE = Make("DOGE", "DOGE");
const Asset kETH = Make("ETH", "ETH");
const Asset kBaseETH = Make("BASE", "ETH");
const Asset kAVAX = Make("AVAX", "AVAX");
const Asset kTRX = Make("TRON", "TRX");
const Asset kXRP = Make("XRP", "XRP");
const Asset kSOL = Make("SOL", "SOL");
const Asset kZEC = Make("ZEC", "ZEC");
const Asset kPOL = Make("POL", "POL");
const Asset kSUI = Make("SUI", "SUI");
const Asset kADA = Make("ADA", "ADA");
const Asset kRune = Make("THOR", "RUNE");
const Asset kTCY = Make("THOR", "TCY");
const Asset kTOR = Make("THOR", "TOR");
const Asset kThorBTC = Make("THOR", "BTC");
const Asset kUSDC = Make("NOBLE", "USDC");
const Asset kRUJI = Make("THOR", "RUJI");
const Asset kNAMI = Make("THOR", "NAMI");
const Asset kLQDY = Make("THOR", "LQDY");
const Asset kAUTO = Make("THOR", "AUTO");
const Asset kXUSK = Make("THOR", "XUSK");
}  // namespace assets

namespace {

struct NamedCode {
  std::string_view name;
  std::string_view code;
};

constexpr std::array kShortCodes{
    NamedCode{"THOR.RUNE", "r"}, NamedCode{"BTC.BTC", "b"},   NamedCode{"ETH.ETH", "e"},
    NamedCode{"GAIA.ATOM", "g"}, NamedCode{"DOGE.DOGE", "d"}, NamedCode{"LTC.LTC", "l"},
    NamedCode{"BCH.BCH", "c"},   NamedCode{"AVAX.AVAX", "a"}, NamedCode{"BSC.BNB", "s"},
    NamedCode{"BASE.ETH", "f"},  NamedCode{"TRON.TRX", "tr"}, NamedCode{"XRP.XRP", "x"},
    NamedCode{"SOL.SOL", "o"},   NamedCode{"ZEC.ZEC", "z"},   NamedCode{"POL.POL", "p"},
    NamedCode{"SUI.SUI", "u"},   NamedCode{"ADA.ADA", "ad"}};

// Denominations that aren't the lower-case name.
struct NativeDenom {
  std::string_view symbol;
  std::string_view denom;
};

constexpr std::array kNativeDenoms{
    NativeDenom{"RUNE", "rune"},      NativeDenom{"TOR", "tor"},
    NativeDenom{"TCY", "tcy"},        NativeDenom{"RUJI", "x/ruji"},
    NativeDenom{"NAMI", "thor.nami"}, NativeDenom{"LQDY", "thor.lqdy"},
    NativeDenom{"XUSK", "thor.xusk"}, NativeDenom{"AUTO", "thor.auto"}};

bool IsSymbolChar(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_';
}

bool IsSymbol(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsSymbolChar);
}

bool SameText(const std::string& a, const std::string& b) { return a == b || EqualFold(a, b); }

// A plain asset of THOR whose symbol and ticker are both `name`.
bool IsThorToken(const Asset& asset, std::string_view name) {
  return !asset.synth && !asset.trade && !asset.secured && EqualFold(asset.symbol, name) &&
         EqualFold(asset.ticker, name) && asset.chain.IsTHORChain();
}

}  // namespace

absl::StatusOr<std::string> ParseSymbol(std::string_view text) {
  if (!IsSymbol(text)) return Error("invalid symbol");
  return ToUpper(text);
}

absl::StatusOr<std::string> ParseTicker(std::string_view text) {
  if (text.empty()) return Error("ticker error: empty ticker");
  if (text.size() > 13) return Error("ticker error: too many characters");
  if (text.find('/') != std::string_view::npos) {
    return Error("ticker error: cannot contain a /");
  }
  return ToUpper(text);
}

absl::StatusOr<Asset> Asset::Parse(std::string_view text) {
  Asset asset;
  std::string_view symbol = text;
  const size_t at = text.find_first_of("~./-");
  if (at == std::string_view::npos) {
    asset.chain = chains::kTHOR;
  } else {
    asset.trade = text[at] == '~';
    asset.synth = text[at] == '/';
    asset.secured = text[at] == '-';
    absl::StatusOr<Chain> chain = Chain::Parse(text.substr(0, at));
    if (!chain.ok()) return chain.status();
    asset.chain = *std::move(chain);
    symbol = text.substr(at + 1);
  }
  absl::StatusOr<std::string> parsed_symbol = ParseSymbol(symbol);
  if (!parsed_symbol.ok()) return parsed_symbol.status();
  asset.symbol = *std::move(parsed_symbol);
  absl::StatusOr<std::string> ticker = ParseTicker(symbol.substr(0, symbol.find('-')));
  if (!ticker.ok()) return ticker.status();
  asset.ticker = *std::move(ticker);
  return asset;
}

absl::StatusOr<Asset> Asset::ParseWithShortCodes(std::string_view text) {
  for (const NamedCode& named : kShortCodes) {
    if (named.code == text) return Parse(named.name);
  }
  return Parse(text);
}

absl::Status Asset::Valid() const {
  if (absl::Status status = chain.Valid(); !status.ok()) {
    return Error("invalid chain: ", Message(status));
  }
  if (!IsSymbol(ToUpper(symbol))) {
    return Error("invalid symbol: symbol must be alphanumeric");
  }
  if ((synth && trade) || (trade && secured) || (secured && synth)) {
    return Error("assets can only be one of trade, synth or secured");
  }
  if ((synth || trade || secured) && chain.IsTHORChain()) {
    const std::string_view kind = synth ? "synth" : trade ? "trade" : "secured";
    return Error(kind, " asset cannot have chain THOR: ", ToString());
  }
  return absl::OkStatus();
}

const Chain& Asset::GetChain() const { return synth || trade || secured ? chains::kTHOR : chain; }

Asset Asset::GetLayer1Asset() const { return {.chain = chain, .symbol = symbol, .ticker = ticker}; }

Asset Asset::GetSyntheticAsset() const {
  if (synth) return *this;
  return {.chain = chain, .symbol = symbol, .ticker = ticker, .synth = true};
}

Asset Asset::GetTradeAsset() const {
  if (trade) return *this;
  return {.chain = chain, .symbol = symbol, .ticker = ticker, .trade = true};
}

Asset Asset::GetSecuredAsset() const {
  if (secured) return *this;
  return {.chain = chain, .symbol = symbol, .ticker = ticker, .secured = true};
}

Asset Asset::GetDerivedAsset() const {
  return {.chain = chains::kTHOR, .symbol = symbol, .ticker = ticker};
}

bool Asset::IsDerived() const {
  return !synth && !trade && !secured && chain.IsTHORChain() && !IsRune() && !IsTCY() &&
         !IsWhitelisted();
}

bool Asset::IsEmpty() const { return chain.IsEmpty() || IsBlank(symbol) || IsBlank(ticker); }

bool Asset::IsGasAsset() const {
  const Asset& gas_asset = GetChain().GetGasAsset();
  return !gas_asset.IsEmpty() && *this == gas_asset;
}

bool Asset::IsRune() const { return IsThorToken(*this, "RUNE"); }
bool Asset::IsTCY() const { return IsThorToken(*this, "TCY"); }

bool Asset::IsWhitelisted() const {
  if (synth || trade || secured || chain.raw() != "THOR" || symbol != ticker) return false;
  return symbol == "RUJI" || symbol == "NAMI" || symbol == "LQDY" || symbol == "XUSK" ||
         symbol == "AUTO";
}

std::string Asset::Native() const {
  for (const NativeDenom& native : kNativeDenoms) {
    if (IsThorToken(*this, native.symbol)) return std::string(native.denom);
  }
  return ToLower(ToString());
}

std::string Asset::ToString() const {
  std::string_view divider = ".";
  if (synth) divider = "/";
  if (trade) divider = "~";
  if (secured) divider = "-";
  return StrCat(chain.ToString(), divider, ToUpper(symbol));
}

std::string_view Asset::ShortCode() const {
  const std::string name = ToString();
  for (const NamedCode& named : kShortCodes) {
    if (named.name == name) return named.code;
  }
  return "";
}

std::string Asset::MimirString() const { return StrCat(chain.ToString(), "-", ToUpper(symbol)); }

bool operator==(const Asset& a, const Asset& b) {
  return a.synth == b.synth && a.trade == b.trade && a.secured == b.secured &&
         SameText(a.symbol, b.symbol) && SameText(a.ticker, b.ticker) && a.chain == b.chain;
}

}  // namespace blockreplay::keeper::thorchain
