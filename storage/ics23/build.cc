#include "storage/ics23/build.h"

#include <openssl/sha.h>

#include <bit>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "storage/ics23/verify.h"

namespace blockreplay::storage::ics23 {
namespace {

using ::tendermint::crypto::ProofOp;
using ::tendermint::crypto::ProofOps;

// Types of the operations in an ABCI query's answer.
constexpr char kIavlOpType[] = "ics23:iavl";
constexpr char kSimpleOpType[] = "ics23:simple";

constexpr char kHashLength = 0x20;

std::string_view View(const Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

Hash Sha256(std::string_view bytes) {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendZigZag(int64_t value, std::string* out) {
  AppendVarint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63), out);
}

std::string IavlPrefix(int64_t height, int64_t size, int64_t version) {
  std::string prefix;
  AppendZigZag(height, &prefix);
  AppendZigZag(size, &prefix);
  AppendZigZag(version, &prefix);
  return prefix;
}

void SetLeafOp(std::string prefix, LeafOp* op) {
  op->set_hash(HashOp::SHA256);
  op->set_prehash_value(HashOp::SHA256);
  op->set_length(LengthOp::VAR_PROTO);
  op->set_prefix(std::move(prefix));
}

void SetExistence(const iavl::MembershipPath& leaf, ExistenceProof* proof) {
  proof->set_key(leaf.key);
  proof->set_value(leaf.value);
  SetLeafOp(IavlPrefix(0, 1, leaf.version), proof->mutable_leaf());
  for (const iavl::PathStep& step : leaf.steps) {
    InnerOp* op = proof->add_path();
    op->set_hash(HashOp::SHA256);
    std::string prefix = IavlPrefix(step.height, step.size, step.version);
    prefix.push_back(kHashLength);
    if (!step.sibling_is_left) {
      std::string* suffix = op->mutable_suffix();
      suffix->push_back(kHashLength);
      suffix->append(View(step.sibling));
    } else {
      prefix.append(View(step.sibling));
      prefix.push_back(kHashLength);
    }
    op->set_prefix(std::move(prefix));
  }
}

Hash SimpleLeafHash(const NamedHash& store) {
  std::string preimage(1, '\0');
  AppendVarint(store.name.size(), &preimage);
  preimage.append(store.name);
  preimage.push_back(kHashLength);
  // The tree's values are the root hashes, and the tree hashes its values.
  preimage.append(View(Sha256(View(store.hash))));
  return Sha256(preimage);
}

size_t SplitPoint(size_t leaves) { return std::bit_floor(leaves - 1); }

// Recursion is as deep as the tree is high: the logarithm of the number of stores.
Hash SimpleRoot(std::span<const Hash> leaves) {
  if (leaves.empty()) return Sha256({});
  if (leaves.size() == 1) return leaves[0];
  const size_t split = SplitPoint(leaves.size());
  std::string preimage(1, '\1');
  preimage.append(View(SimpleRoot(leaves.first(split))));
  preimage.append(View(SimpleRoot(leaves.subspan(split))));
  return Sha256(preimage);
}

void AddSimplePath(std::span<const Hash> leaves, size_t index, ExistenceProof* proof) {
  if (leaves.size() < 2) return;
  const size_t split = SplitPoint(leaves.size());
  const bool left = index < split;
  const std::span<const Hash> own = left ? leaves.first(split) : leaves.subspan(split);
  const std::span<const Hash> other = left ? leaves.subspan(split) : leaves.first(split);
  AddSimplePath(own, left ? index : index - split, proof);
  InnerOp* op = proof->add_path();
  op->set_hash(HashOp::SHA256);
  op->set_prefix("\1");
  (left ? op->mutable_suffix() : op->mutable_prefix())->append(View(SimpleRoot(other)));
}

std::vector<Hash> SimpleLeaves(std::span<const NamedHash> stores) {
  std::vector<Hash> leaves;
  leaves.reserve(stores.size());
  for (const NamedHash& store : stores) leaves.push_back(SimpleLeafHash(store));
  return leaves;
}

absl::Status ParseOp(const ProofOp& op, const char* type, std::string_view key,
                     CommitmentProof* proof) {
  if (op.type() != type) {
    return absl::InvalidArgumentError(absl::StrCat("proof operation of a type other than ", type));
  }
  if (op.key() != key) {
    return absl::InvalidArgumentError(absl::StrCat(type, ": proof operation is for another key"));
  }
  if (!proof->ParseFromString(op.data())) {
    return absl::InvalidArgumentError(absl::StrCat(type, ": data is not a CommitmentProof"));
  }
  return absl::OkStatus();
}

}  // namespace

CommitmentProof MakeIavlExistenceProof(const iavl::MembershipPath& leaf) {
  CommitmentProof proof;
  SetExistence(leaf, proof.mutable_exist());
  return proof;
}

CommitmentProof MakeIavlNonExistenceProof(std::string_view key,
                                          const iavl::NeighbourPaths& neighbours) {
  CommitmentProof proof;
  NonExistenceProof* nonexist = proof.mutable_nonexist();
  nonexist->set_key(std::string(key));
  if (neighbours.left) SetExistence(*neighbours.left, nonexist->mutable_left());
  if (neighbours.right) SetExistence(*neighbours.right, nonexist->mutable_right());
  return proof;
}

Hash SimpleMapRoot(std::span<const NamedHash> stores) { return SimpleRoot(SimpleLeaves(stores)); }

CommitmentProof MakeSimpleMapProof(std::span<const NamedHash> stores, size_t index) {
  CommitmentProof proof;
  ExistenceProof* exist = proof.mutable_exist();
  exist->set_key(stores[index].name);
  exist->set_value(std::string(View(stores[index].hash)));
  SetLeafOp(std::string(1, '\0'), exist->mutable_leaf());
  AddSimplePath(SimpleLeaves(stores), index, exist);
  return proof;
}

ProofOps MakeQueryProofOps(std::string_view key, const CommitmentProof& in_store,
                           std::string_view store_name, const CommitmentProof& of_store) {
  ProofOps ops;
  ProofOp* op = ops.add_ops();
  op->set_type(kIavlOpType);
  op->set_key(std::string(key));
  op->set_data(in_store.SerializeAsString());
  op = ops.add_ops();
  op->set_type(kSimpleOpType);
  op->set_key(std::string(store_name));
  op->set_data(of_store.SerializeAsString());
  return ops;
}

absl::Status VerifyQueryProofOps(const ProofOps& ops, std::string_view app_hash,
                                 std::string_view store_name, std::string_view key,
                                 std::optional<std::string_view> value) {
  if (ops.ops_size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("answer with ", ops.ops_size(), " proof operations, not 2"));
  }
  CommitmentProof in_store;
  CommitmentProof of_store;
  absl::Status status = ParseOp(ops.ops(0), kIavlOpType, key, &in_store);
  if (status.ok()) status = ParseOp(ops.ops(1), kSimpleOpType, store_name, &of_store);
  if (!status.ok()) return status;

  const std::string& store_root = of_store.exist().value();
  status = VerifyMembership(TendermintSpec(), app_hash, of_store, store_name, store_root);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(kSimpleOpType, ": ", status.message()));
  }
  status = value ? VerifyMembership(IavlSpec(), store_root, in_store, key, *value)
                 : VerifyNonMembership(IavlSpec(), store_root, in_store, key);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(kIavlOpType, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::storage::ics23
