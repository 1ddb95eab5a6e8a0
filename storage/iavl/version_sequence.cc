#include "storage/iavl/version_sequence.h"

#include <cstring>
#include <utility>

#include "storage/iavl/disk_versions.h"
#include "storage/iavl/node_store.h"
#include "storage/iavl/traverse.h"
#include "storage/sha256.h"

namespace blockreplay::storage::iavl {

class VersionSequence::Impl {
 public:
  Impl(const Reader* db, std::string prefix) : store(db, std::move(prefix)) {
    anchor = store.NewAnchor();
  }
  ~Impl() { Drop(anchor); }

  // An anchor with the root of `version`, and its hash.
  absl::StatusOr<Inner*> Load(int64_t version, Hash* hash) {
    const absl::StatusOr<std::optional<NodeId>> root =
        DiskVersions(&store, /*leaves_nothing=*/false).Root(version);
    if (!root.ok()) return root.status();
    Inner* const loaded = store.NewAnchor();
    if (!root->has_value()) {
      *hash = Sha256({});
      return loaded;
    }
    NodeStore::SetStubRoot(loaded, **root);
    absl::Status status;
    if (store.Child(loaded, kLeft, &status) != nullptr) status = store.EnsureHash(loaded, kLeft);
    if (!status.ok()) {
      Drop(loaded);
      return status;
    }
    std::memcpy(hash->data(), loaded->hash(kLeft), kHashSize);
    return loaded;
  }
  void Drop(Inner* of) {
    store.ClearRoot(of);
    store.FreeShallow(of);
  }

  NodeStore store;
  Inner* anchor;
};

VersionSequence::VersionSequence(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VersionSequence::~VersionSequence() = default;

absl::StatusOr<std::unique_ptr<VersionSequence>> VersionSequence::Open(const Reader* db,
                                                                       std::string prefix,
                                                                       int64_t version) {
  std::unique_ptr<VersionSequence> sequence(
      new VersionSequence(std::make_unique<Impl>(db, std::move(prefix))));
  Impl* const impl = sequence->impl_.get();
  absl::StatusOr<Inner*> anchor = impl->Load(version, &sequence->hash_);
  if (!anchor.ok()) return anchor.status();
  impl->Drop(std::exchange(impl->anchor, *anchor));
  impl->store.persisted_version = version;
  return sequence;
}

absl::Status VersionSequence::Advance(int64_t version, const Visitor& visit) {
  Hash hash;
  absl::StatusOr<Inner*> next = impl_->Load(version, &hash);
  if (!next.ok()) return next.status();
  const absl::Status status =
      VisitDifferences(&impl_->store, impl_->anchor, &impl_->store, *next,
                       [&](std::string_view key, std::optional<std::string_view>,
                           std::optional<std::string_view> value) { return visit(key, value); });
  if (!status.ok()) {
    impl_->Drop(*next);
    return status;
  }
  impl_->Drop(std::exchange(impl_->anchor, *next));
  impl_->store.persisted_version = version;
  hash_ = hash;
  return absl::OkStatus();
}

absl::Status VersionSequence::VisitAll(const Visitor& visit) const {
  return VisitLeavesSince(
      &impl_->store, impl_->anchor, /*after=*/0,
      [&](std::string_view key, std::string_view value, int64_t) { return visit(key, value); });
}

size_t VersionSequence::memory_bytes() const { return impl_->store.live_bytes(); }

void VersionSequence::Trim(size_t bytes) { impl_->store.Sweep(impl_->anchor, bytes); }

}  // namespace blockreplay::storage::iavl
