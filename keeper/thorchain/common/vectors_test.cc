// Checks the value types against what THORNode 3.17.0's own code makes of the same inputs, built
// without tags (vectors_mainnet.jsonl) and with mocknet (vectors_mocknet.jsonl). That code ran
// without the check of lengths that the node sets; its results for other lengths are replaced.

#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/common/panic.h"
#include "keeper/thorchain/common/pub_key.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/common/tx.h"
#include "keeper/thorchain/common/uint.h"
#include "keeper/thorchain/common/vectors.h"

namespace blockreplay::keeper::thorchain {
namespace {

struct Case {
  const char* file;
  const Network& (*network)();
};

class VectorsTest : public testing::TestWithParam<Case> {
 protected:
  const Network& network() const { return GetParam().network(); }

  // Runs `check` on the vectors of one operation.
  void ForEach(const std::string& op,
               const std::function<void(const std::string&, const nlohmann::json&)>& check) const {
    int seen = 0;
    for (const nlohmann::json& vector :
         LoadVectors(std::string(THORCHAIN_COMMON_TESTDATA) + "/" + GetParam().file)) {
      if (vector.at("op") != op) continue;
      ++seen;
      const std::string input = FromBase64(vector.at("in").get<std::string>());
      SCOPED_TRACE(op + " " + Quote(input));
      check(input, vector);
    }
    EXPECT_GT(seen, 0) << op;
  }
};

std::string Get(const nlohmann::json& vector, const char* key) {
  return vector.contains(key) ? vector.at(key).get<std::string>() : std::string();
}

template <typename T>
std::string ErrorOrEmpty(const absl::StatusOr<T>& result) {
  return result.ok() ? "" : std::string(ErrorText(result));
}

// The text of the value, or "panic: " and the panic's.
std::string ValueOrPanic(const std::function<std::string()>& calculate) {
  try {
    return calculate();
  } catch (const Panic& panic) {
    return "panic: " + panic.message();
  }
}

const std::vector<Chain>& ChainsOfVectors() {
  static const std::vector<Chain> kChains{
      Chain("BSC"),  Chain("ETH"),  Chain("BTC"),  Chain("LTC"),   Chain("BCH"),
      Chain("DOGE"), Chain("THOR"), Chain("GAIA"), Chain("NOBLE"), Chain("AVAX"),
      Chain("BASE"), Chain("TRON"), Chain("XRP"),  Chain("SOL"),   Chain("ZEC"),
      Chain("POL"),  Chain("SUI"),  Chain("ADA"),  Chain("FOO")};
  return kChains;
}

TEST_P(VectorsTest, Addresses) {
  ForEach("address", [&](const std::string& input, const nlohmann::json& vector) {
    const absl::StatusOr<Address> parsed = Address::Parse(input, network());
    EXPECT_EQ(parsed.ok(), vector.at("ok").get<bool>());
    EXPECT_EQ(ErrorOrEmpty(parsed), Get(vector, "error"));

    const Address address(input);
    std::set<std::string> is;
    std::map<std::string, int> networks;
    for (const Chain& chain : ChainsOfVectors()) {
      if (address.IsChain(chain)) is.insert(chain.ToString());
      const ChainNetwork kind = address.GetNetwork(chain, network());
      if (kind != network().kind) networks[chain.ToString()] = static_cast<int>(kind);
    }
    const auto expected_is = vector.at("is").get<std::set<std::string>>();
    if (!vector.contains("ispanic")) {
      EXPECT_EQ(is, expected_is);
    }
    EXPECT_EQ(networks, (vector.at("networks").get<std::map<std::string, int>>()));
    EXPECT_EQ(address.GetChain().ToString(), Get(vector, "chain"));

    const absl::StatusOr<AccAddress> account = address.ToAccAddress(network());
    EXPECT_EQ(account.ok() ? LowerHex(account->bytes()) : "", Get(vector, "acc"));
    EXPECT_EQ(account.ok() ? account->ToString(network()) : "", Get(vector, "acctext"));
    EXPECT_EQ(ErrorOrEmpty(account), Get(vector, "acc_error"));
    const absl::StatusOr<AccAddress> mapped = address.ToMappedAccAddress(network());
    EXPECT_EQ(mapped.ok() ? LowerHex(mapped->bytes()) : "", Get(vector, "mapped"));
    EXPECT_EQ(mapped.ok(), vector.contains("mapped"));

    EXPECT_EQ(address.IsValidBCHAddress(), vector.at("bch").get<bool>());
    const absl::StatusOr<Address> new_bch = address.ToNewBCHFormat(network());
    EXPECT_EQ(new_bch.ok() ? new_bch->ToString() : "", Get(vector, "newbch"));
    const absl::StatusOr<Address> tex = address.ToTexAddress(network());
    EXPECT_EQ(tex.ok() ? tex->ToString() : "", Get(vector, "tex"));
  });
}

TEST_P(VectorsTest, Assets) {
  ForEach("asset", [&](const std::string& input, const nlohmann::json& vector) {
    const absl::StatusOr<Asset> asset = Asset::ParseWithShortCodes(input);
    ASSERT_EQ(ErrorOrEmpty(asset), Get(vector, "error"));
    if (!asset.ok()) return;
    EXPECT_EQ(asset->chain.raw(), Get(vector, "chain"));
    EXPECT_EQ(asset->symbol, Get(vector, "symbol"));
    EXPECT_EQ(asset->ticker, Get(vector, "ticker"));
    const auto text = [](std::initializer_list<bool> values) {
      std::string result;
      for (const bool value : values) {
        if (!result.empty()) result += ' ';
        result += value ? "true" : "false";
      }
      return result;
    };
    EXPECT_EQ(text({asset->synth, asset->trade, asset->secured}), Get(vector, "kind"));
    EXPECT_EQ(asset->ToString(), Get(vector, "text"));
    EXPECT_EQ(asset->Native(), Get(vector, "native"));
    EXPECT_EQ(asset->ShortCode(), Get(vector, "short"));
    EXPECT_EQ(asset->MimirString(), Get(vector, "mimir"));
    EXPECT_EQ(asset->GetChain().ToString(), Get(vector, "home"));
    EXPECT_EQ(text({asset->IsRune(), asset->IsTCY(), asset->IsDerived(), asset->IsWhitelisted(),
                    asset->IsGasAsset(), asset->IsNative()}),
              Get(vector, "is"));
    EXPECT_EQ(Message(asset->Valid()), Get(vector, "valid"));
    // What is written is read again.
    EXPECT_EQ(Asset::Parse(asset->ToString()).value(), *asset);
  });
}

TEST_P(VectorsTest, PublicKeys) {
  ForEach("key", [&](const std::string& input, const nlohmann::json& vector) {
    const absl::StatusOr<PubKey> key = PubKey::Parse(input, network());
    ASSERT_EQ(key.ok(), vector.at("ok").get<bool>());
    if (!key.ok()) return;
    if (!input.empty()) {
      EXPECT_EQ(PubKey::FromKey(key->Decode(network()).value(), network()), *key);
    }
    for (int repeat = 0; repeat < 2; ++repeat) {  // calculated, then remembered
      for (const Chain& chain : ChainsOfVectors()) {
        const absl::StatusOr<Address> address = key->GetAddress(chain, network());
        EXPECT_EQ(address.ok() ? address->ToString() : "error",
                  vector.at("addresses").at(chain.ToString()).get<std::string>())
            << chain.ToString();
      }
    }
  });
}

TEST_P(VectorsTest, ChainProperties) {
  ForEach("chain", [&](const std::string& input, const nlohmann::json& vector) {
    const Chain chain(input);
    EXPECT_EQ(Message(chain.Valid()), Get(vector, "valid"));
    const absl::StatusOr<Chain> parsed = Chain::Parse(input);
    EXPECT_EQ(parsed.ok() ? parsed->raw() : ErrorText(parsed), Get(vector, "parsed"));
    EXPECT_EQ(chain.ToString(), Get(vector, "text"));
    std::string flags;
    for (const bool flag : {chain.IsEVM(), chain.IsUTXO(), chain.IsTHORChain(), chain.IsEmpty()}) {
      flags += flag ? "true " : "false ";
    }
    flags += chain.GetSigningAlgo() == SigningAlgo::kEd25519 ? "ed25519" : "secp256k1";
    EXPECT_EQ(flags, Get(vector, "flags"));
    EXPECT_EQ(chain.GetGasAsset().ToString(), Get(vector, "gas"));
    EXPECT_EQ(chain.GetGasUnits().first, Get(vector, "unit"));
    EXPECT_EQ(chain.GetGasUnits().second.ToString(), Get(vector, "per"));
    EXPECT_EQ(chain.GetGasAssetDecimal(), vector.at("decimals").get<int64_t>());
    EXPECT_EQ(chain.AddressPrefix(network()), Get(vector, "prefix"));
    EXPECT_EQ(chain.DustThreshold().ToString(), Get(vector, "dust"));
    EXPECT_EQ(chain.P2WPKHOutputValue(), vector.at("witness").get<int64_t>());
    EXPECT_EQ(chain.MaxMemoLength(), vector.at("memo").get<int>());
    EXPECT_EQ(chain.DefaultCoinbase(), vector.at("coinbase").get<double>());
    EXPECT_EQ(chain.ApproximateBlockMilliseconds(), vector.at("ms").get<int64_t>());
    EXPECT_EQ(chain.NativeGasToThorchain(Uint(123'456'789)).ToString(), Get(vector, "tothor"));
    EXPECT_EQ(chain.ThorchainToNativeGas(Uint(123'456'789)).ToString(), Get(vector, "tonative"));
  });
}

TEST_P(VectorsTest, TransactionHashes) {
  ForEach("txid", [&](const std::string& input, const nlohmann::json& vector) {
    const absl::StatusOr<TxID> id = TxID::Parse(input);
    ASSERT_EQ(ErrorOrEmpty(id), Get(vector, "error"));
    if (!id.ok()) return;
    EXPECT_EQ(id->ToString(), Get(vector, "value"));
    EXPECT_EQ(ValueOrPanic([&] { return std::to_string(id->ToInt64()); }), Get(vector, "int"));
  });
}

std::string CompareText(bool less, bool equal) {
  return std::string(less ? "true" : "false") + (equal ? " true" : " false");
}

std::string CalculateUint(const std::vector<std::string_view>& words) {
  const std::string_view op = words[0];
  const auto operand = [&](size_t i) { return Uint::Parse(words.at(i)).value(); };
  const Uint a = operand(1);
  if (op == "float") {
    // Go's %x of a float: two digits of exponent at least, no padding zeros.
    char text[128];
    std::snprintf(text, sizeof text, "%a %a", static_cast<double>(a.ToFloat()), a.ToDouble());
    return text;
  }
  if (op == "u64") return std::to_string(a.ToUint64());
  const Uint b = operand(2);
  if (op == "add") return (a + b).ToString();
  if (op == "sub") return (a - b).ToString();
  if (op == "mul") return (a * b).ToString();
  if (op == "quo") return (a / b).ToString();
  if (op == "mod") return (a % b).ToString();
  if (op == "cmp") return CompareText(a < b, a == b);
  if (op == "safesub") return SafeSub(a, b).ToString();
  if (op == "places") {
    return RoundToDecimals(a, static_cast<int64_t>(b.ToUint64())).ToString();
  }
  if (op == "figures") {
    return std::to_string(
        RoundSignificantFigures(a.ToUint64(), static_cast<int64_t>(b.ToUint64())));
  }
  const Uint c = operand(3);
  if (op == "share") return GetUncappedShare(a, b, c).ToString();
  if (op == "safeshare") return GetSafeShare(a, b, c).ToString();
  return "no such operation";
}

std::string CalculateDec(const std::vector<std::string_view>& words) {
  const std::string_view op = words[0];
  const LegacyDec a = LegacyDec::Parse(words.at(1)).value();
  if (op == "dtrunc") return a.TruncateToUint().ToString();
  if (op == "dround") return a.RoundToUint().ToString();
  if (op == "dround64") return std::to_string(a.RoundToInt64());
  if (op == "dtrunc64") return std::to_string(a.TruncateToInt64());
  const LegacyDec b = LegacyDec::Parse(words.at(2)).value();
  if (op == "dadd") return (a + b).ToString();
  if (op == "dsub") return (a - b).ToString();
  if (op == "dmul") return (a * b).ToString();
  if (op == "dquo") return (a / b).ToString();
  if (op == "dcmp") return CompareText(a < b, a == b);
  return "no such operation";
}

// "0x1.8p+3 inf" as Go writes it: "0x1.8p+03 +Inf".
std::string GoHexFloats(std::string text) {
  if (text.starts_with("inf")) text.replace(0, 3, "+Inf");
  for (size_t at = 0; (at = text.find('p', at)) != std::string::npos; ++at) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end - at == 3) text.insert(at + 2, "0");
  }
  return text;
}

TEST_P(VectorsTest, Numbers) {
  ForEach("uint", [&](const std::string& input, const nlohmann::json& vector) {
    if (input.starts_with("parse ")) {
      const absl::StatusOr<Uint> parsed = Uint::Parse(input.substr(6));
      EXPECT_EQ(ErrorOrEmpty(parsed), Get(vector, "error"));
      EXPECT_EQ(parsed.ok() ? parsed->ToString() : "", Get(vector, "value"));
      const absl::StatusOr<Uint> read = Uint::Unmarshal(input.substr(6));
      EXPECT_EQ(ErrorOrEmpty(read), Get(vector, "werror"));
      EXPECT_EQ(read.ok() ? read->ToString() : "", Get(vector, "wvalue"));
      return;
    }
    if (input.starts_with("dec ")) {
      const absl::StatusOr<LegacyDec> parsed = LegacyDec::Parse(input.substr(4));
      EXPECT_EQ(ErrorOrEmpty(parsed), Get(vector, "error"));
      if (!parsed.ok()) return;
      EXPECT_EQ(parsed->ToString(), Get(vector, "value"));
      EXPECT_EQ(parsed->Marshal(), Get(vector, "wire"));
      EXPECT_EQ(LegacyDec::Unmarshal(parsed->Marshal()).value(), *parsed);
      return;
    }
    const std::vector<std::string_view> words = Split(input, ' ');
    const bool is_dec = words[0].starts_with("d");
    const std::string result =
        ValueOrPanic([&] { return is_dec ? CalculateDec(words) : CalculateUint(words); });
    const std::string expected = Get(vector, "value");
    EXPECT_EQ(words[0] == "float" ? GoHexFloats(result) : result, expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Builds, VectorsTest,
                         testing::Values(Case{"vectors_mainnet.jsonl", &MainNet},
                                         Case{"vectors_mocknet.jsonl", &MockNet}),
                         [](const auto& param) {
                           return param.index == 0 ? "MainNet" : "MockNet";
                         });

}  // namespace
}  // namespace blockreplay::keeper::thorchain
