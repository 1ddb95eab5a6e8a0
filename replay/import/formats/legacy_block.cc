#include "replay/import/formats/legacy_block.h"

namespace blockreplay::replay {

using tendermint::abci::Event;
using tendermint::abci::EventAttribute;
using tendermint::abci::LegacyVoteInfo;
using tendermint::abci::RequestFinalizeBlock;
using tendermint::abci::ResponseFinalizeBlock;
using tendermint::abci::VoteInfo;
using tendermint::types::Header;

void SetLegacyRequest(const tendermint::abci::RequestBeginBlock& begin, v1::Block* block) {
  const Header& header = begin.header();
  *block->mutable_header() = header;
  RequestFinalizeBlock* request = block->mutable_request();
  request->set_hash(begin.hash());
  request->set_height(header.height());
  *request->mutable_time() = header.time();
  request->set_next_validators_hash(header.next_validators_hash());
  request->set_proposer_address(header.proposer_address());
  request->mutable_decided_last_commit()->set_round(begin.last_commit_info().round());
  for (const LegacyVoteInfo& legacy : begin.last_commit_info().votes()) {
    VoteInfo* vote = request->mutable_decided_last_commit()->add_votes();
    *vote->mutable_validator() = legacy.validator();
    vote->set_block_id_flag(legacy.signed_last_block() ? tendermint::types::BLOCK_ID_FLAG_COMMIT
                                                       : tendermint::types::BLOCK_ID_FLAG_ABSENT);
  }
  *request->mutable_misbehavior() = begin.byzantine_validators();
}

void AddLegacyEvents(LegacyPhase phase, const google::protobuf::RepeatedPtrField<Event>& events,
                     ResponseFinalizeBlock* response) {
  for (const Event& legacy : events) {
    Event* event = response->add_events();
    *event = legacy;
    EventAttribute* mode = event->add_attributes();
    mode->set_key("mode");
    mode->set_value(phase == LegacyPhase::kBeginBlock ? "BeginBlock" : "EndBlock");
  }
}

void SetLegacyEnd(const tendermint::abci::ResponseEndBlock& end, ResponseFinalizeBlock* response) {
  AddLegacyEvents(LegacyPhase::kEndBlock, end.events(), response);
  *response->mutable_validator_updates() = end.validator_updates();
  if (end.has_consensus_param_updates()) {
    *response->mutable_consensus_param_updates() = end.consensus_param_updates();
  }
}

}  // namespace blockreplay::replay
