// The bytes are the file of a node's --trace-store.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "replay/import/formats/store_trace.h"
#include "replay/import/formats/trace_transactions.h"
#include "replay/recording/test_recording.h"

namespace {

const blockreplay::replay::TemporaryDir& Folder() {
  static const auto* folder = new blockreplay::replay::TemporaryDir;
  static const int registered = std::atexit([] { delete folder; });
  (void)registered;
  return *folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = Folder().Path("trace.jsonl");
  blockreplay::replay::WriteBytes(path, std::string(reinterpret_cast<const char*>(data), size));
  auto reader = blockreplay::replay::StoreTraceReader::Open(path);
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
