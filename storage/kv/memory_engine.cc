#include "storage/kv/memory_engine.h"

#include <mutex>
#include <utility>

#include "absl/base/internal/raw_logging.h"

namespace blockreplay::storage {

class MemoryIterator final : public Iterator {
 public:
  MemoryIterator(std::shared_ptr<MemoryEngine::Contents> contents, const KeyRange& range,
                 Direction direction)
      : contents_(std::move(contents)), direction_(direction) {
    const auto& map = contents_->map;
    if (range.end && *range.end <= range.start) {
      first_ = last_ = map.end();
    } else {
      first_ = map.lower_bound(range.start);
      last_ = range.end ? map.lower_bound(*range.end) : map.end();
    }
  }
  ~MemoryIterator() override { contents_->pins.fetch_sub(1, std::memory_order_release); }
  MemoryIterator(const MemoryIterator&) = delete;
  MemoryIterator& operator=(const MemoryIterator&) = delete;

  bool Valid() const override { return first_ != last_; }
  void Next() override {
    ABSL_RAW_CHECK(Valid(), "Next() on an iterator that is not valid");
    if (direction_ == Direction::kForward) {
      ++first_;
    } else {
      --last_;
    }
  }
  std::string_view key() const override { return Current()->first; }
  std::string_view value() const override { return Current()->second; }
  absl::Status status() const override { return absl::OkStatus(); }

 private:
  using Position = MemoryEngine::Map::const_iterator;

  Position Current() const { return direction_ == Direction::kForward ? first_ : std::prev(last_); }

  std::shared_ptr<MemoryEngine::Contents> contents_;
  Direction direction_;
  // What is left to visit: [first_, last_).
  Position first_;
  Position last_;
};

MemoryEngine::MemoryEngine() : contents_(std::make_shared<Contents>()) {}

MemoryEngine::Map& MemoryEngine::MutableMap() {
  if (contents_->pins.load(std::memory_order_acquire) != 0) {
    auto copy = std::make_shared<Contents>();
    copy->map = contents_->map;
    contents_ = std::move(copy);
  }
  return contents_->map;
}

absl::StatusOr<bool> MemoryEngine::Get(std::string_view key, std::string* value) const {
  std::shared_lock lock(mutex_);
  const auto it = contents_->map.find(key);
  if (it == contents_->map.end()) return false;
  *value = it->second;
  return true;
}

absl::StatusOr<bool> MemoryEngine::Has(std::string_view key) const {
  std::shared_lock lock(mutex_);
  return contents_->map.contains(key);
}

std::unique_ptr<Iterator> MemoryEngine::NewIterator(const KeyRange& range,
                                                    Direction direction) const {
  std::shared_lock lock(mutex_);
  contents_->pins.fetch_add(1, std::memory_order_relaxed);
  return std::make_unique<MemoryIterator>(contents_, range, direction);
}

absl::Status MemoryEngine::Set(std::string_view key, std::string_view value) {
  std::unique_lock lock(mutex_);
  MutableMap()[std::string(key)] = std::string(value);
  return absl::OkStatus();
}

absl::Status MemoryEngine::Delete(std::string_view key) {
  std::unique_lock lock(mutex_);
  MutableMap().erase(key);
  return absl::OkStatus();
}

absl::Status MemoryEngine::Write(const WriteBatch& batch, Durability /*durability*/) {
  std::unique_lock lock(mutex_);
  Map& map = MutableMap();
  batch.ForEach([&map](WriteBatch::Op op, std::string_view key, std::string_view value) {
    switch (op) {
      case WriteBatch::Op::kPut:
        map[std::string(key)] = std::string(value);
        break;
      case WriteBatch::Op::kDelete:
        map.erase(key);
        break;
      case WriteBatch::Op::kDeleteRange:
        if (key < value) map.erase(map.lower_bound(key), map.lower_bound(value));
        break;
    }
  });
  return absl::OkStatus();
}

Engine::Stats MemoryEngine::stats() const {
  std::shared_lock lock(mutex_);
  Stats stats;
  for (const auto& [key, value] : contents_->map) stats.memory_bytes += key.size() + value.size();
  return stats;
}

}  // namespace blockreplay::storage
