// Bytes of a transaction through decoding, the ante chain and its messages, on an empty state.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "keeper/chain.h"
#include "keeper/thorchain/thorchain.h"
#include "storage/kv/memory_engine.h"

namespace keeper = blockreplay::keeper;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto* const chain = new std::unique_ptr<keeper::Chain>(
      *keeper::thorchain::NewThorchain({"thornode", "3.17.0", "mainnet", "thorchain-1", "", ""}));
  tendermint::abci::RequestFinalizeBlock request;
  request.set_height(1);
  request.add_txs(data, size);
  if (!(*chain)->StartBlock(request).ok()) return 0;
  blockreplay::storage::MemoryEngine engine;
  const size_t count = (*chain)->store_names().size();
  std::vector<std::unique_ptr<keeper::sdk::ReaderStore>> stores;
  std::vector<keeper::sdk::BaseStore*> bases;
  for (size_t i = 0; i < count; ++i) {
    stores.push_back(std::make_unique<keeper::sdk::ReaderStore>(&engine));
    bases.push_back(stores.back().get());
  }
  keeper::sdk::MultiStore state(bases);
  (void)(*chain)->DeliverTx(0, &state);
  (void)(*chain)->DescribeTx(request.txs(0));
  return 0;
}
