#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "blockreplay/v1/recording.pb.h"
#include "storage/multistore/commit_info.h"

namespace blockreplay::replay {

// Why a block is not what the recording says.
enum class MismatchKind {
  kAppHash,          // ours differs from the block's app_hash
  kResponseAppHash,  // ours is the block's, but its response has another
  kStoreRoot,        // the app hashes agree, but a recorded store root is another
  kHeaderAppHash,    // ours is the block's, but the next block's header has another
  kFinalAppHash,     // the last block's is not the manifest's final_app_hash
  kNotRepeatable,    // two executions of the block from the same state differ
};

struct RootDifference {
  std::string store;
  std::string expected;  // raw root; empty if the recorded commit info lacks the store
  std::string actual;    // raw root; empty if we have no such store

  friend bool operator==(const RootDifference&, const RootDifference&) = default;
};

struct AppHashMismatch {
  MismatchKind kind = MismatchKind::kAppHash;
  int64_t height = 0;
  std::string expected;  // raw app hash
  std::string actual;
  bool has_recorded_roots = false;
  // Stores whose roots differ from the recorded ones. Empty with recorded roots: all stores agree,
  // so that the recorded app hash itself is in doubt.
  std::vector<RootDifference> stores;

  friend bool operator==(const AppHashMismatch&, const AppHashMismatch&) = default;
};

// What a recording has of a commit: a store without a tree has neither root nor version in it, and
// tm2 keeps no time.
cosmos::store::v1beta1::CommitInfo RecordedCommitInfo(const storage::CommitInfo& info);

// Compares what we computed for a block with what was recorded: app hash, the response's app hash,
// every store root. Nothing recorded has gone into `actual`.
std::optional<AppHashMismatch> CompareAppHash(const v1::Block& block,
                                              const storage::CommitInfo& actual,
                                              const std::string& app_hash);

// The header of block h+1 has block h's app hash, too. Nothing where there is no header.
std::optional<AppHashMismatch> CompareHeaderAppHash(const v1::Block& next_block,
                                                    const std::string& app_hash);

// The results hash of block h against the header of block h+1, for those headers that a recording
// has.
struct ResultsMismatch {
  int64_t height = 0;  // of the block whose results they are
  std::string expected;
  std::string actual;

  friend bool operator==(const ResultsMismatch&, const ResultsMismatch&) = default;
};
std::optional<ResultsMismatch> CompareResultsHash(const v1::Block& next_block, int64_t height,
                                                  const std::string& results_hash);

// Several lines for people: which hash, height, expected, actual, the stores, and the first keys
// that the block wrote in them.
std::string DescribeMismatch(const AppHashMismatch& mismatch, const v1::Block& block);
std::string DescribeMismatch(const ResultsMismatch& mismatch);

}  // namespace blockreplay::replay
