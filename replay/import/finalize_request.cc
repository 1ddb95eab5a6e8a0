#include "replay/import/finalize_request.h"

#include "absl/strings/str_cat.h"

namespace blockreplay::replay {
namespace {

using tendermint::abci::CommitInfo;
using tendermint::abci::Misbehavior;
using tendermint::abci::RequestFinalizeBlock;
using tendermint::types::Block;
using tendermint::types::Evidence;
using tendermint::types::ValidatorSet;

void AddMisbehavior(const Evidence& evidence, RequestFinalizeBlock* request) {
  if (evidence.has_duplicate_vote_evidence()) {
    const auto& duplicate = evidence.duplicate_vote_evidence();
    Misbehavior* added = request->add_misbehavior();
    added->set_type(tendermint::abci::DUPLICATE_VOTE);
    added->mutable_validator()->set_address(duplicate.vote_a().validator_address());
    added->mutable_validator()->set_power(duplicate.validator_power());
    added->set_height(duplicate.vote_a().height());
    *added->mutable_time() = duplicate.timestamp();
    added->set_total_voting_power(duplicate.total_voting_power());
  }
  if (evidence.has_light_client_attack_evidence()) {
    const auto& attack = evidence.light_client_attack_evidence();
    for (const auto& validator : attack.byzantine_validators()) {
      Misbehavior* added = request->add_misbehavior();
      added->set_type(tendermint::abci::LIGHT_CLIENT_ATTACK);
      added->mutable_validator()->set_address(validator.address());
      added->mutable_validator()->set_power(validator.voting_power());
      added->set_height(attack.common_height());
      *added->mutable_time() = attack.timestamp();
      added->set_total_voting_power(attack.total_voting_power());
    }
  }
}

}  // namespace

absl::StatusOr<RequestFinalizeBlock> BuildFinalizeRequest(const Block& block,
                                                          const std::string& block_hash,
                                                          const ValidatorSet* last_validators) {
  RequestFinalizeBlock request;
  *request.mutable_txs() = block.data().txs();
  // Go writes messages that are no pointers though they be empty.
  CommitInfo* commit = request.mutable_decided_last_commit();
  if (last_validators != nullptr) {
    if (block.last_commit().signatures_size() != last_validators->validators_size()) {
      return absl::DataLossError(
          absl::StrCat("block ", block.header().height(), ": its last commit has ",
                       block.last_commit().signatures_size(), " signatures, but there were ",
                       last_validators->validators_size(), " validators"));
    }
    commit->set_round(block.last_commit().round());
    for (int i = 0; i < last_validators->validators_size(); ++i) {
      tendermint::abci::VoteInfo* vote = commit->add_votes();
      vote->mutable_validator()->set_address(last_validators->validators(i).address());
      vote->mutable_validator()->set_power(last_validators->validators(i).voting_power());
      vote->set_block_id_flag(block.last_commit().signatures(i).block_id_flag());
    }
  }
  for (const Evidence& evidence : block.evidence().evidence()) AddMisbehavior(evidence, &request);
  request.set_hash(block_hash);
  request.set_height(block.header().height());
  *request.mutable_time() = block.header().time();
  request.set_next_validators_hash(block.header().next_validators_hash());
  request.set_proposer_address(block.header().proposer_address());
  return request;
}

}  // namespace blockreplay::replay
