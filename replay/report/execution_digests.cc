#include "replay/report/execution_digests.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

// Lengths come first, so that no two sequences of events have the same bytes.
void AppendText(std::string* out, std::string_view text) {
  absl::StrAppend(out, text.size(), ":");
  out->append(text);
}

}  // namespace

void ExecutionDigester::Add(int64_t height, keeper::PhaseKind kind, int index,
                            const keeper::PhaseResult* result) {
  any_ = true;
  const bool tx = kind == keeper::PhaseKind::kTx;
  if (result == nullptr) {
    all_phases_ = false;
    if (tx) all_txs_ = false;
    return;
  }
  if (tx && all_txs_) {
    codes_.Update(absl::StrCat(height, " ", index, " ", result->code, " ",
                               std::string(result->codespace), "\n"));
    gas_.Update(
        absl::StrCat(height, " ", index, " ", result->gas_wanted, " ", result->gas_used, "\n"));
  }
  if (!all_phases_) return;
  std::string text = absl::StrCat(height, " ",
                                  tx                                       ? absl::StrCat(index)
                                  : kind == keeper::PhaseKind::kBeginBlock ? "begin"
                                                                           : "end",
                                  " ", result->events.size(), "\n");
  for (const keeper::sdk::Event& event : result->events) {
    AppendText(&text, event.type);
    absl::StrAppend(&text, event.attributes.size(), "\n");
    for (const keeper::sdk::Attribute& attribute : event.attributes) {
      AppendText(&text, attribute.key);
      AppendText(&text, attribute.value);
    }
  }
  events_.Update(text);
}

ExecutionDigests ExecutionDigester::Finish() {
  ExecutionDigests digests;
  if (any_ && all_txs_) {
    digests.codes = RawOf(codes_.Finish());
    digests.gas = RawOf(gas_.Finish());
  }
  if (any_ && all_phases_) digests.events = RawOf(events_.Finish());
  return digests;
}

}  // namespace blockreplay::replay
