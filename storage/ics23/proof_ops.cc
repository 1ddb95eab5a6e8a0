#include "storage/ics23/proof_ops.h"

#include <openssl/evp.h>

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage::ics23 {
namespace {

absl::StatusOr<std::string> Digest(const EVP_MD* algorithm, std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest, &size, algorithm, nullptr) != 1) {
    return absl::InternalError("OpenSSL does not provide a hash function that a proof asks for");
  }
  return std::string(reinterpret_cast<const char*>(digest), size);
}

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendFixed(uint64_t value, int bytes, bool big_endian, std::string* out) {
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (big_endian ? bytes - 1 - i : i);
    out->push_back(static_cast<char>(value >> shift));
  }
}

absl::Status AppendWithLength(LengthOp op, std::string_view data, std::string* out) {
  switch (op) {
    case LengthOp::NO_PREFIX:
      break;
    case LengthOp::VAR_PROTO:
      AppendVarint(data.size(), out);
      break;
    case LengthOp::FIXED32_BIG:
    case LengthOp::FIXED32_LITTLE:
      AppendFixed(data.size(), 4, op == LengthOp::FIXED32_BIG, out);
      break;
    case LengthOp::FIXED64_BIG:
    case LengthOp::FIXED64_LITTLE:
      AppendFixed(data.size(), 8, op == LengthOp::FIXED64_BIG, out);
      break;
    case LengthOp::REQUIRE_32_BYTES:
    case LengthOp::REQUIRE_64_BYTES: {
      const size_t required = op == LengthOp::REQUIRE_32_BYTES ? 32 : 64;
      if (data.size() != required) {
        return absl::InvalidArgumentError(
            absl::StrCat("leaf data of ", data.size(), " bytes where ", required, " are required"));
      }
      break;
    }
    default:
      return absl::UnimplementedError(absl::StrCat("length operation ", static_cast<int>(op)));
  }
  out->append(data);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> HashBytes(HashOp op, std::string_view data) {
  switch (op) {
    case HashOp::SHA256:
      return Digest(EVP_sha256(), data);
    case HashOp::SHA512:
      return Digest(EVP_sha512(), data);
    case HashOp::SHA512_256:
      return Digest(EVP_sha512_256(), data);
    case HashOp::RIPEMD160:
      return Digest(EVP_ripemd160(), data);
    case HashOp::BITCOIN: {
      absl::StatusOr<std::string> sha = Digest(EVP_sha256(), data);
      if (!sha.ok()) return sha;
      return Digest(EVP_ripemd160(), *sha);
    }
    default:
      return absl::UnimplementedError(absl::StrCat("hash operation ", static_cast<int>(op)));
  }
}

absl::StatusOr<std::string> HashBytesOrNot(HashOp op, std::string_view data) {
  if (op == HashOp::NO_HASH) return std::string(data);
  return HashBytes(op, data);
}

absl::StatusOr<std::string> ApplyLeafOp(const LeafOp& op, std::string_view key,
                                        std::string_view value) {
  if (key.empty()) return absl::InvalidArgumentError("a leaf with an empty key cannot be proven");
  if (value.empty())
    return absl::InvalidArgumentError("a leaf with an empty value cannot be proven");
  absl::StatusOr<std::string> hashed_key = HashBytesOrNot(op.prehash_key(), key);
  if (!hashed_key.ok()) return hashed_key;
  absl::StatusOr<std::string> hashed_value = HashBytesOrNot(op.prehash_value(), value);
  if (!hashed_value.ok()) return hashed_value;

  std::string preimage = op.prefix();
  absl::Status status = AppendWithLength(op.length(), *hashed_key, &preimage);
  if (status.ok()) status = AppendWithLength(op.length(), *hashed_value, &preimage);
  if (!status.ok()) return status;
  return HashBytes(op.hash(), preimage);
}

absl::StatusOr<std::string> ApplyInnerOp(const InnerOp& op, std::string_view child) {
  if (child.empty())
    return absl::InvalidArgumentError("an inner node without the hash of its child");
  std::string preimage;
  preimage.reserve(op.prefix().size() + child.size() + op.suffix().size());
  preimage.append(op.prefix()).append(child).append(op.suffix());
  return HashBytes(op.hash(), preimage);
}

}  // namespace blockreplay::storage::ics23
