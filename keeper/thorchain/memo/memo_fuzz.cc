#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/memo/memo.h"

namespace blockreplay::keeper::thorchain {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Knows names that start with a letter up to m.
class Names : public MemoContext {
 public:
  bool THORNameExists(std::string_view name) override {
    return !name.empty() && name[0] >= 'a' && name[0] <= 'm';
  }
  absl::StatusOr<THORName> GetTHORName(std::string_view name) override {
    if (name.size() > 20) return Error("unreadable");
    THORName record;
    record.name = name;
    record.owner = AccAddress("owner of the name 20");
    record.aliases.push_back({chains::kTHOR, Address("alias")});
    return record;
  }
  int64_t GetConfigInt64(ConstantName) override { return 5; }
};

void Run(std::string_view text) {
  for (const Network* network : {&MainNet(), &MockNet()}) {
    Names names;
    const MemoResult result = ParseMemo(text, names, *network);
    (void)ParseMemoWithoutState(text, *network);
    (void)result.memo.ToShortString(*network);
    const std::string written = result.memo.ToString(*network);
    if (!result.ok()) continue;
    Check(!result.memo.IsEmpty(), "a parsed memo has a type");
    // What the node writes for outbounds is what it must understand when it is observed. Upper case
    // may have another length than other text than ASCII, as U+FFFD stands for bytes that are no
    // UTF-8, and is no hash any more then.
    if (IsAscii(text) && (result.memo.IsOutbound() || result.memo.type == TxType::kMigrate)) {
      const MemoResult again = ParseMemo(written, names, *network);
      Check(again.ok() && again.memo.type == result.memo.type, "a written memo is read again");
      Check(again.memo.ToString(*network) == written, "a written memo is stable");
    }
  }
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::keeper::thorchain::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
