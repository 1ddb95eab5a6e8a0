#include "replay/import/formats/store_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "replay/import/formats/input_file.h"

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;
using nlohmann::json;

// A value of a node in base64, twice over.
constexpr size_t kMaxLine = size_t{256} << 20;

const std::string* TextField(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

// An absent or null field is no bytes.
bool Base64Field(const json& object, const char* name, std::string* bytes) {
  bytes->clear();
  const std::string* text = TextField(object, name);
  return text != nullptr && absl::Base64Unescape(*text, bytes);
}

void SortByStore(std::vector<StoreKVPair>* writes) {
  std::stable_sort(writes->begin(), writes->end(), [](const StoreKVPair& a, const StoreKVPair& b) {
    return a.store_key() < b.store_key();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<StoreTraceReader>> StoreTraceReader::Open(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenInputFile(path);
  if (!source.ok()) return source.status();
  return std::unique_ptr<StoreTraceReader>(
      new StoreTraceReader(LineReader(*std::move(source), path, kMaxLine)));
}

absl::StatusOr<bool> StoreTraceReader::Next(TraceOperation* operation) {
  const absl::StatusOr<bool> more = lines_.Next(&line_);
  if (!more.ok() || !*more) return more;
  const json object = json::parse(line_, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    if (!lines_.line_ended()) return false;
    return lines_.Malformed(
        "it is no JSON object (two threads of the node may have written at once: leave queries "
        "away "
        "while tracing)");
  }
  const std::string* kind = TextField(object, "operation");
  const auto metadata = object.find("metadata");
  if (kind == nullptr || metadata == object.end() ||
      !(metadata->is_object() || metadata->is_null())) {
    return lines_.Malformed("it needs the text operation, and metadata: an object or null");
  }
  *operation = {};
  if (metadata->is_object()) {
    if (const std::string* store = TextField(*metadata, "store_name")) operation->store = *store;
    if (const std::string* hash = TextField(*metadata, "txHash")) operation->tx_hash = *hash;
    const auto label = metadata->find("blockHeight");
    if (label != metadata->end()) {
      if (!label->is_number_unsigned() || label->get<uint64_t>() > uint64_t{1} << 62) {
        return lines_.Malformed("blockHeight is no height");
      }
      operation->label = label->get<int64_t>();
    }
  }
  if (*kind == "read" || *kind == "iterKey" || *kind == "iterValue") return true;
  if (*kind != "write" && *kind != "delete") {
    return lines_.Malformed(absl::StrCat("operation is \"", kind->substr(0, 40),
                                         "\", not read, write, delete, iterKey or iterValue"));
  }
  operation->kind = *kind == "write" ? TraceOperation::Kind::kWrite : TraceOperation::Kind::kDelete;
  if (!Base64Field(object, "key", &operation->key) ||
      !Base64Field(object, "value", &operation->value)) {
    return lines_.Malformed("key and value must be base64");
  }
  return true;
}

std::vector<StoreKVPair> LastFlush(const TraceRun& run) {
  const std::vector<StoreKVPair>& writes = run.writes;
  std::vector<std::string_view> stores;  // of the flush, last to first
  size_t begin = writes.size();
  for (; begin > 0; --begin) {
    const StoreKVPair& write = writes[begin - 1];
    if (!stores.empty() && stores.back() == write.store_key()) {
      if (write.key() >= writes[begin].key()) break;
      continue;
    }
    if (std::find(stores.begin(), stores.end(), write.store_key()) != stores.end()) break;
    stores.push_back(write.store_key());
  }
  return {writes.begin() + static_cast<std::ptrdiff_t>(begin), writes.end()};
}

absl::Status StoreTraceBlocks::Add(TraceOperation operation) {
  if (operation.label == 0 && first_label_ != 0) {
    // No layer without label outlives the first commit.
    if (newest_label_ > first_label_) {
      return reader_->Malformed(absl::StrCat(
          "has no blockHeight, but ", newest_label_,
          " was met before: the node was restarted here; import what is before and what is behind "
          "from two files"));
    }
    operation.label = first_label_ - 1;
  } else if (operation.label != 0 && first_label_ == 0) {
    first_label_ = operation.label;
    if (auto unlabelled = labels_.extract(0); !unlabelled.empty()) {
      unlabelled_ = true;
      unlabelled.key() = first_label_ - 1;
      labels_.insert(std::move(unlabelled));
    }
  }
  if (operation.label < newest_label_ - 1) {
    // Of a query or check that began before the last commit; its writes reach no block.
    return absl::OkStatus();
  }
  newest_label_ = std::max(newest_label_, operation.label);
  Label& label = labels_[operation.label];
  if (operation.kind == TraceOperation::Kind::kRead) {
    label.last_was_read = true;
    return absl::OkStatus();
  }
  if (label.last_was_read || label.runs.back().tx_hash != operation.tx_hash) {
    label.runs.push_back({operation.tx_hash, {}});
  }
  label.last_was_read = false;
  StoreKVPair& write = label.runs.back().writes.emplace_back();
  write.set_store_key(std::move(operation.store));
  write.set_delete_(operation.kind == TraceOperation::Kind::kDelete);
  write.set_key(std::move(operation.key));
  write.set_value(std::move(operation.value));
  return absl::OkStatus();
}

absl::StatusOr<bool> StoreTraceBlocks::Fill() {
  // Which rule holds is seen when the first two blocks are committed for certain.
  while (!ended_ && (labels_.empty() || labels_.begin()->first >= newest_label_ - 1 ||
                     (!own_heights_.has_value() && newest_label_ < first_label_ + 2))) {
    TraceOperation operation;
    const absl::StatusOr<bool> more = reader_->Next(&operation);
    if (!more.ok()) return more.status();
    if (!*more) {
      ended_ = true;
    } else if (absl::Status status = Add(std::move(operation)); !status.ok()) {
      return status;
    }
  }
  // The newest label's own block may not be committed.
  return !labels_.empty() && labels_.begin()->first < newest_label_;
}

void StoreTraceBlocks::Decide() {
  const auto has_writes = [&](int64_t label) {
    const auto found = labels_.find(label);
    return found != labels_.end() &&
           std::any_of(found->second.runs.begin(), found->second.runs.end(),
                       [](const TraceRun& run) { return run.tx_hash.empty(); });
  };
  if (!unlabelled_ || !has_writes(first_label_ - 1)) {
    own_heights_ = true;
  } else if (first_label_ <= 2) {
    // From InitChain on. Label 1 shows up where something reads or writes after block 1.
    own_heights_ = first_label_ == 2 || !has_writes(1);
    unlabelled_height_ = 1;
  } else {
    own_heights_ = false;
    unlabelled_height_ = first_label_;
  }
}

absl::StatusOr<std::optional<TracedBlock>> StoreTraceBlocks::Next() {
  for (;;) {
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) return std::nullopt;
    if (!own_heights_.has_value()) Decide();
    auto node = labels_.extract(labels_.begin());
    TracedBlock block;
    if (unlabelled_ && node.key() == first_label_ - 1) {
      block.height = unlabelled_height_;
    } else {
      block.height = *own_heights_ ? node.key() : node.key() + 1;
    }
    if (block.height <= last_height_) continue;  // of the node's start, or label 1 after InitChain
    last_height_ = block.height;
    block.runs = std::move(node.mapped().runs);
    const auto commit = std::find_if(block.runs.rbegin(), block.runs.rend(),
                                     [](const TraceRun& run) { return run.tx_hash.empty(); });
    if (commit == block.runs.rend()) return block;  // a block that wrote nothing
    block.change_set = LastFlush(*commit);
    SortByStore(&block.change_set);
    block.runs.erase(std::prev(commit.base()), block.runs.end());
    return block;
  }
}

}  // namespace blockreplay::replay
