#include "keeper/gno/consensus_params.h"

#include "keeper/gno/amino.h"

namespace blockreplay::keeper::gno {
namespace {

constexpr uint32_t kBlock = 1;
constexpr uint32_t kValidator = 2;
constexpr uint32_t kMaxGas = 4;

// Fields that a recording's request has no place for.
constexpr int64_t kMaxTxBytes = 1'000'000;
constexpr int64_t kTimeIotaMs = 100;

}  // namespace

std::string EncodeConsensusParams(const tendermint::abci::RequestInitChain& request) {
  const auto& params = request.consensus_params();
  std::string block(64, '\0');
  amino::Writer block_writer(block.data());
  block_writer.VarintField(1, kMaxTxBytes);
  block_writer.VarintField(2, params.block().max_bytes());
  block_writer.VarintField(kMaxGas, params.block().max_gas());
  block_writer.VarintField(5, kTimeIotaMs);
  block.resize(block_writer.size());
  size_t types_size = 0;
  for (const std::string& type : params.validator().pub_key_types())
    types_size += amino::BytesFieldSize(type.size());
  std::string bytes(amino::BytesFieldSize(block.size()) + amino::BytesFieldSize(types_size), '\0');
  amino::Writer writer(bytes.data());
  writer.BytesField(kBlock, block);
  if (writer.MessageField(kValidator, types_size)) {
    for (const std::string& type : params.validator().pub_key_types()) writer.BytesField(1, type);
  }
  return bytes;
}

std::optional<int64_t> MaxGasOf(std::string_view consensus_params) {
  std::string_view block;
  amino::FieldReader params(consensus_params);
  while (params.Next()) {
    std::string_view field;
    if (params.field() > kValidator || !params.Bytes(&field)) return std::nullopt;
    if (params.field() == kBlock) block = field;
  }
  int64_t max_gas = 0;
  amino::FieldReader fields(block);
  while (fields.Next()) {
    int64_t number = 0;
    if (fields.field() > 5 || !fields.Varint(&number)) return std::nullopt;
    if (fields.field() == kMaxGas) max_gas = number;
  }
  if (!params.ok() || !fields.ok()) return std::nullopt;
  return max_gas;
}

}  // namespace blockreplay::keeper::gno
