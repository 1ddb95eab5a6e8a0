#include "storage/ics23/verify.h"

#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "storage/ics23/proof_ops.h"

namespace blockreplay::storage::ics23 {
namespace {

// What the standard takes for "no limit".
constexpr int kDefaultMaxDepth = 128;

using Path = google::protobuf::RepeatedPtrField<InnerOp>;

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

// Reads a zig-zag varint off the front of `bytes`; false if there is none or it does not fit 64
// bits.
bool ReadZigZag(std::string_view* bytes, int64_t* value) {
  uint64_t raw = 0;
  for (int i = 0; i < 10; ++i) {
    if (bytes->empty()) return false;
    const auto byte = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    if (i == 9 && byte > 1) return false;
    raw |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
      return true;
    }
  }
  return false;
}

// An IAVL prefix is height, size and version; an inner node's goes on with the length byte of a
// left child, or with the whole left child and the length byte of the right one. A node `layer`
// steps above its leaf is at least that high. Without these checks an inner node could be passed
// off as a leaf, or the other way round.
absl::Status CheckIavlPrefix(std::string_view prefix, int layer) {
  int64_t height = 0;
  for (int i = 0; i < 3; ++i) {
    int64_t value = 0;
    if (!ReadZigZag(&prefix, &value) || value < 0) {
      return Invalid("prefix is not the height, size and version of an IAVL node");
    }
    if (i == 0) height = value;
  }
  if (height < layer) {
    return Invalid(
        absl::StrCat("IAVL node of height ", height, ", ", layer, " steps above its leaf"));
  }
  const size_t rest = prefix.size();
  if (layer == 0 ? rest != 0 : rest != 1 && rest != 34) {
    return Invalid(
        absl::StrCat("IAVL prefix with ", rest, " bytes after height, size and version"));
  }
  return absl::OkStatus();
}

absl::Status CheckLeaf(const ProofSpec& spec, const LeafOp& op) {
  const LeafOp& want = spec.leaf_spec();
  if (IsIavlLike(spec)) {
    absl::Status status = CheckIavlPrefix(op.prefix(), 0);
    if (!status.ok()) return status;
  }
  if (op.hash() != want.hash() || op.prehash_key() != want.prehash_key() ||
      op.prehash_value() != want.prehash_value() || op.length() != want.length()) {
    return Invalid("leaf operations differ from the spec's");
  }
  if (op.prefix().rfind(want.prefix(), 0) != 0) {
    return Invalid("leaf prefix does not start with the spec's");
  }
  return absl::OkStatus();
}

absl::Status CheckInner(const ProofSpec& spec, const InnerOp& op, int layer) {
  const InnerSpec& want = spec.inner_spec();
  if (op.hash() != want.hash())
    return Invalid("hash operation of an inner node differs from the spec's");
  if (IsIavlLike(spec)) {
    absl::Status status = CheckIavlPrefix(op.prefix(), layer);
    if (!status.ok()) return status;
  }
  if (op.prefix().rfind(spec.leaf_spec().prefix(), 0) == 0) {
    return Invalid("prefix of an inner node starts like a leaf's");
  }
  const auto child_size = static_cast<size_t>(want.child_size());
  const size_t max_left_children = static_cast<size_t>(want.child_order_size() - 1) * child_size;
  if (op.prefix().size() < static_cast<size_t>(want.min_prefix_length()) ||
      op.prefix().size() > static_cast<size_t>(want.max_prefix_length()) + max_left_children) {
    return Invalid(absl::StrCat("prefix of an inner node has ", op.prefix().size(), " bytes"));
  }
  if (op.suffix().size() % child_size != 0) {
    return Invalid(absl::StrCat("suffix of an inner node has ", op.suffix().size(), " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckShape(const ProofSpec& spec, const ExistenceProof& proof) {
  if (!proof.has_leaf()) return Invalid("existence proof without a leaf operation");
  absl::Status status = CheckLeaf(spec, proof.leaf());
  if (!status.ok()) return status;
  const int max_depth = spec.max_depth() == 0 ? kDefaultMaxDepth : spec.max_depth();
  if (proof.path_size() < spec.min_depth() || proof.path_size() > max_depth) {
    return Invalid(absl::StrCat("path of ", proof.path_size(), " inner nodes"));
  }
  int layer = 1;
  for (const InnerOp& op : proof.path()) {
    status = CheckInner(spec, op, layer++);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Calculate(const ExistenceProof& proof, const ProofSpec* spec) {
  if (!proof.has_leaf()) return Invalid("existence proof without a leaf operation");
  absl::StatusOr<std::string> hash = ApplyLeafOp(proof.leaf(), proof.key(), proof.value());
  for (const InnerOp& op : proof.path()) {
    if (!hash.ok()) return hash;
    hash = ApplyInnerOp(op, *hash);
    if (spec != nullptr && hash.ok() && spec->inner_spec().child_size() >= 32 &&
        hash->size() > static_cast<size_t>(spec->inner_spec().child_size())) {
      return Invalid("hash of an inner node is longer than a child may be");
    }
  }
  return hash;
}

absl::Status VerifyExistence(const ProofSpec& spec, std::string_view root,
                             const ExistenceProof& proof, std::string_view key,
                             std::string_view value) {
  absl::Status status = CheckShape(spec, proof);
  if (!status.ok()) return status;
  if (proof.key() != key) return Invalid("proof is for another key");
  if (proof.value() != value) return Invalid("proof is for another value");
  absl::StatusOr<std::string> calculated = Calculate(proof, &spec);
  if (!calculated.ok()) return calculated.status();
  if (*calculated != root) return Invalid("proof leads to another root");
  return absl::OkStatus();
}

// Where a child stands among its siblings, told from how much of the preimage is before and behind
// it.
struct Padding {
  size_t min_prefix = 0;
  size_t max_prefix = 0;
  size_t suffix = 0;

  bool Fits(const InnerOp& op) const {
    return op.prefix().size() >= min_prefix && op.prefix().size() <= max_prefix &&
           op.suffix().size() == suffix;
  }
};

// Requires a spec that CheckSpec accepts and 0 <= branch < number of children.
size_t PositionOf(const InnerSpec& spec, int branch) {
  int position = 0;
  while (spec.child_order(position) != branch) ++position;
  return static_cast<size_t>(position);
}

Padding PaddingOf(const InnerSpec& spec, int branch) {
  const size_t position = PositionOf(spec, branch);
  const auto child_size = static_cast<size_t>(spec.child_size());
  const size_t before = position * child_size;
  return {.min_prefix = before + static_cast<size_t>(spec.min_prefix_length()),
          .max_prefix = before + static_cast<size_t>(spec.max_prefix_length()),
          .suffix = (static_cast<size_t>(spec.child_order_size()) - 1 - position) * child_size};
}

std::optional<int> BranchOf(const InnerSpec& spec, const InnerOp& op) {
  for (int branch = 0; branch < spec.child_order_size(); ++branch) {
    if (PaddingOf(spec, branch).Fits(op)) return branch;
  }
  return std::nullopt;
}

bool AreEmptyChildren(const InnerSpec& spec, std::string_view bytes, size_t first_byte, int count) {
  const auto child_size = static_cast<size_t>(spec.child_size());
  for (int branch = 0; branch < count; ++branch) {
    const size_t from = first_byte + PositionOf(spec, branch) * child_size;
    if (from + child_size > bytes.size() || bytes.substr(from, child_size) != spec.empty_child()) {
      return false;
    }
  }
  return true;
}

bool LeftBranchesAreEmpty(const InnerSpec& spec, const InnerOp& op) {
  const std::optional<int> branch = BranchOf(spec, op);
  if (!branch || *branch == 0) return false;
  const size_t left_bytes = static_cast<size_t>(*branch) * static_cast<size_t>(spec.child_size());
  if (op.prefix().size() < left_bytes) return false;
  return AreEmptyChildren(spec, op.prefix(), op.prefix().size() - left_bytes, *branch);
}

bool RightBranchesAreEmpty(const InnerSpec& spec, const InnerOp& op) {
  const std::optional<int> branch = BranchOf(spec, op);
  if (!branch) return false;
  const int right = spec.child_order_size() - 1 - *branch;
  if (right == 0 ||
      op.suffix().size() != static_cast<size_t>(right) * static_cast<size_t>(spec.child_size())) {
    return false;
  }
  return AreEmptyChildren(spec, op.suffix(), 0, right);
}

// The two predicates look at the first `depth` steps of a path: those below the step where two
// paths part.
bool IsLeftMost(const InnerSpec& spec, const Path& path, int depth) {
  const Padding padding = PaddingOf(spec, 0);
  for (int i = 0; i < depth; ++i) {
    if (!padding.Fits(path[i]) && !LeftBranchesAreEmpty(spec, path[i])) return false;
  }
  return true;
}

bool IsRightMost(const InnerSpec& spec, const Path& path, int depth) {
  const Padding padding = PaddingOf(spec, spec.child_order_size() - 1);
  for (int i = 0; i < depth; ++i) {
    if (!padding.Fits(path[i]) && !RightBranchesAreEmpty(spec, path[i])) return false;
  }
  return true;
}

// Whether no leaf fits between two: from the root down their paths are the same, part into
// neighbouring children, and keep to the right and to the left from there.
bool AreNeighbours(const InnerSpec& spec, const Path& left, const Path& right) {
  int left_depth = left.size();
  int right_depth = right.size();
  while (left_depth > 0 && right_depth > 0 &&
         left[left_depth - 1].prefix() == right[right_depth - 1].prefix() &&
         left[left_depth - 1].suffix() == right[right_depth - 1].suffix()) {
    --left_depth;
    --right_depth;
  }
  if (left_depth == 0 || right_depth == 0) return false;
  const std::optional<int> left_branch = BranchOf(spec, left[left_depth - 1]);
  const std::optional<int> right_branch = BranchOf(spec, right[right_depth - 1]);
  if (!left_branch || !right_branch || *right_branch != *left_branch + 1) return false;
  return IsRightMost(spec, left, left_depth - 1) && IsLeftMost(spec, right, right_depth - 1);
}

absl::StatusOr<std::string> KeyForComparison(const ProofSpec& spec, std::string_view key) {
  if (!spec.prehash_key_before_comparison()) return std::string(key);
  return HashBytesOrNot(spec.leaf_spec().prehash_key(), key);
}

absl::Status VerifyAbsence(const ProofSpec& spec, std::string_view root,
                           const NonExistenceProof& proof, std::string_view key) {
  if (proof.key() != key) return Invalid("proof is for another key");
  if (!proof.has_left() && !proof.has_right()) {
    return Invalid(
        "non-existence proof without a neighbour proves nothing (an empty tree has no proofs)");
  }
  const absl::StatusOr<std::string> wanted = KeyForComparison(spec, key);
  if (!wanted.ok()) return wanted.status();
  for (const bool is_left : {true, false}) {
    if (is_left ? !proof.has_left() : !proof.has_right()) continue;
    const ExistenceProof& neighbour = is_left ? proof.left() : proof.right();
    absl::Status status =
        VerifyExistence(spec, root, neighbour, neighbour.key(), neighbour.value());
    if (!status.ok()) {
      return Invalid(absl::StrCat(is_left ? "left" : "right", " neighbour: ", status.message()));
    }
    const absl::StatusOr<std::string> bound = KeyForComparison(spec, neighbour.key());
    if (!bound.ok()) return bound.status();
    if (is_left ? *wanted <= *bound : *wanted >= *bound) {
      return Invalid(absl::StrCat("key is not to the ", is_left ? "right" : "left", " of the ",
                                  is_left ? "left" : "right", " neighbour"));
    }
  }
  const InnerSpec& inner = spec.inner_spec();
  if (!proof.has_left()) {
    if (IsLeftMost(inner, proof.right().path(), proof.right().path_size())) return absl::OkStatus();
    return Invalid("right neighbour is not the left-most leaf, and there is no left neighbour");
  }
  if (!proof.has_right()) {
    if (IsRightMost(inner, proof.left().path(), proof.left().path_size())) return absl::OkStatus();
    return Invalid("left neighbour is not the right-most leaf, and there is no right neighbour");
  }
  if (AreNeighbours(inner, proof.left().path(), proof.right().path())) return absl::OkStatus();
  return Invalid("the two leaves are not neighbours");
}

}  // namespace

absl::StatusOr<std::string> CalculateRoot(const ExistenceProof& proof) {
  return Calculate(proof, nullptr);
}

absl::Status VerifyMembership(const ProofSpec& spec, std::string_view root,
                              const CommitmentProof& proof, std::string_view key,
                              std::string_view value) {
  absl::Status status = CheckSpec(spec);
  if (!status.ok()) return status;
  if (!proof.has_exist()) return Invalid("not an existence proof");
  return VerifyExistence(spec, root, proof.exist(), key, value);
}

absl::Status VerifyNonMembership(const ProofSpec& spec, std::string_view root,
                                 const CommitmentProof& proof, std::string_view key) {
  absl::Status status = CheckSpec(spec);
  if (!status.ok()) return status;
  if (!proof.has_nonexist()) return Invalid("not a non-existence proof");
  return VerifyAbsence(spec, root, proof.nonexist(), key);
}

}  // namespace blockreplay::storage::ics23
