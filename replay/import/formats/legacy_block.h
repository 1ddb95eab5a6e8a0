#pragma once

#include "blockreplay/v1/recording.pb.h"
#include "google/protobuf/repeated_field.h"
#include "tendermint/abci/legacy.pb.h"
#include "tendermint/abci/types.pb.h"

namespace blockreplay::replay {

// How the three kinds of call by which CometBFT 0.34 and 0.37 execute a block become one
// RequestFinalizeBlock and one ResponseFinalizeBlock of 0.38:
//
//   request  txs                    the transactions delivered, in order
//            hash, height, time,    RequestBeginBlock's hash and header
//            next_validators_hash,
//            proposer_address
//            decided_last_commit    last_commit_info; signed_last_block becomes the flag COMMIT,
//            its
//                                   absence ABSENT (a vote for nil counted as signed then)
//            misbehavior            byzantine_validators, the same message
//   response events                 begin block's, then end block's, each with the attribute `mode`
//                                   (`BeginBlock`, `EndBlock`) that the SDK adds from 0.50 on
//            tx_results             the responses, the same message
//            validator_updates,     ResponseEndBlock's
//            consensus_param_updates
//            app_hash               Commit's data

// Sets the request but for its transactions, and the header.
void SetLegacyRequest(const tendermint::abci::RequestBeginBlock& begin, v1::Block* block);

enum class LegacyPhase { kBeginBlock, kEndBlock };

// Appends `events`, each marked with the phase's `mode`, not indexed: as CometBFT 0.38 reads what
// older versions stored.
void AddLegacyEvents(LegacyPhase phase,
                     const google::protobuf::RepeatedPtrField<tendermint::abci::Event>& events,
                     tendermint::abci::ResponseFinalizeBlock* response);

// Appends end block's events and sets its updates.
void SetLegacyEnd(const tendermint::abci::ResponseEndBlock& end,
                  tendermint::abci::ResponseFinalizeBlock* response);

}  // namespace blockreplay::replay
