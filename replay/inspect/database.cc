#include "replay/inspect/database.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "replay/recording/file_io.h"
#include "storage/kv/read_only.h"

namespace blockreplay::replay {
namespace {

namespace fs = std::filesystem;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

absl::StatusOr<std::string> FindDatabase(const std::string& path) {
  const fs::path base(path);
  for (const fs::path& candidate :
       {base, base / "application.db", base / "data" / "application.db"}) {
    if (storage::LooksLikeDatabase(candidate.string())) return candidate.string();
  }
  if (!Exists(base)) return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  return absl::NotFoundError(
      absl::StrCat(path, " is neither a database nor a folder with an application.db in it"));
}

std::string ChainIdOf(const std::string& path) {
  const fs::path database(path);
  for (const fs::path& folder : {database, database.parent_path()}) {
    absl::StatusOr<std::string> text =
        ReadFile((folder / "blockreplay.json").string(), size_t{1} << 20);
    if (!text.ok()) continue;
    const nlohmann::json document = nlohmann::json::parse(*text, nullptr, false);
    if (document.is_object() && document.contains("chain_id") && document["chain_id"].is_string()) {
      return document["chain_id"].get<std::string>();
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<PathAtHeight> ParsePathAtHeight(const std::string& text) {
  PathAtHeight result{text, std::nullopt};
  const size_t at = text.rfind('@');
  if (Exists(text) || at == std::string::npos) return result;
  int64_t height = 0;
  if (!absl::SimpleAtoi(text.substr(at + 1), &height) || height <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, ": \"", text.substr(at + 1), "\" is not a height"));
  }
  result.path = text.substr(0, at);
  result.height = height;
  return result;
}

absl::StatusOr<InspectedDatabase> InspectedDatabase::Open(const std::string& path) {
  absl::StatusOr<std::string> found = FindDatabase(path);
  if (!found.ok()) return found.status();
  InspectedDatabase database;
  database.path_ = path;
  database.chain_id_ = ChainIdOf(*found);
  absl::StatusOr<std::unique_ptr<storage::Reader>> reader = storage::OpenReadOnly(*found);
  if (!reader.ok()) return reader.status();
  database.reader_ = *std::move(reader);
  // Later ones than the last are left over from a rollback.
  absl::StatusOr<std::unique_ptr<storage::MultistoreView>> last =
      storage::MultistoreView::Open(database.reader_.get(), 0);
  if (!last.ok()) {
    return absl::Status(last.status().code(), absl::StrCat(path, ": ", last.status().message()));
  }
  absl::StatusOr<std::vector<int64_t>> versions = storage::ListVersions(*database.reader_);
  if (!versions.ok()) return versions.status();
  for (const int64_t version : *versions) {
    if (version <= (*last)->version()) database.versions_.push_back(version);
  }
  if (database.versions_.empty()) {
    return absl::NotFoundError(absl::StrCat(path, ": no version of a multistore in it"));
  }
  return database;
}

absl::StatusOr<std::unique_ptr<storage::MultistoreView>> InspectedDatabase::View(
    int64_t version) const {
  absl::StatusOr<std::unique_ptr<storage::MultistoreView>> view =
      storage::MultistoreView::Open(reader_.get(), version);
  if (view.ok()) return view;
  return absl::Status(view.status().code(),
                      absl::StrCat(path_, " at height ", version, ": ", view.status().message(),
                                   " (it has commit infos from ", versions_.front(), " to ",
                                   versions_.back(), ")"));
}

absl::StatusOr<storage::CommitInfo> InspectedDatabase::ReadCommitInfo(int64_t version) const {
  return storage::ReadCommitInfo(*reader_, version);
}

}  // namespace blockreplay::replay
