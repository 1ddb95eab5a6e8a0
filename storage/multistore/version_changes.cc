#include "storage/multistore/version_changes.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace blockreplay::storage {
namespace {

absl::Status Annotate(const std::string& store, int64_t version, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("store ", store, ", version ", version, ": ", status.message()));
}

absl::Status CheckHash(const iavl::VersionSequence& tree, const StoreInfo& info) {
  if (tree.hash() == info.hash) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the tree's hash is ", ToHex(tree.hash()),
                                          ", the commit info's ", ToHex(info.hash)));
}

}  // namespace

VersionChanges::VersionChanges(const Reader* db, CommitInfo info, size_t memory_bytes)
    : reader_(db, NodeReader::Walk::kNewVersion),
      memory_bytes_(memory_bytes),
      info_(std::move(info)) {}

absl::Status VersionChanges::Advance(CommitInfo info, const Visitor& visit) {
  for (const StoreInfo& after : info.stores) {
    const StoreInfo* const before = info_.Find(after.name);
    if (before != nullptr && before->hash == after.hash) continue;
    if (absl::Status status = AdvanceStore(before, after, info, visit); !status.ok()) {
      return Annotate(after.name, info.version, status);
    }
  }
  info_ = std::move(info);
  Trim();
  return absl::OkStatus();
}

absl::Status VersionChanges::AdvanceStore(const StoreInfo* before, const StoreInfo& after,
                                          const CommitInfo& info, const Visitor& visit) {
  const auto visit_key = [&](std::string_view key, std::optional<std::string_view> value) {
    return visit(after.name, key, value);
  };
  std::unique_ptr<iavl::VersionSequence>& tree = sequences_[after.name];
  if (tree == nullptr || before == nullptr) {
    absl::StatusOr<std::unique_ptr<iavl::VersionSequence>> opened = iavl::VersionSequence::Open(
        &reader_, StorePrefix(after.name), before == nullptr ? info.version : info_.version);
    if (!opened.ok()) return opened.status();
    tree = *std::move(opened);
    if (absl::Status status = CheckHash(*tree, before == nullptr ? after : *before); !status.ok()) {
      return status;
    }
    if (before == nullptr) return tree->VisitAll(visit_key);
  }
  if (absl::Status status = tree->Advance(info.version, visit_key); !status.ok()) return status;
  return CheckHash(*tree, after);
}

void VersionChanges::Trim() {
  size_t total = 0;
  for (const auto& [store, tree] : sequences_) total += tree->memory_bytes();
  if (total <= memory_bytes_) return;
  // Somewhat below, so that it is not each version's turn.
  const double share = 0.875 * static_cast<double>(memory_bytes_) / static_cast<double>(total);
  for (const auto& [store, tree] : sequences_) {
    tree->Trim(static_cast<size_t>(share * static_cast<double>(tree->memory_bytes())));
  }
}

}  // namespace blockreplay::storage
