#include "replay/import/formats/stream_files.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/import/formats/legacy_block.h"
#include "replay/recording/file_io.h"
#include "replay/recording/sha256.h"
#include "replay/verify/results_hash.h"

namespace blockreplay::replay {
namespace {

using cosmos::base::store::v1beta1::BlockMetadata;
using cosmos::store::v1beta1::StoreKVPair;

constexpr size_t kPrefixSize = 8;
// A parsed protobuf message cannot be larger either.
constexpr size_t kMaxFileSize = size_t{std::numeric_limits<int32_t>::max()};
constexpr std::string_view kDataKind = "data";
constexpr std::string_view kMetaKind = "meta";

struct FileName {
  std::string prefix;  // with its '-'
  int64_t height = 0;
  bool is_data = false;
};

std::optional<FileName> ParseFileName(std::string_view name) {
  FileName parsed;
  const size_t block = name.rfind("block-");
  if (block == std::string_view::npos) return std::nullopt;
  parsed.prefix = name.substr(0, block);
  if (!parsed.prefix.empty() && parsed.prefix.back() != '-') return std::nullopt;
  const std::string_view rest = name.substr(block + 6);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), parsed.height);
  if (error != std::errc() || parsed.height <= 0) return std::nullopt;
  const std::string_view kind(end, static_cast<size_t>(rest.data() + rest.size() - end));
  if (kind != absl::StrCat("-", std::string(kDataKind)) &&
      kind != absl::StrCat("-", std::string(kMetaKind))) {
    return std::nullopt;
  }
  parsed.is_data = absl::EndsWith(std::string(kind), std::string(kDataKind));
  return parsed;
}

// Hashing grows with the square of the number tried.
constexpr int kMostTransactionsTried = 10'000;

bool HaveDataHash(const BlockMetadata& meta, const std::vector<std::string>& hashes) {
  const Sha256Digest root = MerkleRoot(hashes);
  return std::string_view(reinterpret_cast<const char*>(root.data()), root.size()) ==
         meta.request_begin_block().header().data_hash();
}

std::string TransactionHash(const BlockMetadata& meta, int index) {
  return RawOf(Sha256Of(meta.deliver_txs(index).request().tx()));
}

// How many of the last transactions have the data hash: those of one block. Nothing if no number
// has. First the number by which the list has grown, then, as after a restart of the node, any.
std::optional<int> TransactionsOfBlock(const BlockMetadata& meta, int listed_before) {
  const int listed = meta.deliver_txs_size();
  std::vector<std::string> hashes;
  if (listed_before <= listed) {
    for (int i = listed_before; i < listed; ++i) hashes.push_back(TransactionHash(meta, i));
    if (HaveDataHash(meta, hashes)) return listed - listed_before;
  }
  hashes.clear();
  for (int count = 0; count <= std::min(listed, kMostTransactionsTried); ++count) {
    if (count > 0) hashes.insert(hashes.begin(), TransactionHash(meta, listed - count));
    if (HaveDataHash(meta, hashes)) return count;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::string> ReadStreamFile(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path, kMaxFileSize);
  if (!bytes.ok()) return bytes;
  if (bytes->size() < kPrefixSize) {
    return absl::DataLossError(
        absl::StrCat(path, ": has ", bytes->size(),
                     " bytes, fewer than its length prefix: the node did not "
                     "finish writing it"));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kPrefixSize; ++i) {
    length = length << 8 | static_cast<uint8_t>((*bytes)[i]);
  }
  if (length != bytes->size() - kPrefixSize) {
    return absl::DataLossError(absl::StrCat(
        path, ": its length prefix says ", length, " bytes, but ", bytes->size() - kPrefixSize,
        " follow: the node did not finish writing it, or it is no file of the streaming service"));
  }
  bytes->erase(0, kPrefixSize);
  return bytes;
}

absl::Status ParseStreamData(std::string_view payload, const std::string& path,
                             google::protobuf::RepeatedPtrField<StoreKVPair>* writes) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(payload.data()),
                                                static_cast<int>(payload.size()));
  while (stream.CurrentPosition() < static_cast<int>(payload.size())) {
    const auto at = kPrefixSize + static_cast<size_t>(stream.CurrentPosition());
    const auto damaged = [&](std::string_view problem) {
      return absl::DataLossError(absl::StrCat(path, ": write ", writes->size(), " at offset ", at,
                                              ": ", std::string(problem)));
    };
    uint32_t size = 0;
    if (!stream.ReadVarint32(&size)) return damaged("its length is no varint");
    const auto left = payload.size() - static_cast<size_t>(stream.CurrentPosition());
    if (size > left) {
      return damaged(absl::StrCat("has ", size, " bytes, but the file only ", left, " more"));
    }
    const auto limit = stream.PushLimit(static_cast<int>(size));
    StoreKVPair write;
    if (!write.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
      return damaged("is no StoreKVPair message");
    }
    stream.PopLimit(limit);
    if (write.store_key().empty()) return damaged("names no store");
    *writes->Add() = std::move(write);
  }
  return absl::OkStatus();
}

absl::Status ParseStreamMeta(std::string_view payload, const std::string& path, int64_t height,
                             int* listed_before, v1::Block* block) {
  BlockMetadata meta;
  if (!meta.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return absl::DataLossError(absl::StrCat(path, ": is no BlockMetadata message"));
  }
  const tendermint::types::Header& header = meta.request_begin_block().header();
  if (header.height() != height) {
    return absl::DataLossError(absl::StrCat(path, ": its header is of height ", header.height(),
                                            ", not ", height, ": the file was renamed"));
  }
  if (meta.request_end_block().height() != height) {
    return absl::DataLossError(absl::StrCat(path, ": end block was asked for height ",
                                            meta.request_end_block().height(), ", not ", height));
  }
  const std::optional<int> transactions = TransactionsOfBlock(meta, *listed_before);
  *listed_before = meta.deliver_txs_size();
  if (!transactions) {
    return absl::DataLossError(
        absl::StrCat(path, ": no number of its last ", meta.deliver_txs_size(),
                     " transactions has the header's data hash ",
                     absl::BytesToHexString(header.data_hash()), ": some are missing or changed"));
  }
  SetLegacyRequest(meta.request_begin_block(), block);
  tendermint::abci::ResponseFinalizeBlock* response = block->mutable_response();
  AddLegacyEvents(LegacyPhase::kBeginBlock, meta.response_begin_block().events(), response);
  for (int i = meta.deliver_txs_size() - *transactions; i < meta.deliver_txs_size(); ++i) {
    BlockMetadata::DeliverTx* tx = meta.mutable_deliver_txs(i);
    block->mutable_request()->add_txs(std::move(*tx->mutable_request()->mutable_tx()));
    response->add_tx_results()->Swap(tx->mutable_response());
  }
  SetLegacyEnd(meta.response_end_block(), response);
  response->set_app_hash(meta.response_commit().data());
  block->set_app_hash(meta.response_commit().data());
  return absl::OkStatus();
}

absl::StatusOr<StreamFiles> StreamFiles::Open(const std::string& dir) {
  std::error_code error;
  std::filesystem::directory_iterator entries(dir, error);
  if (error) return ErrnoStatus(error.value(), "read folder", dir);
  std::set<std::string> prefixes;
  std::map<int64_t, bool> data;
  std::set<int64_t> meta;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (error) return ErrnoStatus(error.value(), "read folder", dir);
    const std::optional<FileName> name = ParseFileName(entries->path().filename().string());
    if (!name) continue;
    prefixes.insert(name->prefix);
    if (name->is_data) {
      data.emplace(name->height, false);
    } else {
      meta.insert(name->height);
    }
  }
  if (data.empty()) {
    return absl::NotFoundError(absl::StrCat(
        dir,
        " has no files block-<height>-data: give the folder that the node's app.toml names as "
        "streamers.file.write_dir"));
  }
  if (prefixes.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(dir, " has files of several prefixes (\"",
                                                   absl::StrJoin(prefixes, "\", \""),
                                                   "\"): give a folder with those of one node"));
  }
  StreamFiles files(dir, *prefixes.begin());
  for (auto& [height, has_meta] : data) has_meta = meta.contains(height);
  files.heights_ = std::move(data);
  return files;
}

std::string StreamFiles::Path(int64_t height, std::string_view kind) const {
  return absl::StrCat(dir_, "/", prefix_, "block-", height, "-", std::string(kind));
}

absl::Status StreamFiles::Read(int64_t height, v1::Block* block) {
  const auto found = heights_.find(height);
  if (found == heights_.end()) {
    return absl::NotFoundError(absl::StrCat(Path(height, kDataKind), " is not there"));
  }
  block->set_height(height);
  const std::string data_path = Path(height, kDataKind);
  absl::StatusOr<std::string> data = ReadStreamFile(data_path);
  if (!data.ok()) return data.status();
  if (absl::Status status = ParseStreamData(*data, data_path, block->mutable_change_set());
      !status.ok()) {
    return status;
  }
  if (!found->second) return absl::OkStatus();
  const std::string meta_path = Path(height, kMetaKind);
  absl::StatusOr<std::string> meta = ReadStreamFile(meta_path);
  if (!meta.ok()) return meta.status();
  return ParseStreamMeta(*meta, meta_path, height, &listed_transactions_, block);
}

}  // namespace blockreplay::replay
