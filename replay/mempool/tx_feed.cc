#include "replay/mempool/tx_feed.h"

#include <iterator>
#include <utility>

namespace blockreplay::replay {

absl::StatusOr<bool> TxFeed::ReadBlock() {
  const absl::StatusOr<bool> more = reader_.Next(&block_);
  if (!more.ok() || !*more) return more;
  tendermint::abci::RequestFinalizeBlock* const request = block_.mutable_request();
  if (block_.height() <= height_) {
    request->clear_txs();
    last_ = std::move(*request);
    return true;
  }
  for (std::string& tx : *request->mutable_txs()) txs_.push_back(std::move(tx));
  request->clear_txs();
  requests_.emplace(block_.height(), std::move(*request));
  return true;
}

absl::StatusOr<std::optional<std::string>> TxFeed::Next() {
  while (txs_.empty()) {
    const absl::StatusOr<bool> more = ReadBlock();
    if (!more.ok()) return more.status();
    if (!*more) return std::optional<std::string>();
  }
  std::optional<std::string> tx(std::move(txs_.front()));
  txs_.pop_front();
  return tx;
}

absl::StatusOr<tendermint::abci::RequestFinalizeBlock> TxFeed::RequestOf(int64_t height) {
  bool more = true;
  while (more && !requests_.contains(height)) {
    const absl::StatusOr<bool> read = ReadBlock();
    if (!read.ok()) return read.status();
    more = *read;
  }
  if (const auto found = requests_.find(height); found != requests_.end()) {
    last_ = std::move(found->second);
    requests_.erase(requests_.begin(), std::next(found));
  } else {
    last_.mutable_time()->set_seconds(last_.time().seconds() + 1);
    last_.set_height(height);
  }
  return last_;
}

}  // namespace blockreplay::replay
