#include "replay/import/tm2_records.h"

#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "keeper/gno/address.h"
#include "keeper/gno/amino.h"
#include "keeper/gno/header.h"
#include "nlohmann/json.hpp"
#include "storage/bptree/simple_merkle.h"
#include "storage/sha256.h"

namespace blockreplay::replay {
namespace {

using keeper::gno::Address;
using keeper::gno::amino::FieldReader;

constexpr uint32_t Repeated(uint32_t field) { return uint32_t{1} << field; }

absl::Status Malformed(std::string_view what) {
  return absl::DataLossError(absl::StrCat("not ", std::string(what), " of tm2"));
}

std::string Raw(const storage::Hash& hash) { return {hash.begin(), hash.end()}; }
std::string Raw(const std::optional<storage::Hash>& hash) { return hash ? Raw(*hash) : ""; }

bool ReadString(FieldReader* reader, std::string* text) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  text->assign(bytes);
  return true;
}

bool ReadAddress(FieldReader* reader, std::string* raw) {
  std::string_view text;
  if (!reader->Bytes(&text)) return false;
  const std::optional<Address> address = Address::FromField(text);
  if (!address.has_value()) return reader->Fail();
  raw->assign(address->view());
  return true;
}

// Any field whose value doesn't matter, of a type that the caller knows.
bool SkipBytes(FieldReader* reader) {
  std::string_view ignored;
  return reader->Bytes(&ignored);
}
bool SkipVarint(FieldReader* reader) {
  uint64_t ignored = 0;
  return reader->Uvarint(&ignored);
}

bool ReadTime(FieldReader* reader, google::protobuf::Timestamp* time) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    uint64_t number = 0;
    if (fields.field() > 2 || !fields.Uvarint(&number)) return reader->Fail();
    if (fields.field() == 1) {
      time->set_seconds(static_cast<int64_t>(number));
    } else if (number >= 1'000'000'000) {
      return reader->Fail();
    } else {
      time->set_nanos(static_cast<int32_t>(number));
    }
  }
  return fields.ok() || reader->Fail();
}

struct BlockId {
  std::string hash;
  int64_t parts = 0;
};
bool ReadBlockId(FieldReader* reader, BlockId* id) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.field() == 1) {
      if (!ReadString(&fields, &id->hash)) break;
      continue;
    }
    std::string_view parts;
    if (fields.field() != 2 || !fields.Bytes(&parts)) return reader->Fail();
    FieldReader header(parts);
    while (header.Next()) {
      const bool read = header.field() == 1   ? header.Varint(&id->parts)
                        : header.field() == 2 ? SkipBytes(&header)
                                              : header.Fail();
      if (!read) return reader->Fail();
    }
    if (!header.ok()) return reader->Fail();
  }
  return fields.ok() || reader->Fail();
}

// One of the last commit's votes; nothing of it is needed but its round.
bool ReadRound(std::string_view vote, int64_t* round) {
  FieldReader fields(vote);
  while (fields.Next()) {
    bool read = false;
    switch (fields.field()) {
      case 1:
      case 2:
      case 7:
        read = SkipVarint(&fields);
        break;
      case 3:
        read = fields.Varint(round);
        break;
      case 4:
      case 5:
      case 6:
      case 8:
        read = SkipBytes(&fields);
        break;
      default:
        return false;
    }
    if (!read) return false;
  }
  return fields.ok();
}

bool ReadCommit(FieldReader* reader, Tm2Block* block) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next(Repeated(2))) {
    if (fields.field() == 1) {
      if (!SkipBytes(&fields)) break;
      continue;
    }
    std::string_view vote;
    if (fields.field() != 2 || !fields.Bytes(&vote)) return reader->Fail();
    // Who did not vote has an empty element.
    block->last_signed.push_back(!vote.empty());
    int64_t round = 0;
    if (!ReadRound(vote, &round) || round < 0 || round > std::numeric_limits<int32_t>::max()) {
      return reader->Fail();
    }
    if (!vote.empty()) block->last_round = static_cast<int32_t>(round);
  }
  return fields.ok() || reader->Fail();
}

struct AnyField {
  std::string_view url;
  std::string_view value;
};
bool ReadAny(FieldReader* reader, AnyField* any) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.field() > 2 || !fields.Bytes(fields.field() == 1 ? &any->url : &any->value)) {
      return reader->Fail();
    }
  }
  return fields.ok() || reader->Fail();
}

void AddEvent(const AnyField& any, const char* mode, tendermint::abci::Event* event) {
  event->set_type(std::string(any.url));
  tendermint::abci::EventAttribute* value = event->add_attributes();
  value->set_key("amino");
  value->set_value(absl::Base64Escape(std::string(any.value)));
  if (mode == nullptr) return;
  tendermint::abci::EventAttribute* where = event->add_attributes();
  where->set_key("mode");
  where->set_value(mode);
}

// What every response has. The error, data and events are hashed.
struct ResponseBase {
  AnyField error;
  std::string_view data;
  std::vector<AnyField> events;
  std::string_view log;
  std::string_view info;
};
bool ReadResponseBase(FieldReader* reader, ResponseBase* base) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next(Repeated(3))) {
    bool read = false;
    switch (fields.field()) {
      case 1:
        read = ReadAny(&fields, &base->error);
        break;
      case 2:
        read = fields.Bytes(&base->data);
        break;
      case 3:
        read = ReadAny(&fields, &base->events.emplace_back());
        break;
      case 4:
        read = fields.Bytes(&base->log);
        break;
      case 5:
        read = fields.Bytes(&base->info);
        break;
      default:
        break;
    }
    if (!read) return reader->Fail();
  }
  return fields.ok() || reader->Fail();
}

class Message {
 public:
  void Field(uint32_t field, std::string_view value, bool even_if_empty = false) {
    if (value.empty() && !even_if_empty) return;
    char head[24];
    keeper::gno::amino::Writer writer(head);
    writer.Tag(field, keeper::gno::amino::WireType::kBytes);
    writer.Uvarint(value.size());
    bytes_.append(head, writer.size());
    bytes_.append(value);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

std::string EncodeAny(const AnyField& any) {
  Message message;
  message.Field(1, any.url);
  message.Field(2, any.value);
  return message.Take();
}

// The leaf of the results hash: an ABCIResult, whose fields are the first three of the response.
std::string ResultLeaf(const ResponseBase& base) {
  Message leaf;
  leaf.Field(1, EncodeAny(base.error));
  leaf.Field(2, base.data);
  for (const AnyField& event : base.events) leaf.Field(3, EncodeAny(event), true);
  return leaf.Take();
}

bool ReadTxResult(FieldReader* reader, tendermint::abci::ExecTxResult* result, std::string* leaf) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  ResponseBase base;
  while (fields.Next()) {
    int64_t gas = 0;
    const bool read = fields.field() == 1 ? ReadResponseBase(&fields, &base) : fields.Varint(&gas);
    if (!read || fields.field() > 3) return reader->Fail();
    if (fields.field() == 2) result->set_gas_wanted(gas);
    if (fields.field() == 3) result->set_gas_used(gas);
  }
  if (!fields.ok()) return reader->Fail();
  if (!base.error.url.empty()) {
    result->set_code(1);
    result->set_codespace(std::string(base.error.url));
  }
  result->set_data(std::string(base.data));
  result->set_log(std::string(base.log));
  result->set_info(std::string(base.info));
  for (const AnyField& event : base.events) AddEvent(event, nullptr, result->add_events());
  *leaf = ResultLeaf(base);
  return true;
}

bool ReadPubKey(FieldReader* reader, tendermint::crypto::PublicKey* key) {
  AnyField any;
  if (!ReadAny(reader, &any)) return false;
  FieldReader fields(any.value);
  std::string_view raw;
  if (!fields.Next() || fields.field() != 1 || !fields.Bytes(&raw) || fields.Next()) {
    return reader->Fail();
  }
  if (any.url == "/tm.PubKeyEd25519") {
    key->set_ed25519(std::string(raw));
  } else if (any.url == "/tm.PubKeySecp256k1") {
    key->set_secp256k1(std::string(raw));
  } else {
    return reader->Fail();
  }
  return true;
}

bool ReadValidatorUpdate(FieldReader* reader, tendermint::abci::ValidatorUpdate* update) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    int64_t power = 0;
    const bool read = fields.field() == 1   ? SkipBytes(&fields)
                      : fields.field() == 2 ? ReadPubKey(&fields, update->mutable_pub_key())
                      : fields.field() == 3 ? fields.Varint(&power)
                                            : fields.Fail();
    if (!read) return reader->Fail();
    if (fields.field() == 3) update->set_power(power);
  }
  return fields.ok() || reader->Fail();
}

bool ReadConsensusParams(FieldReader* reader, tendermint::types::ConsensusParams* params) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    std::string_view part;
    if (fields.field() > 2 || !fields.Bytes(&part)) return reader->Fail();
    FieldReader values(part);
    while (values.Next(fields.field() == 2 ? Repeated(1) : 0)) {
      if (fields.field() == 2) {
        std::string type;
        if (values.field() != 1 || !ReadString(&values, &type)) return reader->Fail();
        params->mutable_validator()->add_pub_key_types(type);
        continue;
      }
      int64_t number = 0;
      if (values.field() > 5 || !values.Varint(&number)) return reader->Fail();
      if (values.field() == 2) params->mutable_block()->set_max_bytes(number);
      if (values.field() == 4) params->mutable_block()->set_max_gas(number);
    }
    if (!values.ok()) return reader->Fail();
  }
  return fields.ok() || reader->Fail();
}

bool ReadEndBlock(FieldReader* reader, ResponseBase* base, std::vector<AnyField>* events,
                  tendermint::abci::ResponseFinalizeBlock* response) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next(Repeated(2) | Repeated(4))) {
    bool read = false;
    switch (fields.field()) {
      case 1:
        read = ReadResponseBase(&fields, base);
        break;
      case 2:
        read = ReadValidatorUpdate(&fields, response->add_validator_updates());
        break;
      case 3:
        read = ReadConsensusParams(&fields, response->mutable_consensus_param_updates());
        break;
      case 4:
        read = ReadAny(&fields, &events->emplace_back());
        break;
      default:
        break;
    }
    if (!read) return reader->Fail();
  }
  return fields.ok() || reader->Fail();
}

bool ReadValidator(FieldReader* reader, Tm2Validator* validator) {
  std::string_view bytes;
  if (!reader->Bytes(&bytes)) return false;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const bool read = fields.field() == 1   ? ReadAddress(&fields, &validator->address)
                      : fields.field() == 2 ? SkipBytes(&fields)
                      : fields.field() == 3 ? fields.Varint(&validator->power)
                      : fields.field() == 4 ? SkipVarint(&fields)
                                            : fields.Fail();
    if (!read) return reader->Fail();
  }
  return fields.ok() || reader->Fail();
}

}  // namespace

absl::StatusOr<Tm2Header> ParseTm2Header(std::string_view bytes) {
  Tm2Header header;
  BlockId last;
  FieldReader fields(bytes);
  while (fields.Next()) {
    bool read = false;
    switch (fields.field()) {
      case 2:
        read = ReadString(&fields, &header.chain_id);
        break;
      case 3:
        read = fields.Varint(&header.height);
        break;
      case 4:
        read = ReadTime(&fields, &header.time);
        break;
      case 5:
      case 6:
        read = SkipVarint(&fields);
        break;
      case 7:
        read = ReadString(&fields, &header.app_version);
        break;
      case 8:
        read = ReadBlockId(&fields, &last);
        break;
      case 10:
        read = ReadString(&fields, &header.data_hash);
        break;
      case 12:
        read = ReadString(&fields, &header.next_validators_hash);
        break;
      case 14:
        read = ReadString(&fields, &header.app_hash);
        break;
      case 15:
        read = ReadString(&fields, &header.results_hash);
        break;
      case 16:
        read = ReadAddress(&fields, &header.proposer);
        break;
      case 1:
      case 9:
      case 11:
      case 13:
        read = SkipBytes(&fields);
        break;
      default:
        break;
    }
    if (!read) return Malformed("a header");
  }
  const std::optional<storage::Hash> hash = keeper::gno::HeaderHash(bytes);
  if (!fields.ok() || !hash.has_value()) return Malformed("a header");
  header.hash = Raw(*hash);
  header.last_block_hash = std::move(last.hash);
  return header;
}

absl::StatusOr<Tm2BlockMeta> ParseTm2BlockMeta(std::string_view bytes) {
  Tm2BlockMeta meta;
  BlockId id;
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.field() == 1) {
      if (!ReadBlockId(&fields, &id)) break;
      continue;
    }
    std::string_view header;
    if (fields.field() != 2 || !fields.Bytes(&header)) return Malformed("a BlockMeta");
    absl::StatusOr<Tm2Header> parsed = ParseTm2Header(header);
    if (!parsed.ok()) return parsed.status();
    meta.header = *std::move(parsed);
  }
  if (!fields.ok()) return Malformed("a BlockMeta");
  if (meta.header.hash != id.hash) {
    return absl::DataLossError(
        absl::StrCat("its header has the hash ", absl::BytesToHexString(meta.header.hash),
                     ", but the block is filed under ", absl::BytesToHexString(id.hash)));
  }
  meta.parts = id.parts;
  return meta;
}

absl::StatusOr<std::string_view> ParseTm2Part(std::string_view bytes, int64_t index) {
  int64_t found = 0;
  std::string_view content;
  FieldReader fields(bytes);
  while (fields.Next()) {
    const bool read = fields.field() == 1   ? fields.Varint(&found)
                      : fields.field() == 2 ? fields.Bytes(&content)
                      : fields.field() == 3 ? SkipBytes(&fields)
                                            : fields.Fail();
    if (!read) return Malformed("a Part");
  }
  if (!fields.ok()) return Malformed("a Part");
  if (found != index) {
    return absl::DataLossError(absl::StrCat("is part ", found, ", not ", index));
  }
  return content;
}

absl::StatusOr<Tm2Block> ParseTm2Block(std::string_view bytes) {
  // Behind its length. A message's field 1 with it makes a reader of that.
  uint64_t size = 0;
  size_t head = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (head == bytes.size() || shift > 28) return Malformed("the length of a Block");
    const auto byte = static_cast<uint8_t>(bytes[head++]);
    size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (size != bytes.size() - head) return Malformed("a Block with its length before it");
  Tm2Block block;
  std::vector<std::string> tx_hashes;
  bool has_header = false;
  FieldReader fields(bytes.substr(head));
  while (fields.Next()) {
    if (fields.field() == 3) {
      if (!ReadCommit(&fields, &block)) return Malformed("a Commit in a Block");
      continue;
    }
    std::string_view part;
    if (fields.field() > 3 || !fields.Bytes(&part)) return Malformed("a Block");
    if (fields.field() == 1) {
      absl::StatusOr<Tm2Header> header = ParseTm2Header(part);
      if (!header.ok()) return header.status();
      block.header = *std::move(header);
      has_header = true;
      continue;
    }
    FieldReader data(part);
    while (data.Next(Repeated(1))) {
      std::string tx;
      if (data.field() != 1 || !ReadString(&data, &tx)) return Malformed("the Data of a Block");
      tx_hashes.push_back(Raw(storage::Sha256(std::string_view(tx))));
      block.txs.push_back(std::move(tx));
    }
    if (!data.ok()) return Malformed("the Data of a Block");
  }
  if (!fields.ok() || !has_header) return Malformed("a Block");
  if (Raw(storage::bptree::SimpleHash(tx_hashes)) != block.header.data_hash) {
    return absl::DataLossError("its transactions have not the data hash of its header");
  }
  return block;
}

absl::StatusOr<Tm2Responses> ParseTm2Responses(std::string_view bytes) {
  Tm2Responses responses;
  std::vector<std::string> leaves;
  ResponseBase begin;
  ResponseBase end;
  std::vector<AnyField> end_events;
  FieldReader fields(bytes);
  while (fields.Next(Repeated(1))) {
    if (fields.field() == 1) {
      if (!ReadTxResult(&fields, responses.response.add_tx_results(), &leaves.emplace_back())) {
        break;
      }
    } else if (fields.field() == 2) {
      if (!ReadEndBlock(&fields, &end, &end_events, &responses.response)) break;
    } else {
      std::string_view part;
      if (fields.field() != 3 || !fields.Bytes(&part)) return Malformed("an ABCIResponses");
      FieldReader base(part);
      while (base.Next()) {
        if (base.field() != 1 || !ReadResponseBase(&base, &begin)) {
          return Malformed("an ABCIResponses");
        }
      }
      if (!base.ok()) return Malformed("an ABCIResponses");
    }
  }
  if (!fields.ok()) return Malformed("an ABCIResponses");
  for (const AnyField& event : begin.events) {
    AddEvent(event, "BeginBlock", responses.response.add_events());
  }
  end.events.insert(end.events.end(), end_events.begin(), end_events.end());
  for (const AnyField& event : end.events) {
    AddEvent(event, "EndBlock", responses.response.add_events());
  }
  responses.results_hash = Raw(storage::bptree::SimpleHash(leaves));
  return responses;
}

absl::StatusOr<Tm2Validators> ParseTm2Validators(std::string_view bytes) {
  Tm2Validators result;
  FieldReader fields(bytes);
  while (fields.Next()) {
    if (fields.field() == 2) {
      if (!fields.Varint(&result.last_changed)) break;
      continue;
    }
    std::string_view set;
    if (fields.field() != 1 || !fields.Bytes(&set)) return Malformed("a ValidatorsInfo");
    FieldReader validators(set);
    while (validators.Next(Repeated(1))) {
      const bool read = validators.field() == 1
                            ? ReadValidator(&validators, &result.validators.emplace_back())
                        : validators.field() == 2 ? SkipBytes(&validators)
                                                  : validators.Fail();
      if (!read) return Malformed("a ValidatorSet");
    }
    if (!validators.ok()) return Malformed("a ValidatorSet");
  }
  if (!fields.ok()) return Malformed("a ValidatorsInfo");
  return result;
}

absl::StatusOr<Tm2State> ParseTm2State(std::string_view bytes) {
  Tm2State state;
  FieldReader fields(bytes);
  while (fields.Next()) {
    bool read = false;
    switch (fields.field()) {
      case 1:
        read = ReadString(&fields, &state.software);
        break;
      case 4:
        read = ReadString(&fields, &state.chain_id);
        break;
      case 5:
        read = fields.Varint(&state.initial_height);
        break;
      case 6:
        read = fields.Varint(&state.last_height);
        break;
      case 16:
        read = ReadString(&fields, &state.results_hash);
        break;
      case 17:
        read = ReadString(&fields, &state.app_hash);
        break;
      case 7:
      case 13:
      case 15:
        read = SkipVarint(&fields);
        break;
      default:
        read = fields.field() < 18 && SkipBytes(&fields);
        break;
    }
    if (!read) return Malformed("a State");
  }
  if (!fields.ok() || state.chain_id.empty() || state.initial_height < 0 || state.last_height < 0) {
    return Malformed("a State");
  }
  if (state.initial_height == 0) state.initial_height = 1;
  return state;
}

absl::StatusOr<int64_t> ParseTm2BlockStoreHeight(std::string_view bytes) {
  const nlohmann::json json = nlohmann::json::parse(
      bytes.begin(), bytes.end(),
      [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth < 4; },
      /*allow_exceptions=*/false);
  int64_t height = 0;
  if (!json.is_object() || !json.contains("height") || !json["height"].is_string() ||
      !absl::SimpleAtoi(json["height"].get<std::string>(), &height) || height < 0) {
    return Malformed("a block store's descriptor (JSON with a height)");
  }
  return height;
}

}  // namespace blockreplay::replay
