#include "keeper/gno/signature_batch.h"

#include <algorithm>
#include <optional>

#include "keeper/gno/account.h"
#include "keeper/gno/auth.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {

void SignatureBatch::Guess(size_t index, BlockState* state) {
  Tx& tx = txs_[index];
  if (!tx.Decode(bytes_[index], &scratch_)) return;
  absl::InlinedVector<Address, 2> signers;
  for (const Msg& msg : tx.msgs) {
    // They have no sign bytes here.
    if (msg.type == Msg::Type::kNil || msg.type == Msg::Type::kVm) return;
    if (std::find(signers.begin(), signers.end(), msg.signer) == signers.end()) {
      signers.push_back(msg.signer);
    }
  }
  if (signers.size() != tx.signatures.size()) return;
  for (size_t i = 0; i < signers.size(); ++i) {
    const Signature& signature = tx.signatures[i];
    const AccountKey account_key = signature.session.is_zero()
                                       ? AccountKey(signers[i])
                                       : AccountKey(signers[i], signature.session);
    const std::optional<std::string_view> stored = state->Get(account_key.view());
    if (!stored.has_value()) return;
    const std::optional<Account> account = Account::Decode(scratch_.Copy(*stored), &scratch_);
    if (!account.has_value()) return;
    const PubKey& key = account->pub_key.is_none() ? signature.pub_key : account->pub_key;
    if (key.is_none() || key.kind == PubKey::Kind::kMock) return;
    auto used = used_.find(account_key.view());
    if (used == used_.end()) used = used_.emplace(scratch_.Copy(account_key.view()), 0).first;
    if (job_count_ == jobs_.size()) jobs_.emplace_back();
    Job& job = jobs_[job_count_++];
    job.tx = index;
    job.key = key;
    job.account_number = account->number;
    job.sequence = account->sequence + used->second++;
    job.signature = signature.signature;
    job.verdict = Verdict::kUnknown;
  }
}

void SignatureBatch::Work(Job* job, std::string_view chain_id) const {
  txs_[job->tx].SignBytes(chain_id, job->account_number, job->sequence, &job->message);
  try {
    if (cache_ != nullptr) {
      job->digest = SignatureCache::Digest(job->key, job->message, job->signature);
      if (cache_->Contains(job->digest)) {
        job->verdict = Verdict::kValid;
        return;
      }
    }
    job->verdict = VerifySignature(job->key, job->message, job->signature) ? Verdict::kValid
                                                                           : Verdict::kInvalid;
  } catch (const sdk::Panic&) {
    // It panics again when it is its turn.
    job->verdict = Verdict::kUnknown;
  }
}

void SignatureBatch::Prepare(const std::vector<std::string_view>& txs, std::string_view chain_id,
                             BlockState* state) {
  scratch_.Reset();
  used_.clear();
  job_count_ = 0;
  next_tx_ = 0;
  first_job_ = 0;
  last_job_ = 0;
  bytes_ = txs;
  if (txs_.size() < txs.size()) txs_.resize(txs.size());
  for (size_t i = 0; i < txs.size(); ++i) Guess(i, state);
  workers_->Run(job_count_, [&](size_t i) { Work(&jobs_[i], chain_id); });
}

void SignatureBatch::StartTx(std::string_view tx) {
  first_job_ = last_job_;
  if (next_tx_ == bytes_.size() || bytes_[next_tx_] != tx) return;
  while (last_job_ < job_count_ && jobs_[last_job_].tx == next_tx_) ++last_job_;
  ++next_tx_;
}

bool SignatureBatch::Verify(const PubKey& key, std::string_view message,
                            std::string_view signature) {
  for (size_t i = first_job_; i < last_job_; ++i) {
    const Job& job = jobs_[i];
    if (job.verdict == Verdict::kUnknown || job.key != key || job.message != message ||
        job.signature != signature) {
      continue;
    }
    if (job.verdict == Verdict::kValid && cache_ != nullptr) cache_->Insert(job.digest);
    return job.verdict == Verdict::kValid;
  }
  return cache_ != nullptr ? cache_->Verify(key, message, signature)
                           : VerifySignature(key, message, signature);
}

}  // namespace blockreplay::keeper::gno
