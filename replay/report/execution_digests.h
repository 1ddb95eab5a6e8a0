#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "keeper/chain.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {

// SHA-256 over what native code answered, raw; docs/reports.md describes the bytes. Two runs over
// the same blocks can be compared by them.
struct ExecutionDigests {
  // Null where a phase that it is of was not executed natively, or none was.
  std::optional<std::string> codes;   // of all transactions
  std::optional<std::string> gas;     // of all transactions
  std::optional<std::string> events;  // of all phases
};

// Computes them from the phases in order. Not thread-safe.
class ExecutionDigester {
 public:
  // `result` is null for a phase without native code; `index` the transaction's, -1 for others.
  void Add(int64_t height, keeper::PhaseKind kind, int index, const keeper::PhaseResult* result);
  // To be called once, at the end.
  ExecutionDigests Finish();

 private:
  bool any_ = false;
  bool all_txs_ = true;
  bool all_phases_ = true;
  Sha256 codes_;
  Sha256 gas_;
  Sha256 events_;
};

}  // namespace blockreplay::replay
