// For tests: falsify_recording SOURCE TARGET EDIT HEIGHT [STORE] copies a recording with one thing
// in it changed, and a manifest that fits the result, so that only a replay can tell.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "replay/recording/test_recording.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

void FlipFirstBit(std::string* bytes) {
  if (bytes->empty()) {
    *bytes = "x";
  } else {
    bytes->front() = static_cast<char>(bytes->front() ^ 1);
  }
}

cosmos::store::v1beta1::StoreKVPair* FindWrite(v1::Block* block, const std::string& store,
                                               bool needs_value) {
  for (auto& write : *block->mutable_change_set()) {
    if (write.store_key() == store && !write.delete_() &&
        (!needs_value || !write.value().empty())) {
      return &write;
    }
  }
  std::fprintf(stderr, "no such write\n");
  std::exit(1);
}

bool Edit(const std::string& edit, const std::string& store, v1::Block* block) {
  if (edit == "value") {
    FlipFirstBit(FindWrite(block, store, true)->mutable_value());
  } else if (edit == "key") {
    // The last byte, so that the order of the keys mostly stays.
    std::string* key = FindWrite(block, store, false)->mutable_key();
    key->back() = static_cast<char>(key->back() ^ 1);
  } else if (edit == "set-to-delete") {
    FindWrite(block, store, false)->set_delete_(true);
  } else if (edit == "drop-write") {
    auto* writes = block->mutable_change_set();
    for (int i = 0; i < writes->size(); ++i) {
      if (writes->Get(i).store_key() != store || writes->Get(i).delete_()) continue;
      writes->DeleteSubrange(i, 1);
      return true;
    }
    return false;
  } else if (edit == "unknown-store") {
    FindWrite(block, store, false)->set_store_key("nosuchstore");
  } else if (edit == "app-hash") {
    FlipFirstBit(block->mutable_app_hash());
  } else if (edit == "response-app-hash") {
    FlipFirstBit(block->mutable_response()->mutable_app_hash());
  } else if (edit == "store-root") {
    for (auto& info : *block->mutable_commit_info()->mutable_store_infos()) {
      if (info.name() == store) FlipFirstBit(info.mutable_commit_id()->mutable_hash());
    }
  } else if (edit == "value-without-roots") {
    FlipFirstBit(FindWrite(block, store, true)->mutable_value());
    block->clear_commit_info();
  } else if (edit == "request-tx") {
    // The last byte of the memo, or of the signature before it.
    std::string* tx = block->mutable_request()->mutable_txs(0);
    tx->back() = static_cast<char>(tx->back() ^ 1);
  } else if (edit == "result-gas") {
    auto* result = block->mutable_response()->mutable_tx_results(0);
    result->set_gas_used(result->gas_used() + 1);
  } else if (edit == "result-code") {
    auto* result = block->mutable_response()->mutable_tx_results(0);
    result->set_code(result->code() + 1);
  } else if (edit == "result-data") {
    block->mutable_response()->mutable_tx_results(0)->mutable_data()->push_back('x');
  } else if (edit == "result-event") {
    auto* event = block->mutable_response()->mutable_tx_results(0)->mutable_events(0);
    FlipFirstBit(event->mutable_attributes(0)->mutable_value());
  } else if (edit != "none") {
    return false;
  }
  return true;
}

// The last write of genesis, the begin block or the first transaction: no later one of that phase
// covers it.
bool EditPhases(v1::Phase::Kind kind, v1::BlockPhases* phases) {
  for (v1::Phase& phase : *phases->mutable_phases()) {
    if (phase.kind() != kind || phase.tx_index() != 0 || phase.writes_size() == 0) continue;
    FlipFirstBit(phase.mutable_writes(phase.writes_size() - 1)->mutable_value());
    return true;
  }
  return false;
}

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: falsify_recording SOURCE TARGET EDIT HEIGHT [STORE]\n");
    return 1;
  }
  std::string edit = argv[3];
  const int64_t height = std::atoll(argv[4]);
  const std::string store = argc > 5 ? argv[5] : "";
  // "headers-<edit>": every block gets a header with the right hashes first.
  bool headers = false;
  if (edit.starts_with("headers-")) {
    headers = true;
    edit = edit.substr(8);
  }
  bool known = true;
  const bool in_phases = edit == "tx-write" || edit == "begin-write" || edit == "genesis-write";
  const v1::Phase::Kind kind = edit == "begin-write"     ? v1::Phase::BEGIN_BLOCK
                               : edit == "genesis-write" ? v1::Phase::INIT_CHAIN
                                                         : v1::Phase::TX;
  std::string last_results_hash;
  std::string last_app_hash;
  const auto edit_block = [&](v1::Block* block) {
    if (headers) {
      block->mutable_header()->set_height(block->height());
      block->mutable_header()->set_last_results_hash(last_results_hash);
      block->mutable_header()->set_app_hash(last_app_hash);
      const Sha256Digest digest = ResultsHash(block->response());
      last_results_hash.assign(digest.begin(), digest.end());
      last_app_hash = block->app_hash();
    }
    if (block->height() != height || in_phases) return;
    if (edit == "header-app-hash") {
      FlipFirstBit(block->mutable_header()->mutable_app_hash());
    } else if (edit == "header-results-hash") {
      FlipFirstBit(block->mutable_header()->mutable_last_results_hash());
    } else {
      known = Edit(edit, store, block);
    }
  };
  CopyRecording(argv[1], argv[2], edit_block, {}, [&](v1::BlockPhases* phases) {
    if (in_phases && phases->height() == height) known = EditPhases(kind, phases);
  });
  if (!known) std::fprintf(stderr, "cannot make this edit\n");
  return known ? 0 : 1;
}

}  // namespace
}  // namespace blockreplay::replay

int main(int argc, char** argv) { return blockreplay::replay::Main(argc, argv); }
