#include "replay/import/formats/rpc_json.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "replay/import/formats/json_reader.h"
#include "replay/import/formats/legacy_block.h"
#include "replay/verify/header_hash.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

using google::protobuf::RepeatedPtrField;
using nlohmann::json;
using tendermint::abci::Event;
using tendermint::abci::EventAttribute;
using tendermint::abci::ExecTxResult;
using tendermint::abci::ResponseFinalizeBlock;
using tendermint::types::Block;
using tendermint::types::BlockID;
using tendermint::types::Commit;
using tendermint::types::CommitSig;
using tendermint::types::ConsensusParams;
using tendermint::types::DuplicateVoteEvidence;
using tendermint::types::Header;
using tendermint::types::ValidatorSet;
using tendermint::types::Vote;

constexpr size_t kHashSize = 32;
constexpr size_t kAddressSize = 20;
constexpr size_t kAnySize = 0;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

// What the server answered, inside of the JSON-RPC envelope if it has one.
class Answer : public JsonReader {
 public:
  Answer(const std::string& text, const std::string& name) : JsonReader(name, text) {
    const json& error = Member(root(), "error");
    if (!error.is_null()) {
      // From 0.33 on, `data` has the reason.
      const std::string reason = absl::StrCat(
          error.is_object() ? Text(error, "message") : error.dump().substr(0, 200), " ",
          error.is_object() && Member(error, "data").is_string() ? Text(error, "data") : "");
      refused_ = absl::NotFoundError(absl::StrCat(name, ": the server answers: ", reason));
    }
    const json& inner = Member(root(), "result");
    result_ = inner.is_object() ? &inner : &root();
  }

  const json& result() const { return *result_; }
  // The refusal, or the first thing that is wrong.
  absl::Status Outcome() const { return refused_.ok() ? status() : refused_; }

 private:
  const json* result_ = nullptr;
  absl::Status refused_;
};

void ReadBlockId(Answer* answer, const json& object, const char* name, BlockID* id) {
  const json& member = answer->Object(object, name);
  id->set_hash(answer->HexOrBase64(member, "hash", kHashSize));
  const json& parts = answer->Member(member, "parts").is_null()
                          ? answer->Member(member, "part_set_header")
                          : answer->Member(member, "parts");
  id->mutable_part_set_header()->set_total(answer->Uint32(parts, "total"));
  id->mutable_part_set_header()->set_hash(answer->HexOrBase64(parts, "hash", kHashSize));
}

void ReadHeader(Answer* answer, const json& object, Header* header) {
  const json& version = answer->Object(object, "version");
  header->mutable_version()->set_block(answer->Uint64(version, "block"));
  header->mutable_version()->set_app(answer->Uint64(version, "app"));
  header->set_chain_id(answer->Text(object, "chain_id"));
  header->set_height(answer->Int64(object, "height"));
  *header->mutable_time() = answer->Time(object, "time");
  ReadBlockId(answer, object, "last_block_id", header->mutable_last_block_id());
  const auto hash = [&](const char* name) { return answer->HexOrBase64(object, name, kHashSize); };
  header->set_last_commit_hash(hash("last_commit_hash"));
  header->set_data_hash(hash("data_hash"));
  header->set_validators_hash(hash("validators_hash"));
  header->set_next_validators_hash(hash("next_validators_hash"));
  header->set_consensus_hash(hash("consensus_hash"));
  header->set_app_hash(answer->HexOrBase64(object, "app_hash", kAnySize));
  header->set_last_results_hash(hash("last_results_hash"));
  header->set_evidence_hash(hash("evidence_hash"));
  header->set_proposer_address(answer->HexOrBase64(object, "proposer_address", kAddressSize));
}

void ReadCommit(Answer* answer, const json& object, Commit* commit) {
  commit->set_height(answer->Int64(object, "height"));
  commit->set_round(answer->Int32(object, "round"));
  ReadBlockId(answer, object, "block_id", commit->mutable_block_id());
  for (const json& element : answer->Array(object, "signatures")) {
    CommitSig* signature = commit->add_signatures();
    const int32_t flag = answer->Int32(element, "block_id_flag");
    if (!tendermint::types::BlockIDFlag_IsValid(flag)) answer->Fail("block_id_flag", "is no flag");
    signature->set_block_id_flag(static_cast<tendermint::types::BlockIDFlag>(flag));
    signature->set_validator_address(
        answer->HexOrBase64(element, "validator_address", kAddressSize));
    *signature->mutable_timestamp() = answer->Time(element, "timestamp");
    signature->set_signature(answer->Base64(element, "signature"));
  }
}

void ReadVote(Answer* answer, const json& object, const char* name, Vote* vote) {
  const json& member = answer->Object(object, name);
  vote->set_type(answer->Int32(member, "type"));
  vote->set_height(answer->Int64(member, "height"));
  vote->set_round(answer->Int32(member, "round"));
  ReadBlockId(answer, member, "block_id", vote->mutable_block_id());
  *vote->mutable_timestamp() = answer->Time(member, "timestamp");
  vote->set_validator_address(answer->HexOrBase64(member, "validator_address", kAddressSize));
  vote->set_validator_index(answer->Int32(member, "validator_index"));
  vote->set_signature(answer->Base64(member, "signature"));
  vote->set_extension(answer->Base64(member, "extension"));
  vote->set_extension_signature(answer->Base64(member, "extension_signature"));
}

void ReadEvidence(Answer* answer, const json& element, Block* block) {
  if (answer->Text(element, "type") != "tendermint/DuplicateVoteEvidence") {
    answer->Fail("evidence",
                 "is of a kind that is not read; import this block from a node's data "
                 "directory");
    return;
  }
  const json& value = answer->Object(element, "value");
  DuplicateVoteEvidence* evidence =
      block->mutable_evidence()->add_evidence()->mutable_duplicate_vote_evidence();
  ReadVote(answer, value, "vote_a", evidence->mutable_vote_a());
  ReadVote(answer, value, "vote_b", evidence->mutable_vote_b());
  evidence->set_total_voting_power(answer->Int64(value, "TotalVotingPower"));
  evidence->set_validator_power(answer->Int64(value, "ValidatorPower"));
  *evidence->mutable_timestamp() = answer->Time(value, "Timestamp");
}

std::string EvidenceHash(const Block& block) {
  std::vector<std::string> leaves;
  for (const auto& evidence : block.evidence().evidence()) {
    leaves.push_back(evidence.duplicate_vote_evidence().SerializeAsString());
  }
  return RawOf(MerkleRoot(leaves));
}

std::string LastCommitHash(const Block& block) {
  std::vector<std::string> leaves;
  for (const CommitSig& signature : block.last_commit().signatures()) {
    leaves.push_back(signature.SerializeAsString());
  }
  return RawOf(MerkleRoot(leaves));
}

void CheckHash(Answer* answer, const char* member, const std::string& says, const std::string& is) {
  if (says == is) return;
  answer->Fail(member,
               absl::StrCat("says ", absl::BytesToHexString(says), ", but what it is of has ",
                            absl::BytesToHexString(is), ": the answer is damaged or made up"));
}

void CheckHeight(Answer* answer, int64_t height, int64_t wanted) {
  if (height == wanted) return;
  answer->Fail("height", absl::StrCat("is ", height, ", not ", wanted));
}

using Decode = bool (*)(const std::string& text, std::string* bytes);

bool AsText(const std::string& text, std::string* bytes) {
  *bytes = text;
  return true;
}

bool AsBase64(const std::string& text, std::string* bytes) {
  return text.size() % 4 == 0 && absl::Base64Unescape(text, bytes);
}

void ReadEvents(Answer* answer, const json& events, Decode decode, RepeatedPtrField<Event>* read) {
  for (const json& element : events) {
    Event* event = read->Add();
    event->set_type(answer->Text(element, "type"));
    for (const json& pair : answer->Array(element, "attributes")) {
      EventAttribute* attribute = event->add_attributes();
      if (!decode(answer->Text(pair, "key"), attribute->mutable_key()) ||
          !decode(answer->Text(pair, "value"), attribute->mutable_value())) {
        answer->Fail("attributes", "are no base64, as this version of the node writes them");
      }
      attribute->set_index(answer->Bool(pair, "index"));
    }
  }
}

// Whether every key and value of the events is base64, and there is one at all.
bool AllBase64(Answer* answer, const std::vector<const json*>& lists) {
  bool any = false;
  std::string ignored;
  for (const json* events : lists) {
    for (const json& event : *events) {
      for (const json& pair : answer->Array(event, "attributes")) {
        any = true;
        if (!AsBase64(answer->Text(pair, "key"), &ignored) ||
            !AsBase64(answer->Text(pair, "value"), &ignored)) {
          return false;
        }
      }
    }
  }
  return any;
}

void ReadResult(Answer* answer, const json& element, Decode decode, ExecTxResult* result) {
  result->set_code(answer->Uint32(element, "code"));
  result->set_data(answer->Base64(element, "data"));
  result->set_log(answer->Text(element, "log"));
  result->set_info(answer->Text(element, "info"));
  result->set_gas_wanted(answer->Int64(element, "gas_wanted"));
  result->set_gas_used(answer->Int64(element, "gas_used"));
  ReadEvents(answer, answer->Array(element, "events"), decode, result->mutable_events());
  result->set_codespace(answer->Text(element, "codespace"));
}

// {"Sum":{"type":…,"value":{"ed25519":…}}} in an update, {"type":…,"value":…} in a set.
void ReadPublicKey(Answer* answer, const json& object, tendermint::crypto::PublicKey* key) {
  const json& member = answer->Object(object, "pub_key");
  const json& sum = answer->Member(member, "Sum");
  const json& typed = sum.is_null() ? member : sum;
  const json& value =
      answer->Member(typed, "value").is_null() ? typed : answer->Member(typed, "value");
  const std::string type = answer->Text(typed, "type");
  const auto bytes = [&](const char* name) {
    return value.is_object() ? answer->Base64(value, name) : answer->Base64Of(value, "pub_key");
  };
  if (absl::StrContains(type, "Ed25519") || (value.is_object() && value.contains("ed25519"))) {
    key->set_ed25519(bytes("ed25519"));
  } else if (absl::StrContains(type, "Secp256k1") ||
             (value.is_object() && value.contains("secp256k1"))) {
    key->set_secp256k1(bytes("secp256k1"));
  } else {
    answer->Fail("pub_key", "is of a kind that is not read (ed25519 and secp256k1 are)");
  }
}

void ReadConsensusParams(Answer* answer, const json& object, ConsensusParams* params) {
  if (const json& block = answer->Member(object, "block"); !block.is_null()) {
    params->mutable_block()->set_max_bytes(answer->Int64(block, "max_bytes"));
    params->mutable_block()->set_max_gas(answer->Int64(block, "max_gas"));
  }
  if (const json& evidence = answer->Member(object, "evidence"); !evidence.is_null()) {
    auto* read = params->mutable_evidence();
    read->set_max_age_num_blocks(answer->Int64(evidence, "max_age_num_blocks"));
    const int64_t nanos = answer->Int64(evidence, "max_age_duration");
    read->mutable_max_age_duration()->set_seconds(nanos / kNanosPerSecond);
    read->mutable_max_age_duration()->set_nanos(static_cast<int32_t>(nanos % kNanosPerSecond));
    read->set_max_bytes(answer->Int64(evidence, "max_bytes"));
  }
  if (const json& validator = answer->Member(object, "validator"); !validator.is_null()) {
    params->mutable_validator();
    for (const json& type : answer->Array(validator, "pub_key_types")) {
      if (const auto* text = type.get_ptr<const std::string*>()) {
        params->mutable_validator()->add_pub_key_types(*text);
      }
    }
  }
  if (const json& version = answer->Member(object, "version"); !version.is_null()) {
    params->mutable_version()->set_app(answer->Uint64(version, "app"));
  }
  if (const json& abci = answer->Member(object, "abci"); !abci.is_null()) {
    params->mutable_abci()->set_vote_extensions_enable_height(
        answer->Int64(abci, "vote_extensions_enable_height"));
  }
}

}  // namespace

absl::StatusOr<RpcBlock> ParseRpcBlock(const std::string& text, const std::string& name,
                                       int64_t height) {
  Answer answer(text, name);
  RpcBlock read;
  Block* block = &read.block;
  BlockID id;
  ReadBlockId(&answer, answer.result(), "block_id", &id);
  const json& object = answer.Object(answer.result(), "block");
  ReadHeader(&answer, answer.Object(object, "header"), block->mutable_header());
  for (const json& tx : answer.Array(answer.Object(object, "data"), "txs")) {
    block->mutable_data()->add_txs(answer.Base64Of(tx, "txs"));
  }
  for (const json& evidence : answer.Array(answer.Member(object, "evidence"), "evidence")) {
    ReadEvidence(&answer, evidence, block);
  }
  // The first block's is null in some versions.
  if (const json& commit = answer.Member(object, "last_commit"); !commit.is_null()) {
    ReadCommit(&answer, commit, block->mutable_last_commit());
  }
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  const Header& header = block->header();
  CheckHeight(&answer, header.height(), height);
  read.hash = RawOf(HeaderHash(header));
  CheckHash(&answer, "block_id", id.hash(), read.hash);
  CheckHash(&answer, "data_hash", header.data_hash(), RawOf(DataHash(block->data().txs())));
  CheckHash(&answer, "evidence_hash", header.evidence_hash(), EvidenceHash(*block));
  CheckHash(&answer, "last_commit_hash", header.last_commit_hash(), LastCommitHash(*block));
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  return read;
}

absl::StatusOr<Header> ParseRpcCommit(const std::string& text, const std::string& name,
                                      int64_t height) {
  Answer answer(text, name);
  Header header;
  Commit commit;
  const json& signed_header = answer.Object(answer.result(), "signed_header");
  ReadHeader(&answer, answer.Object(signed_header, "header"), &header);
  ReadCommit(&answer, answer.Object(signed_header, "commit"), &commit);
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  CheckHeight(&answer, header.height(), height);
  CheckHash(&answer, "block_id", commit.block_id().hash(), RawOf(HeaderHash(header)));
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  return header;
}

EventEncoding EventEncodingOf(const std::string& cometbft_version) {
  return absl::StartsWith(cometbft_version, "0.34") || absl::StartsWith(cometbft_version, "v0.34")
             ? EventEncoding::kBase64
             : EventEncoding::kText;
}

absl::StatusOr<ResponseFinalizeBlock> ParseRpcBlockResults(const std::string& text,
                                                           const std::string& name, int64_t height,
                                                           std::optional<EventEncoding> encoding) {
  Answer answer(text, name);
  const json& object = answer.result();
  ResponseFinalizeBlock response;
  const bool legacy = object.contains("begin_block_events") || object.contains("end_block_events");
  const json& results = answer.Array(object, "txs_results");
  const json& begin = answer.Array(object, "begin_block_events");
  const json& end = answer.Array(object, "end_block_events");
  const json& finalize = answer.Array(object, "finalize_block_events");
  if (!encoding.has_value()) {
    std::vector<const json*> lists = {&begin, &end, &finalize};
    for (const json& result : results) lists.push_back(&answer.Array(result, "events"));
    encoding = legacy && AllBase64(&answer, lists) ? EventEncoding::kBase64 : EventEncoding::kText;
  }
  const Decode decode = *encoding == EventEncoding::kBase64 ? AsBase64 : AsText;
  for (const json& result : results) ReadResult(&answer, result, decode, response.add_tx_results());
  for (const auto& [phase, events] :
       {std::pair(LegacyPhase::kBeginBlock, &begin), std::pair(LegacyPhase::kEndBlock, &end)}) {
    RepeatedPtrField<Event> read;
    ReadEvents(&answer, *events, decode, &read);
    AddLegacyEvents(phase, read, &response);
  }
  ReadEvents(&answer, finalize, decode, response.mutable_events());
  for (const json& element : answer.Array(object, "validator_updates")) {
    auto* update = response.add_validator_updates();
    ReadPublicKey(&answer, element, update->mutable_pub_key());
    update->set_power(answer.Int64(element, "power"));
  }
  if (const json& params = answer.Member(object, "consensus_param_updates"); !params.is_null()) {
    ReadConsensusParams(&answer, params, response.mutable_consensus_param_updates());
  }
  response.set_app_hash(answer.Base64(object, "app_hash"));
  CheckHeight(&answer, answer.Int64(object, "height"), height);
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  return response;
}

absl::StatusOr<int64_t> ParseRpcValidators(const std::string& text, const std::string& name,
                                           int64_t height, ValidatorSet* set) {
  Answer answer(text, name);
  const json& object = answer.result();
  for (const json& element : answer.Array(object, "validators")) {
    auto* validator = set->add_validators();
    validator->set_address(answer.HexOrBase64(element, "address", kAddressSize));
    ReadPublicKey(&answer, element, validator->mutable_pub_key());
    validator->set_voting_power(answer.Int64(element, "voting_power"));
    validator->set_proposer_priority(answer.Int64(element, "proposer_priority"));
  }
  CheckHeight(&answer, answer.Int64(object, "block_height"), height);
  const int64_t total = answer.Int64(object, "total");
  if (absl::Status status = answer.Outcome(); !status.ok()) return status;
  return total;
}

std::string ValidatorsHash(const ValidatorSet& set) {
  std::vector<std::string> leaves;
  for (const auto& validator : set.validators()) {
    tendermint::types::SimpleValidator simple;
    *simple.mutable_pub_key() = validator.pub_key();
    simple.set_voting_power(validator.voting_power());
    leaves.push_back(simple.SerializeAsString());
  }
  return RawOf(MerkleRoot(leaves));
}

absl::StatusOr<RpcStatus> ParseRpcStatus(const std::string& text, const std::string& name) {
  Answer answer(text, name);
  RpcStatus status;
  const json& node = answer.Object(answer.result(), "node_info");
  status.chain_id = answer.Text(node, "network");
  status.version = answer.Text(node, "version");
  const json& sync = answer.Object(answer.result(), "sync_info");
  status.earliest_height = answer.Int64(sync, "earliest_block_height");
  status.latest_height = answer.Int64(sync, "latest_block_height");
  if (absl::Status outcome = answer.Outcome(); !outcome.ok()) return outcome;
  return status;
}

}  // namespace blockreplay::replay
