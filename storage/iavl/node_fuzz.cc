// Records of nodes, and databases made of arbitrary records: whatever they say, reading and writing
// the tree must end in an error or a tree, and never in a crash or an endless loop.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage/iavl/codec.h"
#include "storage/iavl/tree.h"
#include "storage/kv/memory_engine.h"

namespace blockreplay::storage::iavl {
namespace {

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// What decodes must come back from its encoding.
void RoundTrip(std::string_view bytes) {
  NodeRecord record;
  if (DecodeNode(bytes, &record) == nullptr) {
    std::string encoded;
    if (record.height == 0) {
      EncodeLeaf(record.key, record.value, &encoded);
    } else {
      EncodeInner(record.height, record.size, record.key, record.hash.data(), record.child[0],
                  record.child[1], &encoded);
    }
    NodeRecord again;
    Require(DecodeNode(encoded, &again) == nullptr, "an encoded node does not decode");
    Require(again.height == record.height && again.size == record.size && again.key == record.key &&
                again.value == record.value && again.hash == record.hash,
            "a node changes when it is encoded");
    for (int i = 0; i < 2; ++i) {
      Require(again.child[i].version == record.child[i].version &&
                  again.child[i].nonce == record.child[i].nonce &&
                  again.child[i].legacy == record.child[i].legacy &&
                  again.child[i].hash == record.child[i].hash,
              "a child changes when its parent is encoded");
    }
  }
  (void)DecodeLegacyNode(bytes, &record);
  RootKind kind;
  NodeId target;
  (void)DecodeRoot(bytes, &kind, &target);
}

// Entries of one byte for the key's length, one for the value's, key, value. Node keys are written
// short: a letter, a version and a nonce of one byte each.
void Fill(std::string_view bytes, MemoryEngine* engine) {
  while (bytes.size() > 2) {
    const size_t key_size = static_cast<uint8_t>(bytes[0]);
    const size_t value_size = static_cast<uint8_t>(bytes[1]);
    bytes.remove_prefix(2);
    std::string key(bytes.substr(0, key_size));
    bytes.remove_prefix(std::min(bytes.size(), key_size));
    const std::string value(bytes.substr(0, value_size));
    bytes.remove_prefix(std::min(bytes.size(), value_size));
    if (key.size() == 3 && key[0] == kNodePrefix) {
      key = std::string(
          ShortKey::Node(static_cast<uint8_t>(key[1]), static_cast<uint8_t>(key[2])).view());
    }
    Require(engine->Set(key, value).ok(), "the memory engine failed");
  }
}

void Exercise(MemoryEngine* engine, const TreeOptions& options) {
  WriteBatch batch;
  auto loaded = Tree::Load(engine, "", options, 0, &batch);
  if (!loaded.ok()) return;
  Tree* tree = loaded->get();
  int limit = 200;
  const auto it = tree->NewIterator(KeyRange::All(), Direction::kReverse);
  while (it->Valid() && --limit > 0) it->Next();
  if (const auto view = tree->GetImmutable(tree->version()); view.ok()) {
    (void)(*view)->Export([&limit](const ExportNode&) {
      return ++limit < 400 ? absl::OkStatus() : absl::CancelledError("enough");
    });
    (void)(*view)->GetPath("b");
  }
  for (const char* key : {"a", "b", "bb", "c", "", "m"}) {
    if (!tree->Set(key, "v").ok() || !tree->Delete(key).ok() || !tree->Set(key, "w").ok()) return;
  }
  if (!tree->Commit(&batch).ok()) return;
  if (!tree->Flush(&batch).ok()) return;
  Require(engine->Write(batch, Durability::kProcessCrash).ok(), "the memory engine failed");
  batch.Clear();
  (void)tree->DeleteVersionsTo(tree->version() - 1, &batch);
  tree->Trim(0);
  (void)tree->Has("b");
}

}  // namespace
}  // namespace blockreplay::storage::iavl

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blockreplay::storage;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  iavl::RoundTrip(bytes);
  if (bytes.empty()) return 0;
  MemoryEngine engine;
  iavl::Fill(bytes.substr(1), &engine);
  iavl::TreeOptions options;
  const auto flags = static_cast<uint8_t>(bytes[0]);
  if ((flags & 1) != 0) {
    options.persist = iavl::Persist::kEvery;
    options.fast_nodes = (flags & 2) != 0;
  }
  options.copy_on_write = (flags & 4) != 0;
  iavl::Exercise(&engine, options);
  return 0;
}
