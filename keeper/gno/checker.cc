#include "keeper/gno/checker.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>

namespace blockreplay::keeper::gno {
namespace {

constexpr size_t kBatchSize = 256;

}  // namespace

void CheckState::Reset(sdk::BaseStore* base) {
  base_ = base;
  written_.clear();
  memory_.Reset();
}

std::optional<std::string_view> CheckState::Get(std::string_view key) {
  const auto found = written_.find(key);
  if (found == written_.end()) return base_->Get(key);
  if (!found->second.exists) return std::nullopt;
  return std::string_view(found->second.data, found->second.size);
}

CheckState::Value* CheckState::Slot(std::string_view key) {
  const auto found = written_.find(key);
  if (found != written_.end()) return &found->second;
  return &written_.emplace(memory_.Copy(key), Value()).first->second;
}

void CheckState::Set(std::string_view key, std::string_view value) {
  Value* const slot = Slot(key);
  if (value.size() > slot->capacity) {
    // A little more than needed: a growing sequence or balance fits in place.
    slot->capacity = value.size() + 16;
    slot->data = memory_.Allocate(slot->capacity);
  }
  if (!value.empty()) std::memmove(slot->data, value.data(), value.size());
  slot->size = value.size();
  slot->exists = true;
}

void CheckState::Delete(std::string_view key) { Slot(key)->exists = false; }

void CheckState::ForEachWithPrefix(
    std::string_view prefix, const std::function<void(std::string_view, std::string_view)>& visit) {
  std::map<std::string_view, const Value*> changed;
  for (const auto& [key, value] : written_) {
    if (key.substr(0, prefix.size()) == prefix) changed.emplace(key, &value);
  }
  const auto emit = [&](const std::pair<const std::string_view, const Value*>& item) {
    if (item.second->exists) visit(item.first, {item.second->data, item.second->size});
  };
  auto next = changed.begin();
  for (const auto it =
           base_->NewIterator(storage::KeyRange::Prefix(prefix), storage::Direction::kForward);
       it->Valid(); it->Next()) {
    for (; next != changed.end() && next->first < it->key(); ++next) emit(*next);
    if (next != changed.end() && next->first == it->key()) {
      emit(*next++);
    } else {
      visit(it->key(), it->value());
    }
  }
  for (; next != changed.end(); ++next) emit(*next);
}

Checker::Checker(const CheckOptions& options, storage::WorkerPool* workers)
    : options_(options), runner_(options.rules) {
  if (options_.signature_cache > 0) signatures_.emplace(options_.signature_cache);
  if (workers != nullptr) {
    batch_.emplace(workers, signatures_.has_value() ? &*signatures_ : nullptr);
  }
}

void Checker::Committed(const CommittedBlock& block, sdk::BaseStore* main) {
  block_ = block;
  main_ = main;
  state_.Reset(main);
  memo_.Invalidate();
  meter_ = GasMeter::Infinite();
  Announce({});
}

void Checker::Announce(const std::vector<std::string_view>& txs) {
  announced_ = txs;
  next_announced_ = 0;
  batch_end_ = 0;
}

TxEnvironment Checker::Environment(Mode mode) {
  return {.mode = mode,
          .chain_id = block_.chain_id,
          .height = block_.height,
          .time = block_.time,
          .max_gas = block_.max_gas,
          .estimated_depth = EstimatedDepth(block_.keys),
          .state = &state_,
          .shared_meter = &meter_,
          .memo = options_.memo_params ? &memo_ : nullptr,
          .memo_fee_collector = options_.memo_fee_collector,
          .signatures = signatures_.has_value() ? &*signatures_ : nullptr};
}

TxResult Checker::Check(std::string_view tx) {
  TxEnvironment environment = Environment(Mode::kCheck);
  if (batch_.has_value() && next_announced_ < announced_.size()) {
    if (next_announced_ == batch_end_) {
      // Not all at once: a guess is the better the less is open before it.
      batch_end_ = std::min(announced_.size(), batch_end_ + kBatchSize);
      const std::span<const std::string_view> all(announced_);
      const auto batch = all.subspan(next_announced_, batch_end_ - next_announced_);
      batch_->Prepare({batch.begin(), batch.end()}, block_.chain_id, &state_);
    }
    ++next_announced_;
    batch_->StartTx(tx);
    environment.signatures = &*batch_;
  }
  return runner_.Run(tx, environment);
}

TxResult Checker::Simulate(std::string_view tx) {
  CheckState state;
  state.Reset(main_);
  GasMeter meter = GasMeter::Infinite();
  TxEnvironment environment = Environment(Mode::kSimulate);
  environment.state = &state;
  environment.shared_meter = &meter;
  return runner_.Run(tx, environment);
}

}  // namespace blockreplay::keeper::gno
