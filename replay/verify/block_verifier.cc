#include "replay/verify/block_verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/verify/printable.h"

namespace blockreplay::replay {
namespace {

constexpr int kKeysShown = 10;

// Empty for a store without a tree, which has no root, as in what the node records.
std::string RecordedRoot(const storage::Hash& hash) {
  return hash == storage::Hash{} ? std::string() : storage::ToRaw(hash);
}

// Both list the same stores with the same roots in the same order: so it nearly always is.
bool SameRoots(const cosmos::store::v1beta1::CommitInfo& expected,
               const storage::CommitInfo& actual) {
  if (static_cast<size_t>(expected.store_infos_size()) != actual.stores.size()) return false;
  for (size_t i = 0; i < actual.stores.size(); ++i) {
    const cosmos::store::v1beta1::StoreInfo& info = expected.store_infos(static_cast<int>(i));
    if (info.name() != actual.stores[i].name ||
        info.commit_id().hash() != RecordedRoot(actual.stores[i].hash)) {
      return false;
    }
  }
  return true;
}

std::vector<RootDifference> CompareRoots(const cosmos::store::v1beta1::CommitInfo& expected,
                                         const storage::CommitInfo& actual) {
  if (SameRoots(expected, actual)) return {};
  std::map<std::string, RootDifference> stores;
  for (const cosmos::store::v1beta1::StoreInfo& info : expected.store_infos()) {
    RootDifference& store = stores[info.name()];
    store.store = info.name();
    store.expected = info.commit_id().hash();
  }
  for (const storage::StoreInfo& info : actual.stores) {
    RootDifference& store = stores[info.name];
    store.store = info.name;
    store.actual = RecordedRoot(info.hash);
  }
  std::vector<RootDifference> differences;
  for (auto& [name, store] : stores) {
    if (store.expected != store.actual) differences.push_back(std::move(store));
  }
  return differences;
}

std::string HexOrAbsent(const std::string& hash) {
  return hash.empty() ? "(absent)" : absl::BytesToHexString(hash);
}

const char* Headline(MismatchKind kind) {
  switch (kind) {
    case MismatchKind::kAppHash:
      return "the app hash differs";
    case MismatchKind::kResponseAppHash:
      return "the app hash in the recorded response differs from ours (the block's own is equal)";
    case MismatchKind::kStoreRoot:
      return "a recorded store root differs from ours (the app hash is equal)";
    case MismatchKind::kHeaderAppHash:
      return "the app hash in the next block's header differs from ours (the block's own is equal)";
    case MismatchKind::kFinalAppHash:
      return "the app hash differs from final_app_hash in manifest.json";
    case MismatchKind::kNotRepeatable:
      return "the block is not deterministic: another execution from the same state gives another "
             "app hash";
  }
  return "";
}

void AppendKeys(const std::set<std::string>& stores, const v1::Block& block, std::string* text) {
  int shown = 0;
  int left_out = 0;
  for (const cosmos::store::v1beta1::StoreKVPair& write : block.change_set()) {
    if (!stores.contains(write.store_key())) continue;
    if (shown == kKeysShown) {
      ++left_out;
      continue;
    }
    if (shown == 0) absl::StrAppend(text, "  keys that the block wrote there:\n");
    ++shown;
    absl::StrAppend(text, "    ", write.store_key(), " ", write.delete_() ? "delete " : "set ",
                    Printable(write.key()));
    if (!write.delete_()) absl::StrAppend(text, " (", write.value().size(), " bytes)");
    absl::StrAppend(text, "\n");
  }
  if (left_out > 0) absl::StrAppend(text, "    … and ", left_out, " more\n");
}

}  // namespace

cosmos::store::v1beta1::CommitInfo RecordedCommitInfo(const storage::CommitInfo& info) {
  cosmos::store::v1beta1::CommitInfo message;
  message.set_version(info.version);
  for (const storage::StoreInfo& store : info.stores) {
    cosmos::store::v1beta1::StoreInfo* out = message.add_store_infos();
    out->set_name(store.name);
    cosmos::store::v1beta1::CommitID* id = out->mutable_commit_id();
    id->set_hash(RecordedRoot(store.hash));
    if (!id->hash().empty()) id->set_version(store.version);
  }
  if (info.format == storage::CommitFormat::kSdk) {
    message.mutable_timestamp()->set_seconds(info.time.seconds);
    message.mutable_timestamp()->set_nanos(info.time.nanos);
  }
  return message;
}

std::optional<AppHashMismatch> CompareAppHash(const v1::Block& block,
                                              const storage::CommitInfo& actual,
                                              const std::string& app_hash) {
  AppHashMismatch mismatch;
  mismatch.height = block.height();
  mismatch.actual = app_hash;
  mismatch.expected = block.app_hash();
  mismatch.has_recorded_roots = block.has_commit_info();
  if (block.has_commit_info()) mismatch.stores = CompareRoots(block.commit_info(), actual);
  if (mismatch.expected != mismatch.actual) {
    mismatch.kind = MismatchKind::kAppHash;
    return mismatch;
  }
  if (!mismatch.stores.empty()) {
    mismatch.kind = MismatchKind::kStoreRoot;
    return mismatch;
  }
  // A source that records no responses leaves it empty.
  if (!block.response().app_hash().empty() && block.response().app_hash() != mismatch.actual) {
    mismatch.kind = MismatchKind::kResponseAppHash;
    mismatch.expected = block.response().app_hash();
    return mismatch;
  }
  return std::nullopt;
}

std::optional<AppHashMismatch> CompareHeaderAppHash(const v1::Block& next_block,
                                                    const std::string& app_hash) {
  if (next_block.header().app_hash().empty() || next_block.header().app_hash() == app_hash) {
    return std::nullopt;
  }
  AppHashMismatch mismatch;
  mismatch.kind = MismatchKind::kHeaderAppHash;
  mismatch.height = next_block.height() - 1;
  mismatch.expected = next_block.header().app_hash();
  mismatch.actual = app_hash;
  return mismatch;
}

std::optional<ResultsMismatch> CompareResultsHash(const v1::Block& next_block, int64_t height,
                                                  const std::string& results_hash) {
  if (next_block.header().last_results_hash().empty() ||
      next_block.header().last_results_hash() == results_hash) {
    return std::nullopt;
  }
  return ResultsMismatch{height, next_block.header().last_results_hash(), results_hash};
}

std::string DescribeMismatch(const AppHashMismatch& mismatch, const v1::Block& block) {
  std::string text = absl::StrCat("block ", mismatch.height, ": ", Headline(mismatch.kind), "\n",
                                  "  expected ", HexOrAbsent(mismatch.expected), "\n",
                                  "  actual   ", HexOrAbsent(mismatch.actual), "\n");
  std::set<std::string> stores;
  if (!mismatch.stores.empty()) {
    absl::StrAppend(&text, "  stores that differ:\n");
    for (const RootDifference& store : mismatch.stores) {
      absl::StrAppend(&text, "    ", store.store, ": expected ", HexOrAbsent(store.expected),
                      ", actual ", HexOrAbsent(store.actual), "\n");
      stores.insert(store.store);
    }
  } else if (mismatch.has_recorded_roots) {
    absl::StrAppend(&text,
                    "  every store root equals the recorded one: it is the recorded app hash that "
                    "does not fit\n");
  } else if (mismatch.kind == MismatchKind::kAppHash) {
    absl::StrAppend(&text, "  the recording has no store roots, so the store is not known\n");
    for (const auto& write : block.change_set()) stores.insert(write.store_key());
  }
  AppendKeys(stores, block, &text);
  return text;
}

std::string DescribeMismatch(const ResultsMismatch& mismatch) {
  return absl::StrCat(
      "block ", mismatch.height,
      ": the results hash differs (code, data, gas wanted and gas used of the transactions; "
      "the app hash is another one, and is equal)\n  expected ",
      HexOrAbsent(mismatch.expected), " (last_results_hash in the header of block ",
      mismatch.height + 1, ")\n  actual   ", HexOrAbsent(mismatch.actual),
      " (of the recorded results)\n");
}

}  // namespace blockreplay::replay
