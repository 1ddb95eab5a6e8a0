#include "replay/import/joined_feed.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/import/genesis.h"
#include "replay/recording/file_io.h"

namespace blockreplay::replay {
namespace {

// The largest genesis documents that chains have begun with are a few hundred megabytes.
constexpr size_t kMaxGenesis = size_t{1} << 30;

std::string Describe(const FeedSource& source, const HeightRange& range) {
  if (source.ranges.empty()) {
    return range.last == 0 ? absl::StrCat("begins at ", range.first)
                           : absl::StrCat("has ", range.first, " to ", range.last);
  }
  return absl::StrCat(
      "has ", absl::StrJoin(source.ranges, ", ", [](std::string* text, const HeightRange& r) {
        absl::StrAppend(text, r.first, " to ", r.last);
      }));
}

// The part of what the source has that was asked for: contiguous, and all of it there.
absl::StatusOr<HeightRange> Chosen(const WritesSource& writes, const ImportRange& wanted) {
  const FeedSource source = writes.source();
  std::vector<HeightRange> there = source.ranges;
  if (there.empty()) there.push_back(writes.range());
  HeightRange chosen{wanted.from.value_or(there.front().first), 0};
  for (const HeightRange& range : there) {
    if (chosen.first < range.first || (range.last != 0 && chosen.first > range.last)) continue;
    chosen.last = wanted.to.value_or(range.last);
    if (chosen.last != 0 && chosen.last < chosen.first) break;
    if (range.last != 0 && chosen.last > range.last) break;
    return chosen;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("heights ", chosen.first, " to ",
                   wanted.to ? absl::StrCat(*wanted.to) : std::string("the last"),
                   " are not there without gap: the source (", source.kind, ") ",
                   Describe(source, writes.range())));
}

}  // namespace

absl::StatusOr<std::unique_ptr<JoinedFeed>> JoinedFeed::Create(std::unique_ptr<WritesSource> writes,
                                                               std::unique_ptr<RpcBlocks> rpc,
                                                               const JoinedFeedOptions& options) {
  absl::StatusOr<HeightRange> range = Chosen(*writes, options.range);
  if (!range.ok()) return range.status();
  std::unique_ptr<JoinedFeed> feed(new JoinedFeed(std::move(writes), std::move(rpc)));
  feed->range_ = *range;
  feed->next_ = range->first;
  if (!options.genesis.empty()) {
    if (absl::Status status = feed->ReadGenesis(options.genesis); !status.ok()) return status;
  }
  return feed;
}

absl::Status JoinedFeed::ReadGenesis(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxGenesis);
  if (!text.ok()) return text.status();
  absl::StatusOr<Genesis> genesis = ParseGenesis(*text, path);
  if (!genesis.ok()) return genesis.status();
  const FeedSource known = source();
  if (!known.chain_id.empty() && known.chain_id != genesis->init_chain.chain_id()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " is of chain ", genesis->init_chain.chain_id(), ", the blocks of ", known.chain_id));
  }
  genesis_sha256_ = genesis->sha256;
  init_chain_ = std::move(genesis->init_chain);
  return absl::OkStatus();
}

FeedSource JoinedFeed::source() const {
  FeedSource source = writes_->source();
  if (rpc_ != nullptr) {
    source.kind += " and RPC answers";
    if (rpc_->status().has_value()) {
      source.node_version = absl::StrCat("CometBFT ", rpc_->status()->version);
      if (source.chain_id.empty()) source.chain_id = rpc_->status()->chain_id;
    }
  }
  if (init_chain_.has_value() && source.chain_id.empty()) {
    source.chain_id = init_chain_->chain_id();
  }
  source.genesis_sha256 = genesis_sha256_;
  return source;
}

absl::Status JoinedFeed::AddRpc(v1::Block* block) {
  v1::Block told;
  if (absl::Status status = rpc_->Read(block->height(), &told); !status.ok()) return status;
  if (!block->has_request()) {
    block->mutable_request()->Swap(told.mutable_request());
  } else if (block->request().hash() != told.request().hash()) {
    return absl::DataLossError(absl::StrCat("block ", block->height(), " has one hash in the ",
                                            writes_->source().kind,
                                            " and another one in the RPC "
                                            "answers: they are of different chains"));
  }
  // The response that is there is proven by the next header as well as that of the server.
  if (!block->has_response()) block->mutable_response()->Swap(told.mutable_response());
  if (!block->has_header()) block->mutable_header()->Swap(told.mutable_header());
  return absl::OkStatus();
}

absl::StatusOr<bool> JoinedFeed::Next(FedBlock* block) {
  if (range_.last != 0 && next_ > range_.last) return false;
  block->block.set_height(next_);
  if (absl::Status status = writes_->Read(next_, block); !status.ok()) {
    if (absl::IsOutOfRange(status) && range_.last == 0 && next_ > range_.first) return false;
    return status;
  }
  if (rpc_ != nullptr) {
    if (absl::Status status = AddRpc(&block->block); !status.ok()) return status;
  }
  if (init_chain_.has_value() && next_ == std::max<int64_t>(1, init_chain_->initial_height())) {
    *block->block.mutable_init_chain() = *init_chain_;
  }
  ++next_;
  return true;
}

absl::StatusOr<std::optional<tendermint::types::Header>> JoinedFeed::HeaderAfterLast() {
  if (rpc_ != nullptr) return rpc_->HeaderAt(next_);
  FedBlock after;
  after.block.set_height(next_);
  if (!writes_->Read(next_, &after).ok() || !after.block.has_header()) return std::nullopt;
  return after.block.header();
}

}  // namespace blockreplay::replay
