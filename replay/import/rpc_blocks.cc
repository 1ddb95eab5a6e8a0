#include "replay/import/rpc_blocks.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "replay/import/finalize_request.h"

namespace blockreplay::replay {

using tendermint::types::Header;
using tendermint::types::ValidatorSet;

absl::StatusOr<std::unique_ptr<RpcBlocks>> RpcBlocks::Open(std::unique_ptr<RpcSource> source) {
  const RpcQuestion question{"status"};
  absl::StatusOr<std::string> answer = source->Get(question);
  if (!answer.ok() && !absl::IsNotFound(answer.status())) return answer.status();
  std::unique_ptr<RpcBlocks> blocks(new RpcBlocks(std::move(source)));
  if (!answer.ok()) return blocks;
  absl::StatusOr<RpcStatus> status = ParseRpcStatus(*answer, blocks->source_->NameOf(question));
  if (absl::IsNotFound(status.status())) return blocks;
  if (!status.ok()) return status.status();
  blocks->encoding_ = EventEncodingOf(status->version);
  blocks->status_ = *std::move(status);
  return blocks;
}

std::string RpcBlocks::BlockName(int64_t height) const {
  return source_->NameOf({"block", height});
}

absl::StatusOr<RpcBlock> RpcBlocks::BlockAt(int64_t height) {
  absl::StatusOr<std::string> answer = source_->Get({"block", height});
  if (!answer.ok()) return answer.status();
  return ParseRpcBlock(*answer, BlockName(height), height);
}

absl::StatusOr<std::optional<Header>> RpcBlocks::HeaderAt(int64_t height) {
  const RpcQuestion commit{"commit", height};
  absl::StatusOr<std::string> answer = source_->Get(commit);
  absl::Status status = answer.status();
  if (answer.ok()) {
    absl::StatusOr<Header> header = ParseRpcCommit(*answer, source_->NameOf(commit), height);
    if (header.ok()) return std::optional<Header>(*std::move(header));
    status = header.status();
  }
  if (!absl::IsNotFound(status)) return status;
  absl::StatusOr<RpcBlock> block = BlockAt(height);
  if (block.ok()) return std::optional<Header>(block->block.header());
  if (!absl::IsNotFound(block.status())) return block.status();
  return std::optional<Header>();
}

absl::Status RpcBlocks::CheckFollows(const RpcBlock& block) const {
  if (!last_header_.has_value()) return absl::OkStatus();
  const Header& header = block.block.header();
  if (header.chain_id() != last_header_->chain_id()) {
    return absl::DataLossError(absl::StrCat(BlockName(header.height()), ": is of chain ",
                                            header.chain_id(), ", the block before it of ",
                                            last_header_->chain_id()));
  }
  if (header.height() == last_header_->height() + 1 &&
      header.last_block_id().hash() != last_hash_) {
    return absl::DataLossError(absl::StrCat(BlockName(header.height()), ": follows block ",
                                            absl::BytesToHexString(header.last_block_id().hash()),
                                            ", but the answer for ", last_header_->height(), " is ",
                                            absl::BytesToHexString(last_hash_),
                                            ": the answers are of different chains, or made up"));
  }
  return absl::OkStatus();
}

absl::Status RpcBlocks::LoadLastValidators(const RpcBlock& block) {
  const int64_t height = block.block.header().height() - 1;
  std::optional<Header> header = last_header_;
  if (!header.has_value() || header->height() != height) {
    absl::StatusOr<std::optional<Header>> found = HeaderAt(height);
    if (!found.ok()) return found.status();
    header = *std::move(found);
  }
  // Without the header before: validators seldom change, and then both headers have the same hash.
  const std::string& wanted =
      header.has_value() ? header->validators_hash() : block.block.header().validators_hash();
  if (wanted == validators_hash_) return absl::OkStatus();
  ValidatorSet set;
  for (int page = 1;; ++page) {
    const RpcQuestion question{"validators", height, page};
    const int before = set.validators_size();
    absl::StatusOr<std::string> answer = source_->Get(question);
    if (!answer.ok()) {
      return absl::Status(answer.status().code(),
                          absl::StrCat(answer.status().message(),
                                       " (needed for the votes in block ", height + 1, ")"));
    }
    const std::string name = source_->NameOf(question);
    const absl::StatusOr<int64_t> total = ParseRpcValidators(*answer, name, height, &set);
    if (!total.ok()) return total.status();
    if (set.validators_size() >= *total) break;
    if (set.validators_size() == before) {
      return absl::DataLossError(absl::StrCat(name, ": has no more validators, but ", *total,
                                              " in all, of which ", before, " came"));
    }
  }
  if (const std::string hash = ValidatorsHash(set); hash != wanted) {
    return absl::DataLossError(absl::StrCat(
        source_->NameOf({"validators", height}), ": these validators have the hash ",
        absl::BytesToHexString(hash), ", the header says ", absl::BytesToHexString(wanted),
        header.has_value() ? "" : absl::StrCat(" (add the commit of ", height, ")")));
  }
  validators_ = std::move(set);
  validators_hash_ = wanted;
  return absl::OkStatus();
}

absl::Status RpcBlocks::Read(int64_t height, v1::Block* block) {
  absl::StatusOr<RpcBlock> read = BlockAt(height);
  if (!read.ok()) return read.status();
  if (absl::Status status = CheckFollows(*read); !status.ok()) return status;
  const bool first = read->block.last_commit().signatures().empty();
  if (!first) {
    if (absl::Status status = LoadLastValidators(*read); !status.ok()) return status;
  }
  absl::StatusOr<tendermint::abci::RequestFinalizeBlock> request =
      BuildFinalizeRequest(read->block, read->hash, first ? nullptr : &validators_);
  if (!request.ok()) return request.status();
  const RpcQuestion results{"block_results", height};
  absl::StatusOr<std::string> answer = source_->Get(results);
  if (!answer.ok()) return answer.status();
  absl::StatusOr<tendermint::abci::ResponseFinalizeBlock> response =
      ParseRpcBlockResults(*answer, source_->NameOf(results), height, encoding_);
  if (!response.ok()) return response.status();
  if (response->tx_results_size() != request->txs_size()) {
    return absl::DataLossError(
        absl::StrCat(source_->NameOf(results), ": has ", response->tx_results_size(),
                     " results, but the block has ", request->txs_size(), " transactions"));
  }
  *block->mutable_request() = *std::move(request);
  *block->mutable_response() = *std::move(response);
  *block->mutable_header() = read->block.header();
  last_header_ = std::move(*read->block.mutable_header());
  last_hash_ = std::move(read->hash);
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
