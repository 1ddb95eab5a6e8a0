#include "storage/ics23/verify.h"

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "google/protobuf/unknown_field_set.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "storage/ics23/build.h"
#include "storage/ics23/proof_ops.h"

namespace blockreplay::storage::ics23 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Case {
  std::string name;
  std::string kind;
  std::string root;
  std::string key;
  std::string value;
  CommitmentProof proof;
};

std::string FromHex(const nlohmann::json& text) {
  return absl::HexStringToBytes(text.get<std::string>());
}

const nlohmann::json& Vectors() {
  static const nlohmann::json* const vectors = [] {
    std::ifstream in(BLOCKREPLAY_FIXTURES "/iavl/proof_vectors.json");
    return new nlohmann::json(nlohmann::json::parse(in));
  }();
  return *vectors;
}

CommitmentProof Parse(const std::string& bytes) {
  CommitmentProof proof;
  EXPECT_TRUE(proof.ParseFromString(bytes));
  return proof;
}

// The proofs of keys in trees, alone and below multistores.
std::vector<Case> TreeCases() {
  std::vector<Case> cases;
  for (const auto& tree : Vectors()["trees"]) {
    for (const auto& p : tree["proofs"]) {
      cases.push_back({tree["name"].get<std::string>() + "/" + p["key"].get<std::string>(),
                       p["kind"], FromHex(tree["root"]), FromHex(p["key"]),
                       FromHex(p.value("value", "")), Parse(FromHex(p["proof"]))});
    }
  }
  for (const auto& p : Vectors()["multistore_proofs"]) {
    cases.push_back({p["store"].get<std::string>() + "/" + p["key"].get<std::string>(), p["kind"],
                     FromHex(p["store_root"]), FromHex(p["key"]), FromHex(p.value("value", "")),
                     Parse(FromHex(p["iavl_proof"]))});
  }
  return cases;
}

absl::Status Verify(const Case& c, const CommitmentProof& proof) {
  return c.kind == "exist" ? VerifyMembership(IavlSpec(), c.root, proof, c.key, c.value)
                           : VerifyNonMembership(IavlSpec(), c.root, proof, c.key);
}

const Case& FindCase(const std::vector<Case>& cases, const std::string& name) {
  for (const Case& c : cases) {
    if (c.name == name) return c;
  }
  ADD_FAILURE() << "no vector " << name;
  return cases.front();
}

TEST(Specs, EqualTheStandardsProtobufs) {
  EXPECT_EQ(Vectors()["iavl_spec"], absl::BytesToHexString(IavlSpec().SerializeAsString()));
  EXPECT_EQ(Vectors()["tendermint_spec"],
            absl::BytesToHexString(TendermintSpec().SerializeAsString()));
}

TEST(Verify, AcceptsWhatTheNodeProved) {
  int existing = 0;
  int absent = 0;
  for (const Case& c : TreeCases()) {
    if (c.kind == "nonexist_in_empty_store_unprovable") {
      EXPECT_THAT(std::string(Verify(c, c.proof).message()), HasSubstr("without a neighbour"));
      continue;
    }
    if (c.kind == "exist" && c.value.empty()) {
      EXPECT_THAT(std::string(Verify(c, c.proof).message()), HasSubstr("empty value"));
      continue;
    }
    EXPECT_TRUE(Verify(c, c.proof).ok()) << c.name << ": " << Verify(c, c.proof);
    ++(c.kind == "exist" ? existing : absent);
  }
  EXPECT_GT(existing, 90);
  EXPECT_GT(absent, 120);
}

TEST(Verify, AcceptsStoresUnderTheAppHash) {
  for (const auto& p : Vectors()["multistore_proofs"]) {
    const CommitmentProof proof = Parse(FromHex(p["simple_proof"]));
    const std::string app_hash = FromHex(p["app_hash"]);
    EXPECT_TRUE(VerifyMembership(TendermintSpec(), app_hash, proof, p["store"].get<std::string>(),
                                 FromHex(p["store_root"]))
                    .ok());
    EXPECT_FALSE(
        VerifyMembership(TendermintSpec(), app_hash, proof, "other", FromHex(p["store_root"]))
            .ok());
    EXPECT_FALSE(VerifyMembership(IavlSpec(), app_hash, proof, p["store"].get<std::string>(),
                                  FromHex(p["store_root"]))
                     .ok());
  }
}

TEST(Verify, AcceptsWholeQueryAnswers) {
  for (const auto& p : Vectors()["multistore_proofs"]) {
    ::tendermint::crypto::ProofOps ops;
    ASSERT_TRUE(ops.ParseFromString(FromHex(p["proof_ops"])));
    const std::string key = FromHex(p["key"]);
    const std::string value = FromHex(p.value("value", ""));
    const std::string kind = p["kind"];
    const auto verify = [&](const std::string& app_hash, const std::string& store,
                            const std::string& k) {
      return VerifyQueryProofOps(
          ops, app_hash, store, k,
          kind == "exist" ? std::optional<std::string_view>(value) : std::nullopt);
    };
    const std::string app_hash = FromHex(p["app_hash"]);
    EXPECT_EQ(verify(app_hash, p["store"], key).ok(), kind != "nonexist_in_empty_store_unprovable");
    EXPECT_FALSE(verify(std::string(32, 'x'), p["store"], key).ok());
    EXPECT_FALSE(verify(app_hash, "other", key).ok());
    EXPECT_FALSE(verify(app_hash, p["store"], key + "x").ok());
    ops.mutable_ops(0)->set_type("ics23:other");
    EXPECT_FALSE(verify(app_hash, p["store"], key).ok());
    ops.mutable_ops()->RemoveLast();
    EXPECT_FALSE(verify(app_hash, p["store"], key).ok());
  }
}

TEST(Verify, RefusesAnotherKeyValueOrRoot) {
  for (const Case& c : TreeCases()) {
    Case other = c;
    other.key.push_back('\0');
    EXPECT_FALSE(Verify(other, c.proof).ok()) << c.name;
    other = c;
    other.root[7] = static_cast<char>(other.root[7] ^ 1);
    EXPECT_FALSE(Verify(other, c.proof).ok()) << c.name;
    other = c;
    other.root.clear();
    EXPECT_FALSE(Verify(other, c.proof).ok()) << c.name;
    if (c.kind == "exist") {
      other = c;
      other.value.push_back('x');
      EXPECT_FALSE(Verify(other, c.proof).ok()) << c.name;
      EXPECT_FALSE(VerifyNonMembership(IavlSpec(), c.root, c.proof, c.key).ok()) << c.name;
    } else {
      EXPECT_FALSE(VerifyMembership(IavlSpec(), c.root, c.proof, c.key, "x").ok()) << c.name;
    }
  }
}

TEST(Verify, RefusesEveryChangedBit) {
  int turn = 0;
  for (const Case& c : TreeCases()) {
    if (!Verify(c, c.proof).ok()) continue;
    const std::string bytes = c.proof.SerializeAsString();
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (turn++ % 8)));
      CommitmentProof proof;
      if (!proof.ParseFromString(changed) || !Verify(c, proof).ok()) continue;
      // Only what protobuf ignores may change: a field that the message does not have.
      proof.DiscardUnknownFields();
      ASSERT_TRUE(google::protobuf::util::MessageDifferencer::Equals(proof, c.proof))
          << c.name << " accepted with byte " << i << " changed";
    }
  }
}

TEST(Verify, NeighboursMustBeNeighbours) {
  const std::vector<Case> cases = TreeCases();
  const Case& between_2_and_4 = FindCase(cases, "twenty/" + absl::BytesToHexString("key03"));
  const Case& between_12_and_14 = FindCase(cases, "twenty/" + absl::BytesToHexString("key13"));
  ASSERT_TRUE(between_2_and_4.proof.nonexist().has_left());
  ASSERT_TRUE(between_12_and_14.proof.nonexist().has_right());

  // Both leaves exist and the key lies between them, but so do others: a lie about key05 .. key12.
  CommitmentProof lie = between_2_and_4.proof;
  *lie.mutable_nonexist()->mutable_right() = between_12_and_14.proof.nonexist().right();
  EXPECT_THAT(std::string(Verify(between_2_and_4, lie).message()), HasSubstr("not neighbours"));

  // The right neighbour alone would have to be the first key, the left one alone the last.
  lie = between_2_and_4.proof;
  lie.mutable_nonexist()->clear_left();
  EXPECT_THAT(std::string(Verify(between_2_and_4, lie).message()), HasSubstr("not the left-most"));
  lie = between_2_and_4.proof;
  lie.mutable_nonexist()->clear_right();
  EXPECT_THAT(std::string(Verify(between_2_and_4, lie).message()), HasSubstr("not the right-most"));

  // The same leaf on both sides, exchanged sides, and no side.
  lie = between_2_and_4.proof;
  *lie.mutable_nonexist()->mutable_right() = lie.nonexist().left();
  EXPECT_FALSE(Verify(between_2_and_4, lie).ok());
  lie = between_2_and_4.proof;
  lie.mutable_nonexist()->mutable_left()->Swap(lie.mutable_nonexist()->mutable_right());
  EXPECT_FALSE(Verify(between_2_and_4, lie).ok());
  lie.mutable_nonexist()->clear_left();
  lie.mutable_nonexist()->clear_right();
  EXPECT_THAT(std::string(Verify(between_2_and_4, lie).message()),
              HasSubstr("without a neighbour"));

  // A key that does exist, proven absent by its own neighbours' proof.
  Case existing = between_2_and_4;
  existing.key = between_2_and_4.proof.nonexist().right().key();
  lie = between_2_and_4.proof;
  lie.mutable_nonexist()->set_key(existing.key);
  EXPECT_THAT(std::string(Verify(existing, lie).message()), HasSubstr("not to the left"));
}

TEST(Verify, RefusesPathsThatASpecDoesNotAllow) {
  const std::vector<Case> cases = TreeCases();
  const Case& c = FindCase(cases, "twenty/" + absl::BytesToHexString("key10"));
  const auto message = [&](const CommitmentProof& proof) {
    return std::string(Verify(c, proof).message());
  };
  ASSERT_TRUE(Verify(c, c.proof).ok());
  const std::string leaf_prefix = c.proof.exist().leaf().prefix();
  const std::string inner_prefix = c.proof.exist().path(0).prefix();

  CommitmentProof p = c.proof;
  p.mutable_exist()->clear_leaf();
  EXPECT_THAT(message(p), HasSubstr("without a leaf"));
  p = c.proof;
  p.mutable_exist()->mutable_leaf()->set_length(LengthOp::NO_PREFIX);
  EXPECT_THAT(message(p), HasSubstr("leaf operations"));
  p = c.proof;
  p.mutable_exist()->mutable_leaf()->set_prefix(leaf_prefix + "x");
  EXPECT_THAT(message(p), HasSubstr("1 bytes after height, size and version"));
  p = c.proof;
  p.mutable_exist()->mutable_leaf()->set_prefix(leaf_prefix.substr(0, 2));
  EXPECT_THAT(message(p), HasSubstr("not the height, size and version"));
  p = c.proof;
  p.mutable_exist()->mutable_leaf()->set_prefix(std::string("\x02") + leaf_prefix.substr(1));
  EXPECT_THAT(message(p), HasSubstr("leaf prefix"));
  p = c.proof;
  p.mutable_exist()->mutable_path(0)->set_hash(HashOp::SHA512);
  EXPECT_THAT(message(p), HasSubstr("hash operation of an inner node"));
  p = c.proof;  // an inner node that claims to be a leaf, and one lower than its place in the path
                // allows
  p.mutable_exist()->mutable_path(0)->set_prefix(std::string(1, '\0') + inner_prefix.substr(1));
  EXPECT_THAT(message(p), HasSubstr("height 0, 1 steps above"));
  p = c.proof;
  p.mutable_exist()->mutable_path(1)->set_prefix("\x02" + p.exist().path(1).prefix().substr(1));
  EXPECT_THAT(message(p), HasSubstr("height 1, 2 steps above"));
  p = c.proof;
  p.mutable_exist()->mutable_path(0)->set_prefix("\x03" + inner_prefix.substr(1));
  EXPECT_THAT(message(p), HasSubstr("not the height, size and version"));
  p = c.proof;
  p.mutable_exist()->mutable_path(0)->mutable_suffix()->append("x");
  EXPECT_THAT(message(p), HasSubstr("suffix"));
  p = c.proof;
  while (p.exist().path_size() <= 128) {
    InnerOp* op = p.mutable_exist()->add_path();
    *op = c.proof.exist().path(c.proof.exist().path_size() - 1);
    op->set_prefix("\xfe\x01" +
                   op->prefix().substr(1));  // height 127, so that only the depth is wrong
  }
  EXPECT_THAT(message(p), HasSubstr("path of 129"));
  p.mutable_exist()->mutable_path()->RemoveLast();
  EXPECT_THAT(message(p), Not(HasSubstr("path of")));
}

TEST(Verify, DepthLimitsOfTheSpecCount) {
  const std::vector<Case> cases = TreeCases();
  const Case& c = FindCase(cases, "twenty/" + absl::BytesToHexString("key10"));
  const int depth = c.proof.exist().path_size();
  ProofSpec spec = IavlSpec();
  spec.set_min_depth(depth);
  spec.set_max_depth(depth);
  EXPECT_TRUE(VerifyMembership(spec, c.root, c.proof, c.key, c.value).ok());
  spec.set_max_depth(depth - 1);
  EXPECT_FALSE(VerifyMembership(spec, c.root, c.proof, c.key, c.value).ok());
  spec.set_max_depth(depth + 1);
  spec.set_min_depth(depth + 1);
  EXPECT_FALSE(VerifyMembership(spec, c.root, c.proof, c.key, c.value).ok());
}

TEST(Verify, RefusesSpecsThatCannotBeSound) {
  const std::vector<Case> cases = TreeCases();
  const Case& c = FindCase(cases, "twenty/" + absl::BytesToHexString("key10"));
  const auto verify = [&](auto&& change) {
    ProofSpec spec = IavlSpec();
    change(&spec);
    return VerifyMembership(spec, c.root, c.proof, c.key, c.value).ok();
  };
  EXPECT_TRUE(verify([](ProofSpec*) {}));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->clear_leaf_spec(); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->clear_inner_spec(); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->mutable_inner_spec()->clear_child_order(); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->mutable_inner_spec()->set_child_order(0, 1); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->mutable_inner_spec()->set_child_order(0, -1); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->mutable_inner_spec()->set_child_size(0); }));
  EXPECT_FALSE(verify([](ProofSpec* s) { s->mutable_inner_spec()->set_min_prefix_length(-1); }));
  EXPECT_FALSE(
      verify([](ProofSpec* s) { s->mutable_inner_spec()->set_max_prefix_length(4 + 33); }));
}

// A sparse tree's spec, as the standard has for celestiaorg/smt: keys compare by hash and empty
// children are skipped.
TEST(Verify, PlaceholdersCountAsEmpty) {
  ProofSpec spec = TendermintSpec();
  spec.mutable_leaf_spec()->set_prehash_key(HashOp::SHA256);
  spec.mutable_leaf_spec()->set_length(LengthOp::NO_PREFIX);
  spec.mutable_inner_spec()->set_empty_child(std::string(32, '\0'));
  spec.set_prehash_key_before_comparison(true);

  CommitmentProof proof;
  ExistenceProof* leaf = proof.mutable_nonexist()->mutable_right();
  leaf->set_key("right");
  leaf->set_value("value");
  *leaf->mutable_leaf() = spec.leaf_spec();
  InnerOp* op = leaf->add_path();
  op->set_hash(HashOp::SHA256);
  op->set_prefix("\1" + std::string(32, '\0'));
  const std::string root = *CalculateRoot(*leaf);

  // Of many keys, those that hash below the leaf's are absent; those above are not shown to be.
  const std::string leaf_place = *HashBytes(HashOp::SHA256, "right");
  int accepted = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string key = "key" + std::to_string(i);
    proof.mutable_nonexist()->set_key(key);
    const bool below = *HashBytes(HashOp::SHA256, key) < leaf_place;
    EXPECT_EQ(VerifyNonMembership(spec, root, proof, key).ok(), below) << key;
    accepted += below ? 1 : 0;
  }
  EXPECT_GT(accepted, 0);
  op->set_prefix("\1" + std::string(32, '\1'));  // now there is a left sibling
  for (int i = 0; i < 50; ++i) {
    const std::string key = "key" + std::to_string(i);
    proof.mutable_nonexist()->set_key(key);
    EXPECT_FALSE(VerifyNonMembership(spec, *CalculateRoot(*leaf), proof, key).ok()) << key;
  }
}

TEST(Ops, HashAndLengthOperations) {
  EXPECT_EQ(absl::BytesToHexString(*HashBytes(HashOp::SHA256, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(absl::BytesToHexString(*HashBytes(HashOp::SHA512_256, "abc")),
            "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23");
  EXPECT_EQ(absl::BytesToHexString(*HashBytes(HashOp::RIPEMD160, "abc")),
            "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
  EXPECT_FALSE(HashBytes(HashOp::NO_HASH, "abc").ok());
  EXPECT_FALSE(HashBytes(HashOp::KECCAK256, "abc").ok());
  LeafOp op;
  op.set_hash(HashOp::SHA256);
  const auto leaf = [&](LengthOp length, const std::string& key, const std::string& value) {
    op.set_length(length);
    return ApplyLeafOp(op, key, value);
  };
  EXPECT_EQ(*leaf(LengthOp::NO_PREFIX, "a", "bc"), *HashBytes(HashOp::SHA256, "abc"));
  EXPECT_EQ(*leaf(LengthOp::VAR_PROTO, "a", "bc"), *HashBytes(HashOp::SHA256, "\1a\2bc"));
  EXPECT_EQ(*leaf(LengthOp::FIXED32_BIG, "a", "bc"),
            *HashBytes(HashOp::SHA256, std::string("\0\0\0\1a\0\0\0\2bc", 11)));
  EXPECT_EQ(*leaf(LengthOp::FIXED64_LITTLE, "a", "bc"),
            *HashBytes(HashOp::SHA256, std::string("\1\0\0\0\0\0\0\0a\2\0\0\0\0\0\0\0bc", 19)));
  EXPECT_FALSE(leaf(LengthOp::REQUIRE_32_BYTES, "a", "bc").ok());
  EXPECT_TRUE(leaf(LengthOp::REQUIRE_32_BYTES, std::string(32, 'a'), std::string(32, 'b')).ok());
  EXPECT_FALSE(leaf(LengthOp::VAR_RLP, "a", "bc").ok());
  EXPECT_FALSE(leaf(LengthOp::VAR_PROTO, "", "bc").ok());
  EXPECT_FALSE(leaf(LengthOp::VAR_PROTO, "a", "").ok());
}

}  // namespace
}  // namespace blockreplay::storage::ics23
