#include "keeper/gno/header.h"

#include <vector>

#include "keeper/gno/address.h"
#include "keeper/gno/amino.h"
#include "storage/bptree/simple_merkle.h"
#include "storage/sha256.h"

namespace blockreplay::keeper::gno {
namespace {

// Versions of the block protocol and of the application that gno.land's nodes have at this commit.
constexpr std::string_view kBlockVersion = "v1.0.0-rc.0";
constexpr std::string_view kAppVersion = "dev";

constexpr uint32_t kHeight = 3;
constexpr uint32_t kTime = 4;
constexpr uint32_t kNumTxs = 5;
constexpr uint32_t kTotalTxs = 6;
constexpr uint32_t kLastBlockId = 8;
constexpr uint32_t kFields = 16;

std::string_view Bytes(const storage::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// Collects fields; amino's writer wants to know sizes first, a header is no hot path.
class Message {
 public:
  void Bytes(uint32_t field, std::string_view value) {
    Ensure(value.size());
    size_ += Write([&](amino::Writer* writer) { writer->BytesField(field, value); });
  }
  void Varint(uint32_t field, int64_t value) {
    Ensure(0);
    size_ += Write([&](amino::Writer* writer) { writer->VarintField(field, value); });
  }
  void Uvarint(uint32_t field, uint64_t value) {
    Ensure(0);
    size_ += Write([&](amino::Writer* writer) { writer->UvarintField(field, value); });
  }
  std::string Take() {
    buffer_.resize(size_);
    return std::move(buffer_);
  }

 private:
  void Ensure(size_t payload) { buffer_.resize(size_ + payload + 32); }
  template <typename Put>
  size_t Write(Put put) {
    amino::Writer writer(buffer_.data() + size_);
    put(&writer);
    return writer.size();
  }
  std::string buffer_;
  size_t size_ = 0;
};

std::string EncodeTime(const google::protobuf::Timestamp& time) {
  Message message;
  message.Uvarint(1, static_cast<uint64_t>(time.seconds()));
  message.Uvarint(2, static_cast<uint64_t>(time.nanos()));
  return message.Take();
}

bool IsNumber(uint32_t field) { return field == kHeight || field == kNumTxs || field == kTotalTxs; }

int64_t TotalTxsOf(std::string_view header) {
  amino::FieldReader reader(header);
  while (reader.Next()) {
    int64_t number = 0;
    std::string_view bytes;
    if (IsNumber(reader.field()) ? !reader.Varint(&number) : !reader.Bytes(&bytes)) break;
    if (reader.field() == kTotalTxs) return number;
  }
  return 0;
}

}  // namespace

std::string EncodeHeader(const tendermint::abci::RequestFinalizeBlock& request,
                         std::string_view chain_id,
                         const std::optional<std::string>& previous_header,
                         const std::optional<storage::Hash>& previous_app_hash) {
  std::vector<std::string> tx_hashes;
  for (const std::string& tx : request.txs())
    tx_hashes.emplace_back(Bytes(storage::Sha256(std::string_view(tx))));
  const std::optional<storage::Hash> data_hash = storage::bptree::SimpleHash(tx_hashes);
  const int64_t total =
      request.txs_size() + (previous_header.has_value() ? TotalTxsOf(*previous_header) : 0);

  Message header;
  header.Bytes(1, kBlockVersion);
  header.Bytes(2, chain_id);
  header.Varint(kHeight, request.height());
  header.Bytes(kTime, EncodeTime(request.time()));
  header.Varint(kNumTxs, request.txs_size());
  header.Varint(kTotalTxs, total);
  header.Bytes(7, kAppVersion);
  const std::optional<storage::Hash> previous_hash =
      previous_header.has_value() ? HeaderHash(*previous_header) : std::nullopt;
  if (previous_hash.has_value()) {
    Message parts;
    parts.Varint(1, 1);
    parts.Bytes(2, Bytes(*previous_hash));
    Message block_id;
    block_id.Bytes(1, Bytes(*previous_hash));
    block_id.Bytes(2, parts.Take());
    header.Bytes(kLastBlockId, block_id.Take());
  }
  if (data_hash.has_value()) header.Bytes(10, Bytes(*data_hash));
  // The validators did not change since.
  header.Bytes(11, request.next_validators_hash());
  header.Bytes(12, request.next_validators_hash());
  if (previous_app_hash.has_value()) header.Bytes(14, Bytes(*previous_app_hash));
  Address proposer;
  if (request.proposer_address().size() == proposer.bytes.size()) {
    std::copy(request.proposer_address().begin(), request.proposer_address().end(),
              proposer.bytes.begin());
  }
  header.Bytes(16, proposer.ToString());
  return header.Take();
}

std::optional<HeaderFacts> ParseHeader(std::string_view header) {
  HeaderFacts facts;
  amino::FieldReader reader(header);
  while (reader.Next()) {
    int64_t number = 0;
    std::string_view bytes;
    if (reader.field() > kFields) return std::nullopt;
    if (IsNumber(reader.field()) ? !reader.Varint(&number) : !reader.Bytes(&bytes)) {
      return std::nullopt;
    }
    if (reader.field() == kHeight) facts.height = number;
    if (reader.field() != kTime) continue;
    amino::FieldReader time(bytes);
    while (time.Next()) {
      uint64_t part = 0;
      if (time.field() > 2 || !time.Uvarint(&part)) return std::nullopt;
      if (time.field() == 1) facts.time = static_cast<int64_t>(part);
    }
    if (!time.ok()) return std::nullopt;
  }
  if (!reader.ok()) return std::nullopt;
  return facts;
}

std::optional<storage::Hash> HeaderHash(std::string_view header) {
  // A leaf for each field as amino writes it at the top: scalars as field 1 of a message, messages
  // bare, nothing for zero values.
  std::vector<std::string> leaves(kFields);
  amino::FieldReader reader(header);
  while (reader.Next()) {
    const uint32_t field = reader.field();
    if (field > kFields) return std::nullopt;
    Message leaf;
    if (IsNumber(field)) {
      int64_t number = 0;
      if (!reader.Varint(&number)) return std::nullopt;
      leaf.Varint(1, number);
    } else {
      std::string_view bytes;
      if (!reader.Bytes(&bytes)) return std::nullopt;
      if (field == kTime || field == kLastBlockId) {
        leaves[field - 1] = std::string(bytes);
        continue;
      }
      leaf.Bytes(1, bytes);
    }
    leaves[field - 1] = leaf.Take();
  }
  if (!reader.ok()) return std::nullopt;
  return storage::bptree::SimpleHash(leaves);
}

}  // namespace blockreplay::keeper::gno
