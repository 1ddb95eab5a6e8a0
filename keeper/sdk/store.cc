#include "keeper/sdk/store.h"

#include <algorithm>
#include <atomic>

namespace blockreplay::keeper::sdk {
namespace {

uint64_t NewIdentity() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::optional<std::string_view> ReaderStore::Get(std::string_view key) {
  if (const auto found = read_.find(key); found != read_.end()) return found->second;
  absl::StatusOr<bool> exists = reader_->Get(key, &buffer_);
  if (!exists.ok()) throw StorageFailure(exists.status());
  std::optional<std::string_view> value;
  if (*exists) value = arena_.Copy(buffer_);
  read_.emplace(arena_.Copy(key), value);
  return value;
}

std::unique_ptr<storage::Iterator> ReaderStore::NewIterator(const storage::KeyRange& range,
                                                            storage::Direction direction) {
  return reader_->NewIterator(range, direction);
}

StoreIterator::StoreIterator(storage::Direction direction) : direction_(direction) {}
StoreIterator::StoreIterator(StoreIterator&&) noexcept = default;
StoreIterator& StoreIterator::operator=(StoreIterator&&) noexcept = default;
StoreIterator::~StoreIterator() = default;

// Finds the next key that is not deleted: the smallest (largest) over all layers, where the newest
// layer wins.
void StoreIterator::Settle() {
  const bool forward = direction_ == storage::Direction::kForward;
  while (true) {
    const bool base_valid = base_->Valid();
    if (!base_valid && !base_->status().ok()) throw StorageFailure(base_->status());
    const Entry* best = nullptr;
    for (const Layer& layer : layers_) {
      if (layer.position == layer.entries.size()) continue;
      const Entry& entry = layer.entries[layer.position];
      if (best == nullptr || (forward ? entry.key < best->key : entry.key > best->key))
        best = &entry;
    }
    if (best == nullptr) {
      valid_ = base_valid;
      from_base_ = base_valid;
      if (base_valid) {
        key_ = base_->key();
        value_ = base_->value();
      }
      return;
    }
    if (base_valid) {
      const std::string_view base_key = base_->key();
      if (forward ? base_key < best->key : base_key > best->key) {
        valid_ = true;
        from_base_ = true;
        key_ = base_key;
        value_ = base_->value();
        return;
      }
    }
    key_ = best->key;
    value_ = best->value;
    from_base_ = false;
    valid_ = true;
    if (!best->deleted) return;
    // Step over the deleted key in every layer.
    if (base_valid && base_->key() == key_) base_->Next();
    for (Layer& layer : layers_) {
      if (layer.position < layer.entries.size() && layer.entries[layer.position].key == key_)
        ++layer.position;
    }
  }
}

void StoreIterator::Next() {
  if (from_base_) {
    base_->Next();
  } else {
    const std::string_view key = key_;
    if (base_->Valid() && base_->key() == key) base_->Next();
    for (Layer& layer : layers_) {
      if (layer.position < layer.entries.size() && layer.entries[layer.position].key == key)
        ++layer.position;
    }
  }
  Settle();
}

std::optional<std::string_view> StoreBranch::Get(std::string_view key) const {
  const StoreBranch* branch = this;
  while (true) {
    if (!branch->operations_.empty()) {
      if (const auto found = branch->operations_.find(key); found != branch->operations_.end()) {
        if (found->second.deleted) return std::nullopt;
        return found->second.value;
      }
    }
    if (branch->parent_ == nullptr) return branch->base_->Get(key);
    branch = branch->parent_;
  }
}

bool StoreBranch::Has(std::string_view key) const {
  const StoreBranch* branch = this;
  while (true) {
    if (!branch->operations_.empty()) {
      if (const auto found = branch->operations_.find(key); found != branch->operations_.end()) {
        return !found->second.deleted;
      }
    }
    if (branch->parent_ == nullptr) return branch->base_->Has(key);
    branch = branch->parent_;
  }
}

void StoreBranch::Set(std::string_view key, std::string_view value) {
  const std::string_view copy = arena_->Copy(value);
  const auto found = operations_.find(key);
  if (found != operations_.end()) {
    found->second = {copy, false};
  } else {
    operations_.emplace(arena_->Copy(key), Operation{copy, false});
  }
}

void StoreBranch::Delete(std::string_view key) {
  const auto found = operations_.find(key);
  if (found != operations_.end()) {
    found->second = {{}, true};
  } else {
    operations_.emplace(arena_->Copy(key), Operation{{}, true});
  }
}

StoreIterator StoreBranch::NewIterator(const storage::KeyRange& range,
                                       storage::Direction direction) const {
  StoreIterator iterator(direction);
  const StoreBranch* branch = this;
  while (true) {
    auto it = branch->operations_.lower_bound(range.start);
    StoreIterator::Layer layer;
    for (; it != branch->operations_.end() && (!range.end || it->first < *range.end); ++it) {
      layer.entries.push_back({it->first, it->second.value, it->second.deleted});
    }
    if (!layer.entries.empty()) {
      if (direction == storage::Direction::kReverse)
        std::reverse(layer.entries.begin(), layer.entries.end());
      iterator.layers_.push_back(std::move(layer));
    }
    if (branch->parent_ == nullptr) break;
    branch = branch->parent_;
  }
  iterator.base_ = branch->base_->NewIterator(range, direction);
  iterator.Settle();
  return iterator;
}

// A branch without operations in the range adds nothing to what is below it. Operations are told
// apart by where their bytes are: those of a living branch are not moved or written over, and no
// other branch has its identity. The state at the bottom doesn't change, so the identity of the
// branch right above stands for it.
RangeStamp StoreBranch::StampOf(const storage::KeyRange& range) const {
  const auto address = [](std::string_view bytes) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(bytes.data()));
  };
  RangeStamp stamp;
  const StoreBranch* branch = this;
  while (true) {
    const size_t mark = stamp.size();
    for (auto it = branch->operations_.lower_bound(range.start);
         it != branch->operations_.end() && (!range.end || it->first < *range.end); ++it) {
      stamp.push_back(address(it->first));
      stamp.push_back(address(it->second.value));
      stamp.push_back(it->second.value.size());
    }
    if (const size_t added = stamp.size() - mark; added > 0) {
      stamp.push_back(added);
      stamp.push_back(branch->identity_);
    }
    if (branch->parent_ == nullptr) break;
    branch = branch->parent_;
  }
  stamp.push_back(branch->identity_);
  return stamp;
}

MultiStore::MultiStore(const std::vector<BaseStore*>& stores) : stores_(stores.size()) {
  const uint64_t identity = NewIdentity();
  for (size_t i = 0; i < stores.size(); ++i) {
    stores_[i].identity_ = identity;
    stores_[i].base_ = stores[i];
    stores_[i].arena_ = arena_.get();
  }
}

MultiStore::MultiStore(MultiStore* parent) : parent_(parent), stores_(parent->stores_.size()) {
  const uint64_t identity = NewIdentity();
  for (size_t i = 0; i < stores_.size(); ++i) {
    stores_[i].identity_ = identity;
    stores_[i].parent_ = &parent->stores_[i];
    stores_[i].arena_ = arena_.get();
  }
}

void MultiStore::Write() {
  for (StoreBranch& branch : stores_) {
    if (branch.operations_.empty()) continue;
    auto& to = branch.parent_->operations_;
    for (const auto& [key, operation] : branch.operations_) to.insert_or_assign(key, operation);
    branch.operations_.clear();
  }
  parent_->arena_->Adopt(std::move(*arena_));
}

void MultiStore::Discard() {
  for (StoreBranch& branch : stores_) branch.operations_.clear();
}

GasIterator::GasIterator(StoreIterator iterator, GasMeter* meter)
    : iterator_(std::move(iterator)), meter_(meter) {
  ConsumeSeek();
}

void GasIterator::Next() {
  ConsumeSeek();
  iterator_.Next();
}

// The SDK pays for the element it stands on when it moves on, and once more for the first when the
// iterator is made.
void GasIterator::ConsumeSeek() {
  if (iterator_.Valid()) {
    meter_->Consume(kReadCostPerByte * iterator_.key().size(), "ValuePerByte");
    meter_->Consume(kReadCostPerByte * iterator_.value().size(), "ValuePerByte");
  }
  meter_->Consume(kIterNextCostFlat, "IterNextFlat");
}

}  // namespace blockreplay::keeper::sdk
