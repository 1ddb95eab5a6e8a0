// Input: PartialStateItem messages, each behind its length as a varint. Restoring them must end in
// a multistore or in an error, and so must whatever is done with that multistore.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/bptree/tree_kinds.h"
#include "storage/iavl/codec.h"
#include "storage/kv/memory_engine.h"
#include "storage/multistore/partial_state.h"

namespace {

using namespace blockreplay;           // NOLINT(google-build-using-namespace)
using namespace blockreplay::storage;  // NOLINT(google-build-using-namespace)

constexpr int64_t kVersion = 100;
constexpr size_t kMaxKeys = 32;

struct Input {
  std::vector<v1::PartialStateItem> items;
  std::set<std::string> stores;
  bool tm2 = false;               // it has a node of a B+ tree
  std::vector<std::string> keys;  // of leaves
};

Input Parse(std::string_view bytes) {
  Input input;
  iavl::Decoder decoder(bytes);
  std::string_view message;
  while (decoder.ReadBytes(&message)) {
    v1::PartialStateItem& item = input.items.emplace_back();
    if (!item.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      input.items.pop_back();
      break;
    }
    if (item.has_store()) input.stores.insert(item.store().name());
    for (const v1::BptreeEntry& entry : item.bptree().entries()) {
      if (input.keys.size() < kMaxKeys) input.keys.push_back(entry.key());
    }
    input.tm2 = input.tm2 || item.has_bptree();
    if (item.has_node() && item.node().height() == 0 && input.keys.size() < kMaxKeys) {
      input.keys.push_back(item.node().key());
    }
  }
  return input;
}

void ReadAll(const Store& store) {
  std::string value;
  (void)store.Get("absent", &value).ok();
  const auto it = store.NewIterator(KeyRange::All(), Direction::kReverse);
  while (it->Valid()) it->Next();
}

// Errors are answers.
void Use(const Input& input, Multistore* multistore) {
  for (const std::string& name : multistore->store_names()) {
    Store* const store = multistore->store(name);
    ReadAll(*store);
    for (size_t i = 0; i < input.keys.size(); ++i) {
      const absl::Status status = i % 3 == 0   ? store->Delete(input.keys[i])
                                  : i % 3 == 1 ? store->Set(input.keys[i], "changed")
                                               : store->Set(input.keys[i] + "+", "new");
      // After an error from a write the version is to be given up.
      if (!status.ok()) {
        (void)multistore->Rollback();
        return;
      }
    }
  }
  if (!multistore->WorkingCommit({}).ok() || !multistore->Commit().ok()) return;
  (void)multistore->Close();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Input input = Parse({reinterpret_cast<const char*>(data), size});
  for (const Persistence persistence : {Persistence::kDeferred, Persistence::kEvery}) {
    PartialStateOptions options;
    options.multistore.persistence = persistence;
    if (input.tm2) {
      options.multistore.format = CommitFormat::kTm2;
      options.multistore.stores = {{"base", bptree::RawStoreKind()},
                                   {"main", bptree::TreeStoreKind()}};
    } else {
      for (const std::string& name : input.stores) options.multistore.stores.push_back({name});
    }
    options.version = kVersion;
    MemoryEngine engine;
    auto next = input.items.begin();
    const absl::StatusOr<std::unique_ptr<Multistore>> multistore =
        RestorePartialState(&engine, options, [&]() -> absl::StatusOr<const v1::PartialStateItem*> {
          return next == input.items.end() ? nullptr : &*next++;
        });
    if (!multistore.ok()) continue;
    if ((*multistore)->version() != kVersion) std::abort();
    Use(input, multistore->get());
  }
  return 0;
}
