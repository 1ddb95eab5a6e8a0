#include "storage/branch.h"

#include <utility>

#include "absl/base/internal/raw_logging.h"

namespace blockreplay::storage {

// Merges the parent's iterator with the pending operations.
class BranchIterator final : public Iterator {
 public:
  BranchIterator(std::shared_ptr<Branch::Contents> contents, std::unique_ptr<Iterator> parent,
                 const KeyRange& range, Direction direction)
      : contents_(std::move(contents)), parent_(std::move(parent)), direction_(direction) {
    ++contents_->pins;
    const Branch::Pending& operations = contents_->operations;
    if (range.end && *range.end <= range.start) {
      first_ = last_ = operations.end();
    } else {
      first_ = operations.lower_bound(range.start);
      last_ = range.end ? operations.lower_bound(*range.end) : operations.end();
    }
    Settle();
  }
  ~BranchIterator() override { --contents_->pins; }
  BranchIterator(const BranchIterator&) = delete;
  BranchIterator& operator=(const BranchIterator&) = delete;

  bool Valid() const override { return at_ != Source::kNone; }
  void Next() override {
    ABSL_RAW_CHECK(Valid(), "Next() on an iterator that is not valid");
    if (at_ == Source::kParent) {
      parent_->Next();
    } else {
      PopOperation();
    }
    Settle();
  }
  std::string_view key() const override {
    return at_ == Source::kParent ? parent_->key() : std::string_view(Operation()->first);
  }
  std::string_view value() const override {
    return at_ == Source::kParent ? parent_->value() : std::string_view(*Operation()->second);
  }
  absl::Status status() const override { return parent_->status(); }

 private:
  using Position = Branch::Pending::const_iterator;
  enum class Source { kNone, kParent, kPending };

  // The next operation in our direction; there must be one.
  Position Operation() const {
    return direction_ == Direction::kForward ? first_ : std::prev(last_);
  }
  void PopOperation() {
    if (direction_ == Direction::kForward) {
      ++first_;
    } else {
      --last_;
    }
  }

  // Finds where the next element comes from, passing over deletes and what operations hide.
  void Settle() {
    for (;;) {
      const bool parent_valid = parent_->Valid();
      if (!parent_valid && !parent_->status().ok()) {
        at_ = Source::kNone;
        return;
      }
      if (first_ == last_) {
        at_ = parent_valid ? Source::kParent : Source::kNone;
        return;
      }
      const Position operation = Operation();
      if (parent_valid) {
        const int order = parent_->key().compare(operation->first);
        if (order == 0) {
          parent_->Next();
        } else if ((order < 0) == (direction_ == Direction::kForward)) {
          at_ = Source::kParent;
          return;
        }
      }
      // The operation comes before the parent's element, if that one was not the same key.
      if (operation->second) {
        at_ = Source::kPending;
        return;
      }
      PopOperation();
    }
  }

  std::shared_ptr<Branch::Contents> contents_;
  std::unique_ptr<Iterator> parent_;
  const Direction direction_;
  // Operations to come: [first_, last_).
  Position first_;
  Position last_;
  Source at_ = Source::kNone;
};

Branch::Branch(const Reader* parent) : parent_(parent), contents_(std::make_shared<Contents>()) {}

Branch::Pending& Branch::MutableOperations() {
  if (contents_->pins != 0) {
    auto copy = std::make_shared<Contents>();
    copy->operations = contents_->operations;
    contents_ = std::move(copy);
  }
  return contents_->operations;
}

absl::StatusOr<bool> Branch::Get(std::string_view key, std::string* value) const {
  const auto it = contents_->operations.find(key);
  if (it == contents_->operations.end()) return parent_->Get(key, value);
  if (!it->second) return false;
  *value = *it->second;
  return true;
}

absl::StatusOr<bool> Branch::Has(std::string_view key) const {
  const auto it = contents_->operations.find(key);
  if (it == contents_->operations.end()) return parent_->Has(key);
  return it->second.has_value();
}

std::unique_ptr<Iterator> Branch::NewIterator(const KeyRange& range, Direction direction) const {
  return std::make_unique<BranchIterator>(contents_, parent_->NewIterator(range, direction), range,
                                          direction);
}

absl::Status Branch::Set(std::string_view key, std::string_view value) {
  Pending& operations = MutableOperations();
  const auto it = operations.lower_bound(key);
  if (it != operations.end() && it->first == key) {
    if (it->second) {
      it->second->assign(value);
    } else {
      it->second.emplace(value);
    }
  } else {
    operations.emplace_hint(it, key, std::string(value));
  }
  return absl::OkStatus();
}

absl::Status Branch::Delete(std::string_view key) {
  Pending& operations = MutableOperations();
  const auto it = operations.lower_bound(key);
  if (it != operations.end() && it->first == key) {
    it->second.reset();
  } else {
    operations.emplace_hint(it, key, std::nullopt);
  }
  return absl::OkStatus();
}

absl::Status Branch::Flush(Store* into) {
  for (const auto& [key, value] : contents_->operations) {
    const absl::Status status = value ? into->Set(key, *value) : into->Delete(key);
    if (!status.ok()) return status;
  }
  Discard();
  return absl::OkStatus();
}

void Branch::Discard() {
  if (contents_->pins != 0) {
    contents_ = std::make_shared<Contents>();
  } else {
    contents_->operations.clear();
  }
}

}  // namespace blockreplay::storage
