#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "keeper/thorchain/common/base58.h"
#include "keeper/thorchain/common/bech32.h"
#include "keeper/thorchain/common/cash_address.h"

namespace blockreplay::keeper::thorchain {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void Run(std::string_view text) {
  const absl::StatusOr<Bech32Text> decoded = DecodeBech32(text, kCosmosBech32MaxLength);
  if (decoded.ok()) {
    const std::string again = EncodeBech32(decoded->prefix, decoded->data, decoded->checksum);
    const absl::StatusOr<Bech32Text> twice = DecodeBech32(again, kCosmosBech32MaxLength);
    Check(twice.ok() && twice->prefix == decoded->prefix && twice->data == decoded->data &&
              twice->checksum == decoded->checksum,
          "what is encoded is decoded again");
  }
  const absl::StatusOr<CosmosBech32> cosmos = DecodeCosmosBech32(text);
  Check(!cosmos.ok() || decoded.ok(), "what the strict decoder takes the other takes too");
  for (const Base58Alphabet alphabet : {Base58Alphabet::kBitcoin, Base58Alphabet::kXrp}) {
    if (const std::optional<std::string> bytes = DecodeBase58(text, alphabet)) {
      Check(EncodeBase58(*bytes, alphabet) == text, "base58 has one form");
    }
    if (text.size() < 64) {
      const std::string encoded = EncodeBase58Check(std::string("v") + std::string(text), alphabet);
      Check(DecodeBase58Check(encoded, alphabet) == "v" + std::string(text),
            "what is encoded is decoded again");
    }
  }
  if (const std::optional<CashAddress> address = DecodeCashAddress(text, "bitcoincash")) {
    const std::string encoded = EncodeCashAddress(*address, "bitcoincash");
    const std::optional<CashAddress> again = DecodeCashAddress(encoded, "bitcoincash");
    Check(again && again->hash == address->hash && again->is_script == address->is_script,
          "what is encoded is decoded again");
  }
  if (text.size() < 256) {
    Check(GroupsToBytes(BytesToGroups(text)).value() == text, "regrouping is undone");
  }
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::keeper::thorchain::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
