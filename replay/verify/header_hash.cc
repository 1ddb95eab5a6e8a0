#include "replay/verify/header_hash.h"

#include <google/protobuf/wrappers.pb.h>

#include <string>
#include <vector>

#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

std::string Encoded(const std::string& bytes) {
  google::protobuf::BytesValue value;
  value.set_value(bytes);
  return value.SerializeAsString();
}

std::string Encoded(int64_t number) {
  google::protobuf::Int64Value value;
  value.set_value(number);
  return value.SerializeAsString();
}

}  // namespace

Sha256Digest HeaderHash(const tendermint::types::Header& header) {
  tendermint::types::BlockID last_block = header.last_block_id();
  last_block.mutable_part_set_header();  // Go writes it though it be empty
  return MerkleRoot({header.version().SerializeAsString(),
                     Encoded(header.chain_id()),  // as a string is encoded, too
                     Encoded(header.height()), header.time().SerializeAsString(),
                     last_block.SerializeAsString(), Encoded(header.last_commit_hash()),
                     Encoded(header.data_hash()), Encoded(header.validators_hash()),
                     Encoded(header.next_validators_hash()), Encoded(header.consensus_hash()),
                     Encoded(header.app_hash()), Encoded(header.last_results_hash()),
                     Encoded(header.evidence_hash()), Encoded(header.proposer_address())});
}

Sha256Digest DataHash(const google::protobuf::RepeatedPtrField<std::string>& txs) {
  std::vector<std::string> leaves;
  leaves.reserve(static_cast<size_t>(txs.size()));
  for (const std::string& tx : txs) leaves.push_back(RawOf(Sha256Of(tx)));
  return MerkleRoot(leaves);
}

}  // namespace blockreplay::replay
