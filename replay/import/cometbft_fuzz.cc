// Input: which of a node's records it is (1 byte), then the record: a BlockMeta, a block of its
// parts, a response of any version, a genesis document. Each must be parsed or refused; what was a
// block must make a request.
#include <cstdint>
#include <string>

#include "replay/import/cometbft_block_store.h"
#include "replay/import/cometbft_state_store.h"
#include "replay/import/finalize_request.h"
#include "replay/import/genesis.h"
#include "replay/verify/header_hash.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blockreplay::replay;  // NOLINT(google-build-using-namespace)
  if (size < 1) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      (void)ParseBlockMeta(bytes, 5);
      break;
    case 1: {
      // Filed under its own hash, so that more than the parser is reached.
      tendermint::types::Block block;
      if (!block.ParseFromString(bytes)) break;
      tendermint::types::BlockMeta meta;
      const Sha256Digest hash = HeaderHash(block.header());
      meta.mutable_block_id()->set_hash(std::string(hash.begin(), hash.end()));
      const auto parsed = ParseBlock(bytes, meta);
      if (!parsed.ok()) __builtin_trap();
      tendermint::types::ValidatorSet validators;
      for (const auto& signature : parsed->last_commit().signatures()) {
        validators.add_validators()->set_address(signature.validator_address());
      }
      if (!BuildFinalizeRequest(*parsed, meta.block_id().hash(), &validators).ok()) {
        __builtin_trap();
      }
      (void)BuildFinalizeRequest(*parsed, meta.block_id().hash(), nullptr);
      break;
    }
    case 2:
      (void)ParseStoredResponse(bytes);
      break;
    default:
      (void)ParseGenesis(bytes, "genesis.json");
      break;
  }
  return 0;
}
