#include "replay/report/results_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {
namespace {

using nlohmann::ordered_json;

constexpr size_t kBufferSize = size_t{1} << 20;

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

// Bytes that are not plain ASCII go as hex, so that different ones never look the same.
ordered_json Text(const std::string& text) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? ordered_json(text) : ordered_json{{"hex", Hex(text)}};
}

const char* PhaseName(keeper::PhaseKind kind) {
  switch (kind) {
    case keeper::PhaseKind::kInitChain:
      return "init_chain";
    case keeper::PhaseKind::kBeginBlock:
      return "begin_block";
    case keeper::PhaseKind::kTx:
      return "tx";
    case keeper::PhaseKind::kEndBlock:
      return "end_block";
  }
  return "";
}

}  // namespace

std::string ResultLine(int64_t height, keeper::PhaseKind kind, int index, const std::string& name,
                       const keeper::PhaseResult* result) {
  const bool tx = kind == keeper::PhaseKind::kTx;
  ordered_json line = {{"height", height}, {"phase", PhaseName(kind)}};
  if (tx) {
    line["index"] = index;
    line["kind"] = Text(name);
  }
  line["native"] = result != nullptr;
  if (result != nullptr) {
    if (tx) {
      line["code"] = result->code;
      line["codespace"] = Text(result->codespace);
      line["gas_wanted"] = result->gas_wanted;
      line["gas_used"] = result->gas_used;
      line["data"] = Hex(result->data);
    }
    ordered_json events = ordered_json::array();
    for (const keeper::sdk::Event& event : result->events) {
      ordered_json attributes = ordered_json::array();
      for (const keeper::sdk::Attribute& attribute : event.attributes) {
        attributes.push_back(ordered_json::array({Text(attribute.key), Text(attribute.value)}));
      }
      events.push_back({{"type", Text(event.type)}, {"attributes", std::move(attributes)}});
    }
    line["events"] = std::move(events);
    ordered_json updates = ordered_json::array();
    for (const tendermint::abci::ValidatorUpdate& update : result->validator_updates) {
      updates.push_back(Hex(update.SerializeAsString()));
    }
    if (!updates.empty()) line["validator_updates"] = std::move(updates);
  }
  return line.dump() + "\n";
}

absl::StatusOr<ResultsFile> ResultsFile::Create(const std::string& path) {
  absl::StatusOr<OutputFile> file = OutputFile::Create(path + ".tmp");
  if (!file.ok()) return file.status();
  return ResultsFile(*std::move(file), path);
}

void ResultsFile::Append(const std::string& line) {
  buffer_ += line;
  if (buffer_.size() < kBufferSize) return;
  if (status_.ok()) status_ = file_.Write(buffer_);
  buffer_.clear();
}

absl::Status ResultsFile::Finish() {
  if (status_.ok()) status_ = file_.Write(buffer_);
  if (status_.ok()) status_ = file_.Close();
  if (!status_.ok()) return status_;
  if (std::rename(file_.path().c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, "rename a temporary file to", path_);
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
