#include "replay/import/parts_feed.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "replay/recording/file_io.h"
#include "replay/recording/manifest.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxDraftSize = size_t{1} << 20;
constexpr int kMaxDepth = 32;
constexpr int64_t kBlocksPerPart = 10'000;
// Beside the parts, where the completed ones grow.
constexpr char kPartialFolder[] = "completing.partial";

std::string StringAt(const json& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

absl::StatusOr<FeedSource> ReadDraft(const std::string& dir) {
  const std::string path = absl::StrCat(dir, "/", kDraftName);
  absl::StatusOr<std::string> text = ReadFile(path, kMaxDraftSize);
  if (!text.ok()) return text.status();
  // Deep documents are discarded: destroying them recurses.
  const json document = json::parse(
      *text, [](int depth, json::parse_event_t, json&) { return depth < kMaxDepth; },
      /*allow_exceptions=*/false);
  if (!document.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a JSON object"));
  }
  FeedSource source;
  source.chain_id = StringAt(document, "chain_id");
  if (const auto application = document.find("application");
      application != document.end() && application->is_object()) {
    source.application_name = StringAt(*application, "name");
    source.application_version = StringAt(*application, "version");
  }
  if (const auto stores = document.find("stores"); stores != document.end() && stores->is_array()) {
    for (const json& store : *stores) {
      if (store.is_string()) source.stores.push_back(store.get<std::string>());
    }
  }
  if (const auto origin = document.find("origin");
      origin != document.end() && origin->is_object()) {
    source.kind = StringAt(*origin, "source");
    source.node_version = StringAt(*origin, "node_version");
    source.genesis_sha256 = StringAt(*origin, "genesis_sha256");
    source.details = *origin;
  }
  if (source.chain_id.empty() || source.application_name.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": \"chain_id\" and \"application\" with a \"name\" must be there"));
  }
  return source;
}

absl::StatusOr<std::vector<std::pair<int64_t, std::string>>> ListParts(const std::string& dir) {
  std::vector<std::pair<int64_t, std::string>> parts;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (const std::optional<int64_t> first = PartFirstHeight("blocks", name)) {
      parts.emplace_back(*first, name);
    }
  }
  if (error) return ErrnoStatus(error.value(), "list", dir);
  std::sort(parts.begin(), parts.end());
  if (parts.empty()) {
    return absl::NotFoundError(absl::StrCat(dir, " has no blocks-<height>.zst"));
  }
  return parts;
}

absl::Status MoveInto(const std::string& from, const Manifest& manifest, const std::string& to) {
  std::error_code error;
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    const fs::path target = fs::path(to) / it->path().filename();
    if (it->path().filename() == std::string(kManifestName)) continue;  // the last one
    if (it->is_directory()) fs::remove_all(target, error);
    if (!error) fs::rename(it->path(), target, error);
  }
  // Parts that are not of this recording: their blocks are in others now.
  for (fs::directory_iterator it(to, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!PartFirstHeight("blocks", name) || manifest.FindFile(name) != nullptr) continue;
    fs::remove(it->path(), error);
  }
  if (!error) {
    fs::rename(absl::StrCat(from, "/", std::string(kManifestName)),
               absl::StrCat(to, "/", std::string(kManifestName)), error);
  }
  if (error) return ErrnoStatus(error.value(), "move the completed parts to", to);
  fs::remove(absl::StrCat(to, "/", kDraftName), error);
  fs::remove_all(from, error);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteDraft(const std::string& dir, const FeedSource& source) {
  json origin = source.details;
  origin["source"] = source.kind;
  if (!source.node_version.empty()) origin["node_version"] = source.node_version;
  if (!source.genesis_sha256.empty()) origin["genesis_sha256"] = source.genesis_sha256;
  const json document = {
      {"chain_id", source.chain_id},
      {"application", {{"name", source.application_name}, {"version", source.application_version}}},
      {"stores", source.stores},
      {"origin", std::move(origin)}};
  return WriteFileAtomically(absl::StrCat(dir, "/", kDraftName),
                             document.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

absl::StatusOr<std::unique_ptr<PartsFeed>> PartsFeed::Open(const std::string& dir) {
  absl::StatusOr<FeedSource> source = ReadDraft(dir);
  if (!source.ok()) return source.status();
  auto parts = ListParts(dir);
  if (!parts.ok()) return parts.status();
  std::vector<std::string> names;
  for (const auto& [first, name] : *parts) names.push_back(name);
  return std::unique_ptr<PartsFeed>(
      new PartsFeed(*std::move(source), parts->front().first, dir, std::move(names)));
}

absl::StatusOr<bool> PartsFeed::Next(FedBlock* block) {
  for (;;) {
    absl::StatusOr<bool> more = stream_.Next(&message_);
    if (!more.ok()) return more.status();
    if (!*more) {
      source_.ranges = {{first_height_, next_height_ - 1}};
      return false;
    }
    if (!block->block.ParseFromString(message_)) {
      return absl::DataLossError(absl::StrCat(stream_.Where(), ": not a Block message"));
    }
    const int64_t height = block->block.height();
    if (height < next_height_ && height >= first_height_) continue;
    if (height != next_height_) {
      return absl::DataLossError(absl::StrCat(stream_.Where(), ": has height ", height, ", but ",
                                              next_height_, " must come here"));
    }
    ++next_height_;
    return true;
  }
}

absl::StatusOr<CompletionResult> CompleteParts(const std::string& dir, const BaseState* base,
                                               CompletionOptions options,
                                               CompletionObserver* observer) {
  absl::StatusOr<std::unique_ptr<PartsFeed>> feed = PartsFeed::Open(dir);
  if (!feed.ok()) return feed.status();
  std::unique_ptr<SnapshotBase> own_base;
  std::error_code error;
  if (base == nullptr && fs::exists(dir + "/snapshot", error)) {
    absl::StatusOr<std::unique_ptr<SnapshotBase>> opened = SnapshotBase::Open(dir + "/snapshot");
    if (!opened.ok()) return opened.status();
    own_base = *std::move(opened);
    base = own_base.get();
  }
  if (options.blocks_per_part == 0) options.blocks_per_part = kBlocksPerPart;
  options.out = absl::StrCat(dir, "/", kPartialFolder);
  fs::remove_all(options.out, error);
  if (error) return ErrnoStatus(error.value(), "remove", options.out);
  absl::StatusOr<CompletionResult> result = CompleteRecording(feed->get(), base, options, observer);
  if (!result.ok() || result->outcome != CompletionOutcome::kComplete) return result;
  if (absl::Status status = MoveInto(options.out, result->manifest, dir); !status.ok())
    return status;
  return result;
}

}  // namespace blockreplay::replay
