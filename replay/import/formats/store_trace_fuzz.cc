// The bytes are the file of a node's --trace-store.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "replay/import/formats/fuzzed_file.h"
#include "replay/import/formats/store_trace.h"
#include "replay/import/formats/trace_transactions.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto reader =
      blockreplay::replay::StoreTraceReader::Open(blockreplay::replay::FuzzedFile(data, size));
  if (!reader.ok()) return 0;
  blockreplay::replay::StoreTraceBlocks blocks(*std::move(reader));
  blockreplay::v1::Block block;
  block.mutable_request()->add_txs("tx");
  block.mutable_response()->add_tx_results();
  for (;;) {
    const auto traced = blocks.Next();
    if (!traced.ok() || !traced->has_value()) return 0;
    (void)blockreplay::replay::TransactionsOfTrace(**traced, block);
  }
}
