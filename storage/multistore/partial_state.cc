#include "storage/multistore/partial_state.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "storage/bptree/commit_info.h"
#include "storage/bptree/tree_copy.h"
#include "storage/bptree/tree_kinds.h"
#include "storage/iavl/partial_tree.h"
#include "storage/multistore/commit_info.h"

namespace blockreplay::storage {
namespace {

// Records are written whenever that many bytes have come together.
constexpr size_t kBatchBytes = size_t{4} << 20;
constexpr std::string_view kStoresPrefix = "s/k:";

// The version of the node that is at a database key; 0 if there is none.
int64_t NodeVersionAt(std::string_view key) {
  if (key.size() < iavl::kNodeKeySize || !key.starts_with(kStoresPrefix)) return 0;
  const std::string_view below = key.substr(key.size() - iavl::kNodeKeySize);
  // Store names have no slash, and what is below a prefix begins with a letter.
  if (below[0] != iavl::kNodePrefix || key[key.size() - iavl::kNodeKeySize - 1] != '/') return 0;
  return static_cast<int64_t>(iavl::GetBigEndian64(below.data() + 1));
}

std::string NodeKey(std::string_view store, int64_t version, uint32_t nonce) {
  std::string key = StorePrefix(store);
  key.append(iavl::ShortKey::Node(version, nonce).view());
  return key;
}

class PartialStateRestorer {
 public:
  PartialStateRestorer(Engine* engine, const PartialStateOptions& options)
      : engine_(engine), options_(options) {
    info_.version = options.version;
    info_.format = options.multistore.format;
  }

  absl::Status Add(const v1::PartialStateItem& item) {
    ++items_;
    absl::Status status;
    switch (item.item_case()) {
      case v1::PartialStateItem::kStore:
        status = StartStore(item.store().name());
        break;
      case v1::PartialStateItem::kNode: {
        const v1::PartialNode& node = item.node();
        status =
            AddToTree(iavl::PartialNode{.id = {.version = node.version(), .nonce = node.nonce()},
                                        .height = node.height(),
                                        .key = node.key(),
                                        .value = node.value()});
        break;
      }
      case v1::PartialStateItem::kOmitted:
        status = AddOmitted(item.omitted());
        break;
      case v1::PartialStateItem::kBptree:
        status = AddBptreeNode(item.bptree());
        break;
      case v1::PartialStateItem::ITEM_NOT_SET:
        status = absl::InvalidArgumentError("neither a store nor a node nor an omitted subtree");
        break;
    }
    if (!status.ok()) {
      return absl::DataLossError(
          absl::StrCat("partial state, item ", items_, ": ", status.message()));
    }
    return batch_.byte_size() < kBatchBytes ? absl::OkStatus() : WriteOut();
  }

  absl::Status Finish() {
    if (absl::Status s = FinishStore(); !s.ok()) return absl::DataLossError(s.message());
    for (const StoreSpec& spec : options_.multistore.stores) {
      if (info_.Find(spec.name) != nullptr) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("the partial state has no store ", spec.name));
    }
    const Hash app_hash = AppHash(info_);
    if (options_.expected_app_hash && app_hash != *options_.expected_app_hash) {
      return absl::DataLossError(absl::StrCat("the partial state of height ", info_.version,
                                              " has the app hash ", ToHex(app_hash), " instead of ",
                                              ToHex(*options_.expected_app_hash)));
    }
    batch_.Put(CommitInfoKey(info_.version), EncodeCommitInfo(info_));
    batch_.Put(kLatestKey, EncodeLatestVersion(info_.version, info_.format));
    return WriteOut();
  }

 private:
  absl::Status StartStore(const std::string& name) {
    if (absl::Status s = FinishStore(); !s.ok()) return s;
    if (name.empty() || name.find('/') != std::string::npos ||
        (!info_.stores.empty() && info_.stores.back().name >= name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("store name \"", name, "\" is empty, contains a slash or is out of order"));
    }
    const std::vector<StoreSpec>& stores = options_.multistore.stores;
    const auto spec = std::find_if(stores.begin(), stores.end(), [&](const StoreSpec& candidate) {
      return candidate.name == name;
    });
    if (spec == stores.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("store ", name, " is not among those to be opened"));
    }
    info_.stores.push_back({.name = name, .version = info_.version, .hash = {}});
    if (info_.format == CommitFormat::kTm2) {
      // The other kind of store has no tree, and no root.
      if (spec->kind == bptree::TreeStoreKind()) {
        bptree_.emplace(bptree::kSharedPrefix, info_.version);
      }
      return absl::OkStatus();
    }
    const bool fast_nodes =
        options_.multistore.persistence == Persistence::kEvery && options_.multistore.fast_nodes;
    tree_.emplace(StorePrefix(name), info_.version, fast_nodes);
    return absl::OkStatus();
  }

  template <typename Item>
  absl::Status AddToTree(const Item& item) {
    if (!tree_) return absl::InvalidArgumentError("a node of no store");
    return tree_->Add(item, &batch_);
  }

  absl::Status AddOmitted(const v1::OmittedSubtree& message) {
    iavl::OmittedSubtree omitted{.id = {.version = message.version(), .nonce = message.nonce()},
                                 .height = message.height(),
                                 .size = message.size(),
                                 .hash = {}};
    if (message.hash().size() != omitted.hash.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a hash of ", message.hash().size(), " bytes"));
    }
    std::copy(message.hash().begin(), message.hash().end(), omitted.hash.begin());
    return AddToTree(omitted);
  }

  absl::Status AddBptreeNode(const v1::BptreeNode& message) {
    if (!bptree_) return absl::InvalidArgumentError("a node of no B+ tree");
    bptree::CopiedNode node;
    node.record = {message.version(), message.nonce()};
    for (const v1::BptreeEntry& entry : message.entries()) {
      node.entries.push_back({entry.key(), entry.value(), {entry.version(), entry.nonce()}});
    }
    node.separators.assign(message.separators().begin(), message.separators().end());
    return bptree_->Add(node, &batch_);
  }

  absl::Status FinishStore() {
    if (bptree_) {
      absl::StatusOr<Hash> root = bptree_->Finish(&batch_);
      if (!root.ok()) return root.status();
      info_.stores.back().hash = *root;
      bptree_.reset();
    }
    if (!tree_) return absl::OkStatus();
    absl::StatusOr<Hash> root = tree_->Finish(&batch_);
    if (!root.ok()) return root.status();
    info_.stores.back().hash = *root;
    tree_.reset();
    return absl::OkStatus();
  }

  absl::Status WriteOut() {
    absl::Status status = engine_->Write(batch_, options_.multistore.durability);
    batch_.Clear();
    return status;
  }

  Engine* const engine_;
  const PartialStateOptions& options_;
  CommitInfo info_;
  // Of the last store in info_, one of them.
  std::optional<iavl::PartialTreeBuilder> tree_;
  std::optional<bptree::TreeRestorer> bptree_;
  WriteBatch batch_;
  uint64_t items_ = 0;
};

}  // namespace

bool NodeReadEngine::WasRead(std::string_view store, const iavl::NodeId& id) const {
  // A root may have been found where pruning moved it.
  return read_.contains(NodeKey(store, id.version, id.nonce)) ||
         (id.nonce <= iavl::kRootNonce &&
          read_.contains(NodeKey(store, id.version, iavl::kRootNonce - id.nonce)));
}

absl::StatusOr<bool> NodeReadEngine::Get(std::string_view key, std::string* value) const {
  absl::StatusOr<bool> found = engine_->Get(key, value);
  if (!found.ok() || !*found) return found;
  const int64_t version = NodeVersionAt(key);
  if (version > 0 && version <= last_version_) read_.emplace(key);
  return found;
}

absl::Status WritePartialState(
    const Reader* db, int64_t version,
    const std::function<bool(std::string_view store, const iavl::NodeId& id)>& wanted,
    const std::function<absl::Status(const v1::PartialStateItem&)>& sink) {
  absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db, version);
  if (!info.ok()) return info.status();
  if (info->format != CommitFormat::kSdk) {
    return absl::UnimplementedError("parts of a state are taken from IAVL trees only");
  }
  v1::PartialStateItem item;
  for (const StoreInfo& store : info->stores) {
    item.mutable_store()->set_name(store.name);
    absl::Status status = sink(item);
    if (!status.ok()) return status;
    status = iavl::VisitPartialTree(
        db, StorePrefix(store.name), version,
        [&](const iavl::NodeId& id) { return wanted(store.name, id); },
        [&](const iavl::PartialNode& node) {
          v1::PartialNode* const out = item.mutable_node();
          out->Clear();
          out->set_key(node.key.data(), node.key.size());
          if (node.height == 0) out->set_value(node.value.data(), node.value.size());
          out->set_version(node.id.version);
          out->set_height(node.height);
          out->set_nonce(node.id.nonce);
          return sink(item);
        },
        [&](const iavl::OmittedSubtree& omitted) {
          v1::OmittedSubtree* const out = item.mutable_omitted();
          out->set_hash(omitted.hash.data(), omitted.hash.size());
          out->set_version(omitted.id.version);
          out->set_nonce(omitted.id.nonce);
          out->set_height(omitted.height);
          out->set_size(omitted.size);
          return sink(item);
        });
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("store ", store.name, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteTm2State(const Reader* db, int64_t version,
                           const std::function<absl::Status(const v1::PartialStateItem&)>& sink) {
  absl::StatusOr<CommitInfo> info = ReadCommitInfo(*db, version);
  if (!info.ok()) return info.status();
  if (info->format != CommitFormat::kTm2) {
    return absl::InvalidArgumentError("not a database of tm2");
  }
  v1::PartialStateItem item;
  for (const StoreInfo& store : info->stores) {
    item.mutable_store()->set_name(store.name);
    absl::Status status = sink(item);
    if (!status.ok()) return status;
    if (store.hash == Hash{}) continue;
    status =
        bptree::VisitTree(*db, bptree::kSharedPrefix, version, [&](const bptree::CopiedNode& node) {
          v1::BptreeNode* const out = item.mutable_bptree();
          out->Clear();
          out->set_version(node.record.version);
          out->set_nonce(node.record.nonce);
          for (const bptree::CopiedEntry& entry : node.entries) {
            v1::BptreeEntry* const copied = out->add_entries();
            copied->set_key(std::string(entry.key));
            copied->set_value(std::string(entry.value));
            copied->set_version(entry.value_key.version);
            copied->set_nonce(entry.value_key.nonce);
          }
          for (const std::string_view separator : node.separators) {
            out->add_separators(std::string(separator));
          }
          return sink(item);
        });
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat("store ", store.name, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Multistore>> RestorePartialState(Engine* engine,
                                                                const PartialStateOptions& options,
                                                                const PartialStateSource& source) {
  absl::StatusOr<int64_t> latest = ReadLatestVersion(*engine);
  if (!latest.ok()) return latest.status();
  if (*latest != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot put a partial state into a database that is at version ", *latest));
  }
  PartialStateRestorer restorer(engine, options);
  for (;;) {
    absl::StatusOr<const v1::PartialStateItem*> item = source();
    if (!item.ok()) return item.status();
    if (*item == nullptr) break;
    if (absl::Status status = restorer.Add(**item); !status.ok()) return status;
  }
  if (absl::Status status = restorer.Finish(); !status.ok()) return status;
  return Multistore::Open(engine, options.multistore);
}

}  // namespace blockreplay::storage
