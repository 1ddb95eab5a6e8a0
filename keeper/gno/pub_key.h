#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "keeper/gno/address.h"
#include "keeper/gno/scratch.h"

namespace blockreplay::keeper::gno {

// A public key (tm2/pkg/crypto) as the bytes of the Any that amino writes for it.
struct PubKey {
  enum class Kind : uint8_t {
    kNone,
    kSecp256k1,
    kEd25519,
    kMultisig,
    kMock,  // registered in the original, but no signature by it is ever accepted
  };

  Kind kind = Kind::kNone;
  std::string_view any;  // in canonical form

  // From an Any as amino decodes it, `depth` interfaces below the top; empty bytes are no key.
  // Bytes that are not in canonical form are rewritten in `scratch`.
  static std::optional<PubKey> FromAny(std::string_view bytes, int depth, Scratch* scratch);

  bool is_none() const { return kind == Kind::kNone; }
  // The key itself; not for multisig.
  std::string_view raw() const;
  // Throws sdk::Panic where the original panics.
  Address ToAddress() const;
  // Keys that sign, nested ones counted one by one.
  int CountSubKeys() const;
  // As amino JSON with sorted keys.
  void AppendJson(std::string* out) const;

  friend bool operator==(const PubKey&, const PubKey&) = default;
};

// What is in a multisig key.
struct MultisigKey {
  uint64_t threshold = 0;
  absl::InlinedVector<PubKey, 8> members;  // kNone where the original has a nil
  // Requires kind kMultisig.
  static MultisigKey From(const PubKey& key);
};

// What a multisig key takes as a signature.
struct Multisignature {
  uint64_t extra_bits = 0;
  std::string_view bits;  // most significant first
  absl::InlinedVector<std::string_view, 8> signatures;

  // Nothing where amino refuses.
  static std::optional<Multisignature> Parse(std::string_view bytes);
  // Number of members that it is for; negative for some malformed ones.
  int64_t size() const;
  // Requires i < size(). Throws sdk::Panic where the original reads past the end.
  bool Has(int64_t i) const;
};

// Whether the signature is one of the key's owner for the message: a pure function. Throws
// sdk::Panic where the original panics.
bool VerifySignature(const PubKey& key, std::string_view message, std::string_view signature);

}  // namespace blockreplay::keeper::gno
