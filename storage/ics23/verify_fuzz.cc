// Input: which of the real proofs below is judged (1 byte), then a CommitmentProof. Decoding and
// verifying must not crash, and no other message than the real one may be accepted for its key,
// value and root.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "google/protobuf/util/message_differencer.h"
#include "storage/ics23/build.h"
#include "storage/ics23/verify.h"

namespace {

using namespace blockreplay::storage::ics23;  // NOLINT(google-build-using-namespace)

// From the trees "two" and "twenty" of fixtures/iavl/proof_vectors.json.
struct Real {
  const char* root;
  const char* key;
  const char* value;  // null: the key is absent
  const char* proof;
};
constexpr Real kReal[] = {
#include "storage/ics23/verify_fuzz_proofs.inc"
};

std::string FromHex(const char* hex) { return absl::HexStringToBytes(hex); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const Real& real = kReal[data[0] % std::size(kReal)];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CommitmentProof proof;
  if (!proof.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  CalculateRoot(proof.exist()).IgnoreError();
  const std::string root = FromHex(real.root);
  const std::string key = FromHex(real.key);
  VerifyMembership(TendermintSpec(), root, proof, key, "x").IgnoreError();
  const absl::Status status =
      real.value != nullptr ? VerifyMembership(IavlSpec(), root, proof, key, FromHex(real.value))
                            : VerifyNonMembership(IavlSpec(), root, proof, key);
  if (!status.ok()) return 0;
  CommitmentProof expected;
  if (!expected.ParseFromString(FromHex(real.proof))) std::abort();
  proof.DiscardUnknownFields();
  if (!google::protobuf::util::MessageDifferencer::Equals(proof, expected)) {
    std::fprintf(stderr, "accepted a forged proof\n");
    std::abort();
  }
  return 0;
}
