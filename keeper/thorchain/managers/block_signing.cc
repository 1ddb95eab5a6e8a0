#include "keeper/thorchain/managers/block_signing.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "keeper/sdk/string_map.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/slash_points.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Of a validator's consensus key; empty if the text is no key.
const std::string& ConsensusAddress(const Keeper& k, const std::string& key) {
  constexpr size_t kMostRemembered = 1 << 13;
  thread_local sdk::StringMap<std::string> remembered;
  const auto found = remembered.find(key);
  if (found != remembered.end()) return found->second;
  if (remembered.size() >= kMostRemembered) remembered.clear();
  const absl::StatusOr<CryptoKey> decoded = PubKey::DecodeConsensus(key, k.network());
  return remembered.emplace(key, decoded.ok() ? decoded->AddressBytes() : std::string())
      .first->second;
}

class Judge {
 public:
  Judge(const Keeper& k, const Context& ctx, const NodeAccounts& active) : k_(k), ctx_(ctx) {
    validators_.reserve(active.size());
    for (const SharedNodeAccount& account : active) {
      const std::string& address = ConsensusAddress(k, account->validator_cons_pub_key);
      // The first account with a key answers for it.
      if (!address.empty()) validators_.try_emplace(address, Validator{account, false});
    }
  }

  void DoubleSigned(std::string_view address, int64_t height) {
    if (ctx_.height() - height > k_.constants().GetInt64(ConstantName::kDoubleSignMaxAge)) return;
    Validator* const validator = Find(address);
    if (validator == nullptr) return;
    const Result<NodeAccount> account = Read(*validator);
    if (!account.ok()) return;
    AddSlashPoints(k_, ctx_, account->node_address,
                   GetConfigInt64(k_, ctx_, ConstantName::kDoubleBlockSignSlashPoints));
    Write(validator, *account);
  }

  void Missed(std::string_view address) {
    Validator* const validator = Find(address);
    if (validator == nullptr) return;
    Result<NodeAccount> account = Read(*validator);
    if (!account.ok()) return;
    AddSlashPoints(k_, ctx_, account->node_address,
                   GetConfigInt64(k_, ctx_, ConstantName::kMissBlockSignSlashPoints));
    const auto most =
        static_cast<uint64_t>(GetConfigInt64(k_, ctx_, ConstantName::kMaxTrackMissingBlock));
    account->missing_blocks = std::min(account->missing_blocks + 1, most);
    Write(validator, *account);
  }

  void Signed(std::string_view address) {
    Validator* const validator = Find(address);
    // Most validators miss nothing: their account needn't be read again.
    if (validator == nullptr || (!validator->written && validator->listed->missing_blocks == 0)) {
      return;
    }
    Result<NodeAccount> account = Read(*validator);
    if (!account.ok() || account->missing_blocks == 0) return;
    --account->missing_blocks;
    Write(validator, *account);
  }

 private:
  struct Validator {
    SharedNodeAccount listed;
    bool written;
  };

  Validator* Find(std::string_view address) {
    const auto found = validators_.find(address);
    return found == validators_.end() ? nullptr : &found->second;
  }
  Result<NodeAccount> Read(const Validator& validator) const {
    return GetNodeAccount(k_, ctx_, validator.listed->node_address);
  }
  void Write(Validator* validator, const NodeAccount& account) const {
    SetNodeAccount(k_, ctx_, account);
    validator->written = true;
  }

  const Keeper& k_;
  const Context& ctx_;
  sdk::StringMap<Validator> validators_;
};

}  // namespace

void JudgeBlockSigning(const Keeper& k, const Context& ctx, const NodeAccounts& active) {
  const tendermint::abci::RequestFinalizeBlock& request = *ctx.block().request;
  Judge judge(k, ctx, active);
  for (const auto& evidence : request.misbehavior()) {
    if (evidence.type() == tendermint::abci::DUPLICATE_VOTE) {
      judge.DoubleSigned(evidence.validator().address(), evidence.height());
    }
  }
  // All that missed the block come before all that signed it.
  const auto is_absent = [](const tendermint::abci::VoteInfo& vote) {
    return vote.block_id_flag() == tendermint::types::BLOCK_ID_FLAG_ABSENT;
  };
  const auto& votes = request.decided_last_commit().votes();
  for (const auto& vote : votes) {
    if (is_absent(vote)) judge.Missed(vote.validator().address());
  }
  for (const auto& vote : votes) {
    if (!is_absent(vote)) judge.Signed(vote.validator().address());
  }
}

}  // namespace blockreplay::keeper::thorchain
