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
#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/tx_outs.h"
#include "keeper/thorchain/state/vaults.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::keeper::thorchain {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Addresses : public sdk::AddressCodec {
 public:
  const std::string& ToText(std::string_view bytes) override {
    text_ = AccAddress(std::string(bytes)).ToString(MockNet());
    return text_;
  }
  sdk::Result<std::string> ToBytes(std::string_view text) override {
    return AccAddress::FromBech32(text, MockNet())->bytes();
  }

 private:
  std::string text_;
};

class OptimisationsTest : public ::testing::Test {
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

  Build build_ = *Build::Make("3.17.0", "regtest,mocknet", "9.999.0", {});
  Addresses addresses_;
  Keeper keeper_{&build_, &addresses_, nullptr, nullptr};
  storage::MemoryEngine engine_;
  sdk::ReaderStore base_{&engine_};
  sdk::MultiStore stores_{std::vector<sdk::BaseStore*>(StoreNames().size(), &base_)};
  sdk::BlockInfo block_;
  sdk::GasMeter gas_ = sdk::GasMeter::Infinite();
  sdk::EventManager events_;
  Context context_{&block_, &stores_, &gas_, &events_};
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
