#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <list>

#include "absl/strings/escaping.h"
#include "keeper/gno/account.h"
#include "keeper/gno/address.h"
#include "keeper/gno/amino.h"
#include "keeper/gno/coins.h"
#include "keeper/gno/consensus_params.h"
#include "keeper/gno/genesis.h"
#include "keeper/gno/params.h"
#include "keeper/gno/pub_key.h"
#include "keeper/gno/tx.h"
#include "keeper/sdk/panic.h"
#include "nlohmann/json.hpp"

namespace blockreplay::keeper::gno {
namespace {

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}
std::string Unhex(const std::string& hex) { return absl::HexStringToBytes(hex); }

const nlohmann::json& Vectors() {
  static const auto* const vectors = [] {
    std::ifstream file(BLOCKREPLAY_FIXTURES "/gno/encoding_vectors.json");
    return new nlohmann::json(nlohmann::json::parse(file));
  }();
  return *vectors;
}

std::string ValueBytes(const std::string& name) {
  for (const auto& value : Vectors().at("values")) {
    if (value.at("Name") == name) return Unhex(value.at("Hex"));
  }
  ADD_FAILURE() << "no vector " << name;
  return {};
}

TEST(TxTest, DecodesAndSignsTheRecordedTransactions) {
  EXPECT_EQ(Vectors().at("txs").size(), 7u);
  Scratch scratch;
  for (const auto& vector : Vectors().at("txs")) {
    const std::string bytes = Unhex(vector.at("Tx"));
    Tx tx;
    ASSERT_TRUE(tx.Decode(bytes, &scratch)) << vector.at("Name");
    std::string sign_bytes;
    tx.SignBytes(vector.at("ChainID").get<std::string>(), vector.at("AccountNumber"),
                 vector.at("Sequence"), &sign_bytes);
    EXPECT_EQ(vector.at("SignBytes"), sign_bytes) << vector.at("Name");
    ASSERT_EQ(tx.signatures.size(), 1u);
    EXPECT_EQ(vector.at("PubKey"), Hex(tx.signatures[0].pub_key.any));
    EXPECT_EQ(vector.at("Sig"), Hex(tx.signatures[0].signature));
    EXPECT_TRUE(VerifySignature(tx.signatures[0].pub_key, sign_bytes, tx.signatures[0].signature))
        << vector.at("Name");
    // Any change of what is signed or of the signature makes it invalid.
    std::string other = sign_bytes;
    other.back() = ' ';
    EXPECT_FALSE(VerifySignature(tx.signatures[0].pub_key, other, tx.signatures[0].signature));
    std::string signature(tx.signatures[0].signature);
    signature.back() = static_cast<char>(signature.back() ^ 1);
    EXPECT_FALSE(VerifySignature(tx.signatures[0].pub_key, sign_bytes, signature));
    // The signer's address is that of the key, except where a session signs.
    if (tx.signatures[0].session.is_zero()) {
      EXPECT_EQ(tx.signatures[0].pub_key.ToAddress(), tx.msgs[0].signer) << vector.at("Name");
    }
    EXPECT_EQ(tx.signatures[0].session.is_zero(), vector.at("Name") != "session address set");
  }
}

TEST(TxTest, RefusesWhatAminoRefuses) {
  Scratch scratch;
  for (const auto& vector : Vectors().at("txs")) {
    const std::string bytes = Unhex(vector.at("Tx"));
    Tx tx;
    // Cut anywhere but between two fields at the top.
    size_t accepted = 0;
    for (size_t size = 0; size < bytes.size(); ++size)
      accepted += tx.Decode(std::string_view(bytes).substr(0, size), &scratch) ? 1 : 0;
    const size_t fields = tx.msgs.size();
    EXPECT_LE(accepted, 6u + fields) << vector.at("Name");
    // An unknown field, a repeated one, and one that comes too late.
    EXPECT_FALSE(tx.Decode(bytes + std::string("\x2a\x00", 2), &scratch));
    EXPECT_FALSE(tx.Decode(bytes + std::string("\x22\x00\x22\x00", 4), &scratch));
    EXPECT_FALSE(tx.Decode(bytes + bytes, &scratch));
    // Wrong wire type.
    EXPECT_FALSE(tx.Decode(std::string("\x08\x01", 2) + bytes, &scratch));
  }
  Tx tx;
  // Empty is a transaction, if not a valid one.
  EXPECT_TRUE(tx.Decode("", &scratch));
  EXPECT_TRUE(tx.Decode(std::string("\x0a\x00", 2), &scratch));
  EXPECT_EQ(tx.msgs.at(0).type, Msg::Type::kNil);
  // A type that is no message, one that does not exist, a URL without a slash.
  for (const std::string url : {"/std.BaseAccount", "/bank.MsgMultiSend", "bank.MsgSend", ""}) {
    std::string any;
    any.push_back('\x0a');
    any.push_back(static_cast<char>(url.size()));
    any += url;
    const std::string field = std::string("\x0a") + static_cast<char>(any.size()) + any;
    EXPECT_FALSE(tx.Decode(field, &scratch)) << url;
  }
  const std::string url =
      "\x0a\x11"
      "a.b/c/bank.MsgSend";
  EXPECT_FALSE(tx.Decode(std::string("\x0a\x13") + url, &scratch));
  const std::string prefixed = std::string("\x0a\x12") + "a.b/c/bank.MsgSend";
  EXPECT_TRUE(tx.Decode(std::string("\x0a\x14") + prefixed, &scratch));
}

TEST(AccountTest, ReencodesTheRecordedAccounts) {
  Scratch scratch;
  std::list<std::string> stored;  // accounts have views of them
  const auto round_trip = [&](const std::string& name) {
    const std::string& bytes = stored.emplace_back(ValueBytes(name));
    const std::optional<Account> account = Account::Decode(bytes, &scratch);
    EXPECT_TRUE(account.has_value()) << name;
    if (!account.has_value()) return Account();
    EXPECT_EQ(Hex(account->Encode(&scratch)), Hex(bytes)) << name;
    // Strict: nothing behind, nothing missing.
    EXPECT_FALSE(Account::Decode(bytes + '\0', &scratch).has_value()) << name;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto cut = Account::Decode(std::string_view(bytes).substr(0, size), &scratch);
      if (cut.has_value()) {
        EXPECT_EQ(size, bytes.find('\x12')) << name << " " << size;
      }
    }
    return *account;
  };
  const Account account = round_trip("GnoAccount (MarshalAny, as stored)");
  EXPECT_EQ(account.type, Account::Type::kGno);
  EXPECT_EQ(account.address.ToString(), "g1c28txyrzhtc324ugzhj2yhlwlgkz9r8ssqj2jd");
  EXPECT_EQ(account.coins.ToString(), "12345ugnot");
  EXPECT_EQ(account.number, 300u);
  EXPECT_EQ(account.sequence, 7u);
  EXPECT_FALSE(account.transfer_lock_whitelisted());
  EXPECT_EQ(account.pub_key.ToAddress(), account.address);
  EXPECT_TRUE(round_trip("GnoAccount whitelisted").transfer_lock_whitelisted());
  EXPECT_TRUE(round_trip("GnoAccount fresh number 0").pub_key.is_none());
  EXPECT_EQ(round_trip("BaseAccount").type, Account::Type::kBase);
  const Account session = round_trip("GnoSessionAccount");
  EXPECT_EQ(session.type, Account::Type::kSession);
  EXPECT_EQ(session.master, account.address);
  EXPECT_EQ(session.expires_at, 1786147210);
  EXPECT_EQ(session.spend_limit.ToString(), "5ugnot");
  EXPECT_EQ(session.spend_period, 60);
  EXPECT_EQ(session.spend_used.ToString(), "2ugnot");
  EXPECT_EQ(session.spend_reset, 1786147000);
  EXPECT_THAT(session.allow_paths, testing::ElementsAre("bank/send", "*"));
  const Account vesting = round_trip("ContinuousVestingAccount");
  EXPECT_EQ(vesting.type, Account::Type::kContinuousVesting);
  EXPECT_EQ(vesting.original_vesting.ToString(), "100ugnot");
  EXPECT_EQ(vesting.start_time, 5);
  EXPECT_EQ(vesting.end_time, 10);
}

TEST(AccountTest, LocksWhatHasNotVested) {
  Account account;
  account.type = Account::Type::kContinuousVesting;
  account.original_vesting = *Coins::Parse("100ugnot,7zed");
  account.start_time = 100;
  account.end_time = 130;
  const auto locked = [&](int64_t time) { return account.LockedCoins(time).ToString(); };
  EXPECT_EQ(locked(99), "100ugnot,7zed");
  EXPECT_EQ(locked(100), "100ugnot,7zed");
  EXPECT_EQ(locked(101), "97ugnot,7zed");  // 3.33 and 0.23 vested, rounded down
  EXPECT_EQ(locked(129), "4ugnot,1zed");
  EXPECT_EQ(locked(130), "");
  account.type = Account::Type::kDelayedVesting;
  EXPECT_EQ(locked(129), "100ugnot,7zed");
  EXPECT_EQ(locked(130), "");
}

TEST(ValueTest, ReencodesTheRecordedValues) {
  const auto price = GasPrice::Decode(ValueBytes("GasPrice (as stored)"));
  ASSERT_TRUE(price.has_value());
  EXPECT_EQ(price->gas, 1000);
  EXPECT_EQ(price->amount, 1);
  EXPECT_EQ(price->denom, "ugnot");
  EXPECT_EQ(Hex(price->Encode()), Hex(ValueBytes("GasPrice (as stored)")));
  uint64_t number = 0;
  EXPECT_TRUE(amino::DecodeUint64(ValueBytes("uint64 5000 (globalAccountNumber)"), &number));
  EXPECT_EQ(number, 5000u);
  EXPECT_TRUE(amino::DecodeUint64("", &number));
  EXPECT_EQ(number, 0u);
  EXPECT_FALSE(amino::DecodeUint64(std::string("\x08\x01\x08\x01", 4), &number));
  tendermint::abci::RequestInitChain request;
  request.mutable_consensus_params()->mutable_block()->set_max_bytes(2'000'000);
  request.mutable_consensus_params()->mutable_block()->set_max_gas(3'000'000'000);
  request.mutable_consensus_params()->mutable_validator()->add_pub_key_types("/tm.PubKeyEd25519");
  EXPECT_EQ(Hex(EncodeConsensusParams(request)), Hex(ValueBytes("ConsensusParams (as stored)")));
}

TEST(AddressTest, ReadsWhatTheOriginalReads) {
  const std::string text = "g1c28txyrzhtc324ugzhj2yhlwlgkz9r8ssqj2jd";
  const std::optional<Address> address = Address::FromBech32(text);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->ToString(), text);
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(Address::FromBech32(upper), address);
  std::string mixed = text;
  mixed[5] = 'T';
  EXPECT_EQ(Address::FromBech32(mixed), std::nullopt);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string wrong = text;
    wrong[i] = wrong[i] == 'q' ? 'p' : 'q';
    EXPECT_EQ(Address::FromBech32(wrong), std::nullopt) << i;
    EXPECT_EQ(Address::FromBech32(text.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(Address::FromBech32(text + "q"), std::nullopt);
  EXPECT_EQ(Address::FromField(""), Address());
  EXPECT_EQ(Address::FromBech32("g1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqluuxe"), Address());
  // The checksum of bech32m, which the original's library accepts as well; and neither.
  EXPECT_EQ(Address::FromBech32("g1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq4rvsrm"), Address());
  EXPECT_EQ(Address::FromBech32("g1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqluuxm"), std::nullopt);
}

TEST(CoinsTest, ParsesAsTheOriginal) {
  const auto coin = [](std::string_view text) -> std::string {
    const std::optional<Coin> parsed = Coin::Parse(text);
    return parsed.has_value() ? std::to_string(parsed->amount) + ":" + std::string(parsed->denom)
                              : "error";
  };
  EXPECT_EQ(coin("5ugnot"), "5:ugnot");
  EXPECT_EQ(coin(" 05 \tugnot\n"), "5:ugnot");
  EXPECT_EQ(coin("\xc2\xa0"
                 "5ugnot\xe2\x80\x83"),
            "5:ugnot");
  EXPECT_EQ(coin("5\xc2\xa0ugnot"), "error");
  EXPECT_EQ(coin("0ugnot"), "0:ugnot");
  EXPECT_EQ(coin("5/gno.land/r/demo:gold"), "5:/gno.land/r/demo:gold");
  EXPECT_EQ(coin("9223372036854775807ugnot"), "9223372036854775807:ugnot");
  EXPECT_EQ(coin("9223372036854775808ugnot"), "error");
  EXPECT_EQ(coin("-5ugnot"), "error");
  EXPECT_EQ(coin("ugnot"), "error");
  EXPECT_EQ(coin("5"), "error");
  EXPECT_EQ(coin("5ab"), "error");
  EXPECT_EQ(coin("5Ugnot"), "error");
  EXPECT_EQ(coin("5ugnot "), "5:ugnot");
  EXPECT_EQ(coin("5" + std::string(kMaxDenomSize, 'a')), "5:" + std::string(kMaxDenomSize, 'a'));
  EXPECT_EQ(coin("5" + std::string(kMaxDenomSize + 1, 'a')), "error");

  const auto coins = [](std::string_view text) {
    const std::optional<Coins> parsed = Coins::Parse(text);
    return parsed.has_value() ? parsed->ToString() : "error";
  };
  EXPECT_EQ(coins(""), "");
  EXPECT_EQ(coins("3ufoo,5ugnot"), "3ufoo,5ugnot");
  EXPECT_EQ(coins("5ugnot,3ufoo,1abc"), "1abc,3ufoo,5ugnot");
  EXPECT_EQ(coins("5ugnot,5ugnot"), "error");
  EXPECT_EQ(coins("0ugnot"), "error");
  EXPECT_EQ(coins("5ugnot,"), "error");
  EXPECT_EQ(coins("5ugnot,0abc"), "error");
}

TEST(CoinsTest, AddsAndSubtracts) {
  const auto coins = [](std::string_view text) { return *Coins::Parse(text); };
  EXPECT_EQ(coins("1abc,2def").Add(coins("3bcd,4def")).ToString(), "1abc,3bcd,6def");
  EXPECT_EQ(coins("1abc,2def,7xyz").SubUnsafe(coins("1abc,4def")).ToString(), "-2def,7xyz");
  EXPECT_THROW(coins("9223372036854775807abc").Add(coins("1abc")), sdk::Panic);
  EXPECT_TRUE(coins("5abc").IsAllGte(coins("")));
  EXPECT_TRUE(coins("").IsAllGte(coins("")));
  EXPECT_FALSE(coins("").IsAllGte(coins("1abc")));
  EXPECT_TRUE(coins("5abc,1def").IsAllGte(coins("5abc")));
  EXPECT_FALSE(coins("5abc").IsAllGte(coins("1def")));
}

TEST(JsonTest, EscapesStringsAsGo) {
  const auto json = [](std::string_view text) {
    std::string out;
    AppendJsonString(text, &out);
    return out;
  };
  EXPECT_EQ(json("plain"), "\"plain\"");
  EXPECT_EQ(json("<>&\"\\\b\f\n\r\t\x1f\x7f"),
            "\"\\u003c\\u003e\\u0026\\\"\\\\\\b\\f\\n\\r\\t\\u001f\x7f\"");
  EXPECT_EQ(json("\xe2\x80\xa8\xe2\x80\xa9\xc3\xa9"), "\"\\u2028\\u2029\xc3\xa9\"");
  // A replacement character for each byte that is not UTF-8.
  EXPECT_EQ(json("\xff\xc3"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json("\xf4\x90\x80\x80"
                 "a")
                .size(),
            2 + 4 * 3 + 1u);
  EXPECT_EQ(json("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

TEST(PubKeyTest, RewritesKeysToTheFormThatAminoWrites) {
  Scratch scratch;
  // Lengths as varints of two bytes: the same key.
  const std::string raw(33, '\x02');
  const std::string canonical = "\x0a\x13/tm.PubKeySecp256k1\x12\x23\x0a\x21" + raw;
  const std::string padded = std::string("\x0a\x93\x00/tm.PubKeySecp256k1", 22) +
                             std::string("\x12\xa4\x00\x0a\xa1\x00", 6) + raw;
  const std::optional<PubKey> key = PubKey::FromAny(padded, 1, &scratch);
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(Hex(key->any), Hex(canonical));
  EXPECT_EQ(*key, *PubKey::FromAny(canonical, 1, &scratch));
  EXPECT_FALSE(PubKey::FromAny(canonical + "x", 1, &scratch).has_value());
  // Without a value: an array of zeros.
  const std::optional<PubKey> zeros = PubKey::FromAny("\x0a\x13/tm.PubKeySecp256k1", 1, &scratch);
  ASSERT_TRUE(zeros.has_value());
  EXPECT_EQ(zeros->raw(), std::string(33, '\0'));
  EXPECT_FALSE(VerifySignature(*zeros, "message", std::string(64, '\1')));
}

TEST(PubKeyTest, BoundsTheNestingOfMultisigKeys) {
  Scratch scratch;
  std::string any = "\x0a\x13/tm.PubKeySecp256k1\x12\x23\x0a\x21" + std::string(33, '\x02');
  const auto varint = [](size_t n) {
    std::string out;
    for (; n >= 0x80; n >>= 7) out.push_back(static_cast<char>(n | 0x80));
    out.push_back(static_cast<char>(n));
    return out;
  };
  for (int depth = 2; depth <= 66; ++depth) {
    const std::string value = "\x08\x01\x12" + varint(any.size()) + any;
    any = "\x0a\x12/tm.PubKeyMultisig\x12" + varint(value.size()) + value;
    const std::optional<PubKey> key = PubKey::FromAny(any, 1, &scratch);
    ASSERT_EQ(key.has_value(), depth <= amino::kMaxAnyDepth) << depth;
    if (key.has_value()) {
      EXPECT_EQ(key->CountSubKeys(), 1);
      EXPECT_EQ(Hex(key->any), Hex(any));
    }
  }
}

}  // namespace
}  // namespace blockreplay::keeper::gno
