#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "keeper/gno/pub_key.h"
#include "keeper/gno/scratch.h"
#include "keeper/gno/signature_cache.h"
#include "keeper/gno/signature_verifier.h"
#include "keeper/gno/state.h"
#include "keeper/gno/tx.h"
#include "storage/multistore/worker_pool.h"

namespace blockreplay::keeper::gno {

// Verifies the signatures of transactions before they run, on several threads at once.
//
// What a signature is of depends on the state: the account's number and sequence. So it is guessed
// first, as if each of the transactions before passed. When a transaction runs and asks for the
// very key, message and signature that was guessed, the answer is there; for anything else the
// signature is verified then. A wrong guess costs time and changes nothing.
//
// Not thread-safe: one thread at a time calls it, and waits in Prepare while the workers work.
class SignatureBatch final : public SignatureVerifier {
 public:
  // Both must outlive it; `cache` may be null. Valid signatures go into the cache when their
  // transaction runs.
  SignatureBatch(storage::WorkerPool* workers, SignatureCache* cache)
      : workers_(workers), cache_(cache) {}

  // Forgets what was prepared before. `txs` must live until then; `state` is read, not written.
  void Prepare(const std::vector<std::string_view>& txs, std::string_view chain_id,
               BlockState* state);
  // The transaction that runs next: `tx` must be the one that was prepared next, or nothing of it
  // is found.
  void StartTx(std::string_view tx);

  bool Verify(const PubKey& key, std::string_view message, std::string_view signature) override;

 private:
  enum class Verdict : uint8_t { kUnknown, kValid, kInvalid };
  struct Job {
    size_t tx = 0;
    PubKey key;
    uint64_t account_number = 0;
    uint64_t sequence = 0;
    std::string_view signature;
    std::string message;
    storage::Hash digest{};  // with a cache
    Verdict verdict = Verdict::kUnknown;
  };
  void Guess(size_t index, BlockState* state);
  void Work(Job* job, std::string_view chain_id) const;

  storage::WorkerPool* const workers_;
  SignatureCache* const cache_;
  Scratch scratch_;
  std::vector<std::string_view> bytes_;
  std::vector<Tx> txs_;
  std::vector<Job> jobs_;  // the first job_count_ are in use, by transaction
  size_t job_count_ = 0;
  // Signatures so far by the key of the account in the state: its sequence moves with each.
  absl::flat_hash_map<std::string_view, uint64_t> used_;
  // Of the transaction that runs.
  size_t next_tx_ = 0;
  size_t first_job_ = 0;
  size_t last_job_ = 0;
};

}  // namespace blockreplay::keeper::gno
