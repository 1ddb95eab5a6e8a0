// What is remembered must not outlive what it was made of, nor be changed by those who get it. That
// whole phases come out the same is tested on recordings (replay/native/optimisations_test.cc).

#include "keeper/optimisations.h"

#include <secp256k1.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "keeper/thorchain/empty_state_test_base.h"
#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/scheduled_outbounds.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OptimisationsTest : public ::testing::Test, protected EmptyStateTestBase {
 protected:
  ~OptimisationsTest() override { SwitchOff({}); }

  NodeAccount MakeNode(char name, NodeStatus status) const {
    NodeAccount node;
    node.node_address = AccAddress(std::string(20, name));
    node.type = NodeType::TypeValidator;
    node.status = status;
    node.active_block_height = 1;
    return node;
  }
  static std::string Names(const NodeAccounts& accounts) {
    std::string names;
    for (const SharedNodeAccount& account : accounts) names += account->node_address.bytes()[0];
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Active(const Context& ctx) { return Names(**ReadActiveValidators(keeper_, ctx)); }
  // Gas of one reading.
  sdk::Gas GasOfReading(const Context& ctx) {
    const sdk::Gas before = gas_.consumed();
    EXPECT_TRUE(ReadActiveValidators(keeper_, ctx).ok());
    return gas_.consumed() - before;
  }
};

TEST(OptimisationNamesTest, AreChecked) {
  const absl::StatusOr<OptimisationSet> set =
      ParseOptimisations({"attestations", "active-validators"});
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->Contains(Optimisation::kAttestations));
  EXPECT_TRUE(set->Contains(Optimisation::kActiveValidators));
  EXPECT_FALSE(set->Contains(Optimisation::kBech32Texts));
  const absl::Status refused = ParseOptimisations({"attestation"}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  for (const std::string_view name : kOptimisationNames) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(std::string(name)));
  }
}

TEST_F(OptimisationsTest, TheListOfActiveValidatorsFollowsEveryWrite) {
  SetNodeAccount(keeper_, context_, MakeNode('a', NodeStatus::Active));
  SetNodeAccount(keeper_, context_, MakeNode('b', NodeStatus::Standby));
  EXPECT_EQ(Active(context_), "a");
  EXPECT_EQ(ReadActiveValidators(keeper_, context_)->get(),
            ReadActiveValidators(keeper_, context_)->get());
  {
    sdk::CacheContext cached(context_);
    SetNodeAccount(keeper_, cached.context(), MakeNode('b', NodeStatus::Active));
    EXPECT_EQ(Active(cached.context()), "ab");
    // The outer one doesn't see it, and asking there is not remembered for the inner one.
    EXPECT_EQ(Active(context_), "a");
    EXPECT_EQ(Active(cached.context()), "ab");
    SetNodeAccount(keeper_, cached.context(), MakeNode('a', NodeStatus::Disabled));
    EXPECT_EQ(Active(cached.context()), "b");
  }
  EXPECT_EQ(Active(context_), "a");
  {
    sdk::CacheContext cached(context_);
    SetNodeAccount(keeper_, cached.context(), MakeNode('b', NodeStatus::Active));
    EXPECT_EQ(Active(cached.context()), "ab");
    cached.Commit();
  }
  EXPECT_EQ(Active(context_), "ab");
  sdk::MultiStore empty(std::vector<sdk::BaseStore*>(StoreNames().size(), &base_));
  EXPECT_EQ(Active(context_.WithStores(&empty)), "");
}

TEST_F(OptimisationsTest, TheListOfActiveValidatorsCostsTheSameGas) {
  for (const char name : {'a', 'b', 'c'}) {
    SetNodeAccount(keeper_, context_, MakeNode(name, NodeStatus::Active));
  }
  SwitchOff({Optimisation::kActiveValidators});
  const sdk::Gas gas = GasOfReading(context_);
  SwitchOff({});
  EXPECT_EQ(GasOfReading(context_), gas);
  EXPECT_EQ(GasOfReading(context_), gas);

  // A limit is reached within the list.
  sdk::GasMeter limited = sdk::GasMeter::Limited(gas / 2);
  EXPECT_THROW((void)ReadActiveValidators(keeper_, context_.WithGasMeter(&limited)), sdk::OutOfGas);
  EXPECT_LT(limited.consumed(), gas);
}

TEST_F(OptimisationsTest, TheIndexOfActiveNodesFollowsTheList) {
  SetNodeAccount(keeper_, context_, MakeNode('a', NodeStatus::Active));
  const std::string b = AccAddress(std::string(20, 'b')).ToString(MockNet());
  EXPECT_FALSE(ActiveNodes::Read(keeper_, context_)->Contains(b));
  SetNodeAccount(keeper_, context_, MakeNode('b', NodeStatus::Active));
  EXPECT_TRUE(ActiveNodes::Read(keeper_, context_)->Contains(b));
}

TEST_F(OptimisationsTest, DecodedRecordsAreThoseOfTheStoredBytes) {
  Pool pool;
  pool.asset = assets::kBTC;
  pool.balance_rune = Uint(7);
  ASSERT_TRUE(SetPool(keeper_, context_, pool).ok());
  const SharedPool first = *ReadPool(keeper_, context_, pool.asset);
  EXPECT_EQ(ReadPool(keeper_, context_, pool.asset)->get(), first.get());

  // A copy is the caller's own.
  Result<Pool> copy = GetPool(keeper_, context_, pool.asset);
  copy->balance_rune = Uint(9);
  EXPECT_EQ((*ReadPool(keeper_, context_, pool.asset))->balance_rune, Uint(7));

  ASSERT_TRUE(SetPool(keeper_, context_, *copy).ok());
  EXPECT_EQ((*ReadPool(keeper_, context_, pool.asset))->balance_rune, Uint(9));
  EXPECT_EQ(first->balance_rune, Uint(7));

  SwitchOff({Optimisation::kPoolDecodes});
  EXPECT_NE(ReadPool(keeper_, context_, pool.asset)->get(),
            ReadPool(keeper_, context_, pool.asset)->get());
}

// The height of reading, which isn't in the bytes, isn't remembered with them.
TEST_F(OptimisationsTest, WhatReadingAddsToAVaultIsNotRemembered) {
  const PubKey key("tthorpub1addwnpepqfup3y8p0egd7ml7vrnlxgl3wvnp89mpn0tjpj0p2nm2gh0n9hlrv3mvmnz");
  Vault vault;
  vault.pub_key = key;
  ASSERT_TRUE(SetVault(keeper_, context_, vault).ok());
  for (const int64_t height : {5, 6}) {
    block_.height = height;
    EXPECT_EQ(GetVault(keeper_, context_, key)->block_height, height);
    EXPECT_EQ((*ReadVault(keeper_, context_, key))->block_height, height);
  }
}

TEST_F(OptimisationsTest, AnAbsentTxOutHasItsOwnHeight) {
  for (const int64_t height : {5, 6}) {
    EXPECT_EQ(GetTxOut(keeper_, context_, height)->height, height);
    EXPECT_THAT((*ReadTxOut(keeper_, context_, height))->tx_array, IsEmpty());
  }
}

// ---- The outbounds of many heights ----

class ScheduledOutboundsTest : public OptimisationsTest {
 protected:
  ScheduledOutboundsTest() {
    SetPoolDepth(context_, 1'000);
    for (const int64_t height : {9, 10, 99, 100, 104}) SetItem(context_, height, height);
  }

  static TxOutItem Item(int64_t amount) {
    TxOutItem item;
    item.coin = Coin(assets::kBTC, Uint(static_cast<uint64_t>(amount)));
    item.max_gas = {Coin(assets::kBTC, Uint(1)), Coin(assets::kRune, Uint(7))};
    item.clout_spent = Uint(3);
    return item;
  }
  void SetItem(const Context& ctx, int64_t height, int64_t amount) {
    TxOut tx_out;
    tx_out.height = height;
    tx_out.tx_array = {Item(amount), Item(1)};
    SetTxOut(keeper_, ctx, tx_out);
  }
  void SetPoolDepth(const Context& ctx, uint64_t rune) {
    Pool pool;
    pool.asset = assets::kBTC;
    pool.balance_asset = Uint(100);
    pool.balance_rune = Uint(rune);
    ASSERT_TRUE(SetPool(keeper_, ctx, pool).ok());
  }
  // Values of all heights as text, and the gas of reading them, one after the other.
  std::string Values(const Context& ctx, int64_t first, int64_t last) {
    std::string text;
    ScheduledOutbounds outbounds(keeper_, ctx, first, last);
    // Some outside of the walk.
    for (int64_t height = std::max<int64_t>(first - 2, 1); height <= last + 2; ++height) {
      const sdk::Gas before = gas_.consumed();
      const Result<TxOutValue> value = outbounds.ValueAt(height);
      text += sdk::StrCat(height, ": ",
                          value.ok() ? value->value.ToString() + " " + value->clout.ToString()
                                     : value.error().message(),
                          ", gas ", gas_.consumed() - before, "\n");
    }
    return text;
  }
  // The same without the walk.
  std::string Searched(const Context& ctx, int64_t first, int64_t last) {
    SwitchOff({Optimisation::kTxOutWalks});
    std::string text = Values(ctx, first, last);
    SwitchOff({});
    return text;
  }
};

TEST_F(ScheduledOutboundsTest, AreThoseThatSearchesFindAtTheSamePrice) {
  EXPECT_THAT(Values(context_, 1, 105), HasSubstr("104: 1084 6, gas "));
  for (const auto& [first, last] : {std::pair{1, 105}, {9, 9}, {5, 99}, {100, 104}, {101, 103}}) {
    EXPECT_EQ(Values(context_, first, last), Searched(context_, first, last)) << first;
  }
}

TEST_F(ScheduledOutboundsTest, AreThoseOfTheBranch) {
  sdk::CacheContext cached(context_);
  ClearTxOut(keeper_, cached.context(), 99);
  SetItem(cached.context(), 101, 5);
  SetItem(cached.context(), 104, 6);
  SetPoolDepth(cached.context(), 2'000);
  EXPECT_EQ(Values(cached.context(), 90, 110), Searched(cached.context(), 90, 110));
  EXPECT_NE(Values(cached.context(), 90, 110), Values(context_, 90, 110));
  EXPECT_EQ(Values(context_, 90, 110), Searched(context_, 90, 110));
}

TEST_F(ScheduledOutboundsTest, FailAtMalformedOnesOnly) {
  keeper_.kv(context_).Set(TxOutKey(100), "\xff");
  const std::string values = Values(context_, 90, 110);
  EXPECT_THAT(values, HasSubstr("100: KVStore Error"));
  EXPECT_EQ(values, Searched(context_, 90, 110));
}

TEST_F(ScheduledOutboundsTest, LeaveOutKeysOfNoHeight) {
  for (const char* key : {"txout//1x1", "txout//+99", "txout//1000000000000000000000"}) {
    keeper_.kv(context_).Set(key, "");
  }
  EXPECT_EQ(Values(context_, 90, 110), Searched(context_, 90, 110));
}

// ---- The price of RUNE ----

class DollarPriceTest : public OptimisationsTest {
 protected:
  DollarPriceTest() {
    block_.height = 10;
    SetPrice(context_, 5);
    SetMimir(keeper_, context_, MimirOf(anchor_), 1);
  }

  static std::string MimirOf(const Asset& anchor) { return "TorAnchor-" + anchor.MimirString(); }
  void SetPrice(const Context& ctx, uint64_t dollars) { SetPrice(ctx, anchor_, dollars); }
  void SetPrice(const Context& ctx, const Asset& anchor, uint64_t dollars) {
    Pool pool;
    pool.asset = anchor;
    pool.status = PoolStatus::Available;
    pool.balance_rune = Uint(kOne);
    pool.balance_asset = Uint(kOne * dollars);
    ASSERT_TRUE(SetPool(keeper_, ctx, pool).ok());
  }
  // The price as text and the gas of asking for it, which are those of computing it.
  std::string Ask(const Context& ctx) {
    const auto ask = [&] {
      const sdk::Gas before = gas_.consumed();
      const Uint price = DollarsPerRune(keeper_, ctx);
      return sdk::StrCat(price.ToString(), ", gas ", gas_.consumed() - before);
    };
    std::string price = ask();
    EXPECT_EQ(ask(), price);
    SwitchOff({Optimisation::kDollarPrices});
    EXPECT_EQ(ask(), price);
    SwitchOff({});
    return price.substr(0, price.find(','));
  }

  const Asset anchor_ = *Asset::Parse("ETH.USDX-0X99");
};

TEST_F(DollarPriceTest, FollowsPoolsMimirsAndTheHeight) {
  EXPECT_EQ(Ask(context_), "500000000");
  SetPrice(context_, 6);
  EXPECT_EQ(Ask(context_), "600000000");
  {
    sdk::CacheContext cached(context_);
    SetPrice(cached.context(), 7);
    EXPECT_EQ(Ask(cached.context()), "700000000");
    EXPECT_EQ(Ask(context_), "600000000");
    EXPECT_EQ(Ask(cached.context()), "700000000");
  }
  EXPECT_EQ(Ask(context_), "600000000");
  // From a height on.
  SetMimir(keeper_, context_, "HaltTrading", 12);
  EXPECT_EQ(Ask(context_), "600000000");
  block_.height = 12;
  EXPECT_EQ(Ask(context_), "0");
  DeleteMimir(keeper_, context_, "HaltTrading");
  EXPECT_EQ(Ask(context_), "600000000");
  SetMimir(keeper_, context_, "DollarsPerRune", 42);
  EXPECT_EQ(Ask(context_), "42");
  DeleteMimir(keeper_, context_, "DollarsPerRune");
  EXPECT_EQ(Ask(context_), "600000000");
  SetInt64(keeper_, context_, StoreKey(kRagnarokHeightPrefix), 1);
  EXPECT_EQ(Ask(context_), "0");
}

TEST_F(DollarPriceTest, IsTheMedianOfTheAnchorsThatAreTraded) {
  const std::string anchors[] = {"ETH.USDY-0X98", "ETH.USDZ-0X97", "AVAX.USDX-0X96"};
  for (const std::string& text : anchors) {
    const Asset anchor = *Asset::Parse(text);
    SetPrice(context_, anchor, 7);
    SetMimir(keeper_, context_, MimirOf(anchor), 1);
  }
  SetPrice(context_, *Asset::Parse("ETH.ETH"), 100);
  SetPrice(context_, *Asset::Parse("BSC.BNB"), 100);
  EXPECT_EQ(Ask(context_), "700000000");
  SetPrice(context_, *Asset::Parse(anchors[2]), 9);
  EXPECT_EQ(Ask(context_), "700000000");
  // One chain is left.
  SetMimir(keeper_, context_, "HaltETHTrading", 1);
  EXPECT_EQ(Ask(context_), "900000000");
  SetMimir(keeper_, context_, "HaltAVAXChain", 1);
  EXPECT_EQ(Ask(context_), "0");
  DeleteMimir(keeper_, context_, "HaltETHTrading");
  EXPECT_EQ(Ask(context_), "700000000");
  SetMimir(keeper_, context_, MimirOf(*Asset::Parse(anchors[0])), 0);
  DeleteMimir(keeper_, context_, MimirOf(*Asset::Parse(anchors[1])));
  EXPECT_EQ(Ask(context_), "500000000");
  // Malformed, and of no pool.
  keeper_.kv(context_).Set(StoreKey(kMimirPrefix, MimirOf(anchor_)), "\xff");
  SetMimir(keeper_, context_, "TorAnchor-", 1);
  SetMimir(keeper_, context_, "TorAnchor-ETH-USDX-0X9", 1);
  SetMimir(keeper_, context_, "TorAnchor-ETH-USDX-0X990", 1);
  EXPECT_EQ(Ask(context_), "0");
}

TEST_F(DollarPriceTest, IsThatOfTheState) {
  EXPECT_EQ(Ask(context_), "500000000");
  sdk::MultiStore empty(std::vector<sdk::BaseStore*>(StoreNames().size(), &base_));
  EXPECT_EQ(Ask(context_.WithStores(&empty)), "0");
  EXPECT_EQ(Ask(context_), "500000000");
}

TEST_F(DollarPriceTest, RunsOutOfGasWhileItIsComputed) {
  EXPECT_EQ(Ask(context_), "500000000");
  sdk::GasMeter limited = sdk::GasMeter::Limited(1500);
  EXPECT_THROW((void)DollarsPerRune(keeper_, context_.WithGasMeter(&limited)), sdk::OutOfGas);
}

// ---- Attestations ----

class AttestationsTest : public OptimisationsTest {
 protected:
  AttestationsTest() {
    first_ = AddNode('\x11');
    second_ = AddNode('\x22');
  }
  ~AttestationsTest() override { secp256k1_context_destroy(secp256k1_); }

  // An active node with this secret key; its public key.
  std::string AddNode(char secret) {
    const std::vector<unsigned char> secret_key(32, static_cast<unsigned char>(secret));
    secp256k1_pubkey point;
    EXPECT_EQ(secp256k1_ec_pubkey_create(secp256k1_, &point, secret_key.data()), 1);
    std::string bytes(33, '\0');
    size_t size = bytes.size();
    secp256k1_ec_pubkey_serialize(secp256k1_, reinterpret_cast<unsigned char*>(bytes.data()), &size,
                                  &point, SECP256K1_EC_COMPRESSED);
    const CryptoKey key{CryptoKey::Type::kSecp256k1, bytes};
    NodeAccount node = MakeNode(secret, NodeStatus::Active);
    node.node_address = AccAddress(key.AddressBytes());
    node.pub_key_set.secp256k1 = PubKey::FromKey(key, keeper_.network());
    SetNodeAccount(keeper_, context_, node);
    return bytes;
  }
  std::string Sign(char secret, const sdk::Sha256Digest& digest) {
    const std::vector<unsigned char> secret_key(32, static_cast<unsigned char>(secret));
    secp256k1_ecdsa_signature signature;
    EXPECT_EQ(secp256k1_ecdsa_sign(secp256k1_, &signature, digest.data(), secret_key.data(),
                                   nullptr, nullptr),
              1);
    std::string bytes(64, '\0');
    secp256k1_ecdsa_signature_serialize_compact(
        secp256k1_, reinterpret_cast<unsigned char*>(bytes.data()), &signature);
    return bytes;
  }
  bool Verifies(const sdk::Sha256Digest& digest, const Attestation& attestation) {
    return VerifyAttestation(keeper_, *ActiveNodes::Read(keeper_, context_), digest, attestation)
        .has_value();
  }

  secp256k1_context* secp256k1_ = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
  std::string first_;
  std::string second_;
  const sdk::Sha256Digest digest_ = sdk::Sha256Of("what was observed");
};

TEST_F(AttestationsTest, OneThatWasVerifiedStandsForNoOther) {
  const Attestation attestation{first_, Sign('\x11', digest_)};
  ASSERT_TRUE(Verifies(digest_, attestation));
  ASSERT_TRUE(Verifies(digest_, attestation));

  EXPECT_FALSE(Verifies(sdk::Sha256Of("what was not observed"), attestation));
  EXPECT_FALSE(Verifies(digest_, {second_, attestation.signature}));
  for (size_t i = 0; i < attestation.signature.size(); ++i) {
    Attestation changed = attestation;
    changed.signature[i] = static_cast<char>(changed.signature[i] ^ 1);
    EXPECT_FALSE(Verifies(digest_, changed)) << i;
  }
  Attestation longer = attestation;
  longer.signature += '\0';
  EXPECT_FALSE(Verifies(digest_, longer));
  longer.signature.clear();
  EXPECT_FALSE(Verifies(digest_, longer));
}

TEST_F(AttestationsTest, OneThatIsRefusedStaysRefused) {
  const Attestation attestation{first_, Sign('\x22', digest_)};
  EXPECT_FALSE(Verifies(digest_, attestation));
  EXPECT_FALSE(Verifies(digest_, attestation));
}

// Whether the key is an active node's is asked each time.
TEST_F(AttestationsTest, OneThatWasVerifiedDoesNotMakeANodeActive) {
  const Attestation attestation{first_, Sign('\x11', digest_)};
  ASSERT_TRUE(Verifies(digest_, attestation));
  const CryptoKey key{CryptoKey::Type::kSecp256k1, first_};
  NodeAccount node = *GetNodeAccount(keeper_, context_, AccAddress(key.AddressBytes()));
  node.status = NodeStatus::Standby;
  SetNodeAccount(keeper_, context_, node);
  EXPECT_FALSE(Verifies(digest_, attestation));
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
