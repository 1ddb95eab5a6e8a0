#include "storage/ics23/proof_spec.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::ics23 {
namespace {

constexpr int kMaxChildren = 256;
constexpr int32_t kMaxChildSize = 1024;
constexpr int32_t kMaxPrefixLength = 1 << 16;

ProofSpec MakeBinarySpec(int32_t child_size, int32_t min_prefix_length, int32_t max_prefix_length) {
  ProofSpec spec;
  LeafOp* leaf = spec.mutable_leaf_spec();
  leaf->set_hash(HashOp::SHA256);
  leaf->set_prehash_value(HashOp::SHA256);
  leaf->set_length(LengthOp::VAR_PROTO);
  leaf->set_prefix(std::string(1, '\0'));
  InnerSpec* inner = spec.mutable_inner_spec();
  inner->add_child_order(0);
  inner->add_child_order(1);
  inner->set_child_size(child_size);
  inner->set_min_prefix_length(min_prefix_length);
  inner->set_max_prefix_length(max_prefix_length);
  inner->set_hash(HashOp::SHA256);
  return spec;
}

}  // namespace

const ProofSpec& IavlSpec() {
  // A child is a hash behind its length byte; the prefix before the children is height, size and
  // version as varints.
  static const ProofSpec* const spec = new ProofSpec(MakeBinarySpec(33, 4, 12));
  return *spec;
}

const ProofSpec& TendermintSpec() {
  static const ProofSpec* const spec = new ProofSpec(MakeBinarySpec(32, 1, 1));
  return *spec;
}

absl::Status CheckSpec(const ProofSpec& spec) {
  if (!spec.has_leaf_spec() || !spec.has_inner_spec()) {
    return absl::InvalidArgumentError("proof spec lacks its leaf or inner spec");
  }
  const InnerSpec& inner = spec.inner_spec();
  const int children = inner.child_order_size();
  if (children < 1 || children > kMaxChildren) {
    return absl::InvalidArgumentError(
        absl::StrCat("proof spec with ", children, " children per node"));
  }
  std::vector<bool> seen(static_cast<size_t>(children), false);
  for (const int32_t branch : inner.child_order()) {
    if (branch < 0 || branch >= children || seen[static_cast<size_t>(branch)]) {
      return absl::InvalidArgumentError("child order of the proof spec is not a permutation");
    }
    seen[static_cast<size_t>(branch)] = true;
  }
  if (inner.child_size() < 1 || inner.child_size() > kMaxChildSize ||
      inner.min_prefix_length() < 0 || inner.max_prefix_length() < inner.min_prefix_length() ||
      inner.max_prefix_length() > kMaxPrefixLength || spec.max_depth() < 0 ||
      spec.min_depth() < 0) {
    return absl::InvalidArgumentError("proof spec with a size, length or depth out of range");
  }
  if (inner.max_prefix_length() >= inner.min_prefix_length() + inner.child_size()) {
    return absl::InvalidArgumentError(
        "proof spec whose prefix may be as long as a shorter prefix and a child: positions are "
        "ambiguous");
  }
  return absl::OkStatus();
}

bool IsIavlLike(const ProofSpec& spec) {
  // The same comparison as the Go implementation's: prefix, empty child and depths are left out of
  // it on purpose.
  const LeafOp& leaf = spec.leaf_spec();
  const LeafOp& iavl_leaf = IavlSpec().leaf_spec();
  const InnerSpec& inner = spec.inner_spec();
  const InnerSpec& iavl_inner = IavlSpec().inner_spec();
  return leaf.hash() == iavl_leaf.hash() && leaf.prehash_key() == iavl_leaf.prehash_key() &&
         leaf.prehash_value() == iavl_leaf.prehash_value() && leaf.length() == iavl_leaf.length() &&
         inner.hash() == iavl_inner.hash() &&
         inner.min_prefix_length() == iavl_inner.min_prefix_length() &&
         inner.max_prefix_length() == iavl_inner.max_prefix_length() &&
         inner.child_size() == iavl_inner.child_size() &&
         inner.child_order_size() == iavl_inner.child_order_size();
}

}  // namespace blockreplay::storage::ics23
