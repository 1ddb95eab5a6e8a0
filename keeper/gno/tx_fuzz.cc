// Decodes arbitrary bytes as a transaction; what is accepted has sign bytes and keys that can be
// read.

#include <cstdint>
#include <string>
#include <string_view>

#include "keeper/gno/describe.h"
#include "keeper/gno/tx.h"
#include "keeper/sdk/panic.h"
#include "nlohmann/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using blockreplay::keeper::gno::Msg;
  blockreplay::keeper::gno::Scratch scratch;
  blockreplay::keeper::gno::Tx tx;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  blockreplay::keeper::gno::DescribeTx(bytes);
  if (!tx.Decode(bytes, &scratch)) return 0;
  for (const Msg& msg : tx.msgs) {
    if (msg.type == Msg::Type::kNil || msg.type == Msg::Type::kVm) return 0;
  }
  std::string sign_bytes;
  tx.SignBytes("chain", 1, 2, &sign_bytes);
  if (!nlohmann::json::accept(sign_bytes)) __builtin_trap();
  for (const auto& signature : tx.signatures) {
    if (signature.pub_key.is_none()) continue;
    // The canonical form is a fixed point.
    const auto again =
        blockreplay::keeper::gno::PubKey::FromAny(signature.pub_key.any, 1, &scratch);
    if (!again.has_value() || *again != signature.pub_key) __builtin_trap();
    try {
      signature.pub_key.ToAddress();
      VerifySignature(signature.pub_key, sign_bytes, signature.signature);
    } catch (const blockreplay::keeper::sdk::Panic&) {
    }
  }
  return 0;
}
