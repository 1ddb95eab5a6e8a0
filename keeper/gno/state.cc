#include "keeper/gno/state.h"

#include <utility>

namespace blockreplay::keeper::gno {
namespace {

int64_t PerByte(int64_t cost, size_t size) { return cost * static_cast<int64_t>(size); }

}  // namespace

void BranchState::ForEachWithPrefix(
    std::string_view prefix, const std::function<void(std::string_view, std::string_view)>& visit) {
  for (sdk::StoreIterator it =
           branch_->NewIterator(storage::KeyRange::Prefix(prefix), storage::Direction::kForward);
       it.Valid(); it.Next()) {
    visit(it.key(), it.value());
  }
}

void TxState::Reset(BlockState* below) {
  below_ = below;
  entries_.clear();
  undo_.clear();
  has_checkpoint_ = false;
}

TxState::Entry* TxState::Find(std::string_view key) {
  for (Entry& entry : entries_) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::optional<std::string_view> TxState::Get(std::string_view key, const Payer& payer) {
  const Entry* entry = Find(key);
  if (entry == nullptr) {
    if (payer.meter != nullptr) payer.meter->Consume(payer.costs.get, "DepthReadFlat");
    const std::optional<std::string_view> value = below_->Get(key);
    if (payer.meter != nullptr) {
      payer.meter->Consume(PerByte(kReadCostPerByte, value.has_value() ? value->size() : 0),
                           "ReadPerByte");
    }
    entries_.push_back({.key = scratch_->Copy(key),
                        .value = value.value_or(std::string_view()),
                        .exists = value.has_value()});
    entry = &entries_.back();
  }
  if (!entry->exists) return std::nullopt;
  return entry->value;
}

// Charges for the last write of a key only: what an earlier one cost comes back first.
TxState::Entry* TxState::Write(std::string_view key, int64_t gas, const Payer& payer) {
  Entry* entry = Find(key);
  if (payer.meter != nullptr) {
    if (entry != nullptr) payer.meter->Refund(entry->charged);
    payer.meter->Consume(gas, "DepthSet");
  }
  if (entry == nullptr) {
    entries_.push_back({.key = scratch_->Copy(key), .value = {}});
    entry = &entries_.back();
  } else if (const auto index = static_cast<size_t>(entry - entries_.data());
             has_checkpoint_ && index < checkpoint_) {
    undo_.push_back({index, *entry});
  }
  if (payer.meter != nullptr) entry->charged = gas;
  entry->dirty = true;
  return entry;
}

void TxState::Set(std::string_view key, std::string_view value, const Payer& payer) {
  Entry* const entry =
      Write(key, payer.costs.set + PerByte(kWriteCostPerByte, value.size()), payer);
  entry->value = value;
  entry->exists = true;
}

void TxState::Delete(std::string_view key, const Payer& payer) {
  Entry* const entry = Write(key, payer.costs.set, payer);
  entry->value = {};
  entry->exists = false;
}

void TxState::ForEachWithPrefix(
    std::string_view prefix, const Payer& payer,
    const std::function<bool(std::string_view, std::string_view)>& visit) {
  std::map<std::string, std::string> merged;
  below_->ForEachWithPrefix(prefix, [&](std::string_view key, std::string_view value) {
    merged.insert_or_assign(std::string(key), std::string(value));
  });
  for (const Entry& entry : entries_) {
    if (!entry.dirty || entry.key.substr(0, prefix.size()) != prefix) continue;
    if (entry.exists) {
      merged.insert_or_assign(std::string(entry.key), std::string(entry.value));
    } else {
      merged.erase(std::string(entry.key));
    }
  }
  if (payer.meter != nullptr) payer.meter->Consume(kReadCostFlat, "ReadFlat");
  for (const auto& [key, value] : merged) {
    if (payer.meter != nullptr) {
      payer.meter->Consume(payer.costs.iterator_next, "IterNextFlat");
      payer.meter->Consume(PerByte(kReadCostPerByte, value.size()), "ValuePerByte");
    }
    if (!visit(key, value)) return;
  }
}

void TxState::Checkpoint() {
  checkpoint_ = entries_.size();
  has_checkpoint_ = true;
  undo_.clear();
}

void TxState::RevertToCheckpoint() {
  while (!undo_.empty()) {
    entries_[undo_.back().index] = undo_.back().entry;
    undo_.pop_back();
  }
  entries_.resize(checkpoint_);
  has_checkpoint_ = false;
}

void TxState::FlushAndForget() {
  Flush();
  Reset(below_);
}

void TxState::Flush() {
  for (const Entry& entry : entries_) {
    if (!entry.dirty) continue;
    if (entry.exists) {
      below_->Set(entry.key, entry.value);
    } else {
      below_->Delete(entry.key);
    }
  }
}

}  // namespace blockreplay::keeper::gno
