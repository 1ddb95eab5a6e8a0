// The bytes are an RPC server's answer, taken for each kind of answer.
#include <cstdint>
#include <string>

#include "replay/import/formats/rpc_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  constexpr int64_t kHeight = 49;
  (void)blockreplay::replay::ParseRpcBlock(text, "answer", kHeight);
  (void)blockreplay::replay::ParseRpcCommit(text, "answer", kHeight);
  (void)blockreplay::replay::ParseRpcBlockResults(text, "answer", kHeight, {});
  tendermint::types::ValidatorSet validators;
  (void)blockreplay::replay::ParseRpcValidators(text, "answer", kHeight, &validators);
  (void)blockreplay::replay::ValidatorsHash(validators);
  (void)blockreplay::replay::ParseRpcStatus(text, "answer");
  return 0;
}
