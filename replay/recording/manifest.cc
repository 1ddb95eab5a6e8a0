#include "replay/recording/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/recording/file_io.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

// A manifest with notes of a large recording has some 10 KiB.
constexpr size_t kMaxManifestSize = size_t{64} << 20;

// Collects the first problem, so that reading fields needs no check after each.
class Fields {
 public:
  Fields(const json& object, std::string prefix) : object_(object), prefix_(std::move(prefix)) {}

  const json* Find(const char* name) const {
    const auto it = object_.find(name);
    return it == object_.end() ? nullptr : &*it;
  }

  std::string String(const char* name) {
    const json* value = Find(name);
    if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty()) {
      Fail(name, "a non-empty string");
      return {};
    }
    return value->get<std::string>();
  }

  int64_t Integer(const char* name, int64_t min) {
    const json* value = Find(name);
    if (value == nullptr || !value->is_number_integer() ||
        (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t{INT64_MAX}) ||
        value->get<int64_t>() < min) {
      Fail(name, absl::StrCat("an integer of at least ", min));
      return 0;
    }
    return value->get<int64_t>();
  }

  // 32 bytes in lower-case hex, as they stand.
  std::string Hash(const char* name) {
    const json* value = Find(name);
    if (value != nullptr && value->is_string()) {
      std::string text = value->get<std::string>();
      const auto is_hex = [](char c) {
        return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
      };
      if (text.size() == 64 && std::all_of(text.begin(), text.end(), is_hex)) return text;
    }
    Fail(name, "32 bytes in lower-case hex");
    return {};
  }

  std::string RawHash(const char* name) { return absl::HexStringToBytes(Hash(name)); }

  const json* Array(const char* name) {
    const json* value = Find(name);
    if (value == nullptr || !value->is_array() || value->empty()) {
      Fail(name, "a non-empty list");
      return nullptr;
    }
    return value;
  }

  void Fail(std::string_view name, std::string_view expected) {
    if (!problem_.empty()) return;
    problem_ =
        absl::StrCat("field \"", prefix_, std::string(name), "\" must be ", std::string(expected));
  }

  const std::string& problem() const { return problem_; }

 private:
  const json& object_;
  std::string prefix_;
  std::string problem_;
};

bool IsSafeName(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos ||
      name.find('\n') != std::string_view::npos) {
    return false;
  }
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(absl::string_view(name.data(), name.size()), '/'))) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

std::string ParseFiles(const json& list, Manifest* manifest) {
  std::set<std::string> names;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string prefix = absl::StrCat("files[", i, "].");
    if (!list[i].is_object()) return absl::StrCat("field \"files[", i, "]\" must be an object");
    Fields fields(list[i], prefix);
    Manifest::File file;
    file.name = fields.String("name");
    file.size = static_cast<uint64_t>(fields.Integer("size", 0));
    file.sha256 = fields.Hash("sha256");
    if (!IsSafeName(file.name)) fields.Fail("name", "a path inside the recording");
    if (!names.insert(file.name).second) fields.Fail("name", "listed once");
    if (!fields.problem().empty()) return fields.problem();
    manifest->files.push_back(std::move(file));
  }
  return {};
}

std::string CheckConsistency(const Manifest& manifest) {
  if (manifest.last_height < manifest.first_height) {
    return "\"last_height\" is below \"first_height\"";
  }
  if (manifest.StreamFiles("blocks").empty()) {
    return "\"files\" lists neither blocks.zst nor parts blocks-<first height>.zst";
  }
  for (const char* stem : {"blocks", "phases"}) {
    const std::vector<std::string> parts = manifest.StreamFiles(stem);
    if (parts.size() > 1 && !PartFirstHeight(stem, parts.front())) {
      return absl::StrCat("\"files\" lists both ", stem, ".zst and parts of it");
    }
  }
  const bool has_snapshot = manifest.FindFile("snapshot/_snapshot") != nullptr;
  const bool has_partial_base = manifest.FindFile(kPartialBaseName) != nullptr;
  if (manifest.partial_base.has_value() != has_partial_base) {
    return absl::StrCat("\"partial_base\" and the file ", std::string(kPartialBaseName),
                        " come together or not at all");
  }
  if (has_snapshot && has_partial_base) return "\"files\" lists both a snapshot and a partial base";
  if (manifest.base.has_value() != (has_snapshot || has_partial_base)) {
    if (manifest.base) return "\"base_height\" is given, but no file snapshot/_snapshot is listed";
    return absl::StrCat(has_snapshot ? "a snapshot" : "a partial base",
                        " is listed, but \"base_height\" and \"base_app_hash\" are missing");
  }
  if (manifest.base && manifest.base->height != manifest.first_height - 1) {
    return absl::StrCat("\"base_height\" is ", manifest.base->height, ", but blocks start at ",
                        manifest.first_height, ": it must be one below");
  }
  return {};
}

}  // namespace

const Manifest::File* Manifest::FindFile(std::string_view name) const {
  for (const File& file : files) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

std::vector<std::string> Manifest::StreamFiles(std::string_view stem) const {
  std::vector<std::pair<int64_t, std::string>> parts;
  const std::string whole = absl::StrCat(std::string(stem), ".zst");
  for (const File& file : files) {
    if (file.name == whole) {
      parts.emplace_back(-1, file.name);
    } else if (const std::optional<int64_t> first = PartFirstHeight(stem, file.name)) {
      parts.emplace_back(*first, file.name);
    }
  }
  std::sort(parts.begin(), parts.end());
  std::vector<std::string> names;
  for (auto& part : parts) names.push_back(std::move(part.second));
  return names;
}

std::optional<int64_t> PartFirstHeight(std::string_view stem, std::string_view name) {
  constexpr std::string_view kSuffix = ".zst";
  if (name.size() <= stem.size() + 1 + kSuffix.size() || name.substr(0, stem.size()) != stem ||
      name[stem.size()] != '-' || name.substr(name.size() - kSuffix.size()) != kSuffix) {
    return std::nullopt;
  }
  const std::string_view digits =
      name.substr(stem.size() + 1, name.size() - stem.size() - 1 - kSuffix.size());
  int64_t height = 0;
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
      !absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &height)) {
    return std::nullopt;
  }
  return height;
}

absl::StatusOr<Manifest> ParseManifest(std::string_view text, std::string_view source) {
  const auto invalid = [&](std::string_view problem) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(source), ": ", std::string(problem)));
  };
  Manifest manifest;
  // The callback bounds the depth: the parser's own stack is on the heap, but destroying a deep
  // document recurses.
  bool too_deep = false;
  manifest.document = json::parse(
      text.begin(), text.end(),
      [&too_deep](int depth, json::parse_event_t, json&) {
        if (depth > 64) too_deep = true;
        return !too_deep;
      },
      /*allow_exceptions=*/false);
  if (too_deep) return invalid("nested deeper than 64 levels");
  if (manifest.document.is_discarded()) return invalid("not valid JSON");
  if (!manifest.document.is_object()) return invalid("not a JSON object");

  Fields fields(manifest.document, "");
  if (fields.String("format") != kRecordingFormat) {
    fields.Fail("format", absl::StrCat("\"", std::string(kRecordingFormat), "\""));
  }
  manifest.chain_id = fields.String("chain_id");
  const json* application = fields.Find("application");
  if (application == nullptr || !application->is_object()) {
    fields.Fail("application", "an object with \"name\" and \"version\"");
  } else {
    Fields parts(*application, "application.");
    manifest.application_name = parts.String("name");
    manifest.application_version = parts.String("version");
    if (!parts.problem().empty() && fields.problem().empty()) return invalid(parts.problem());
  }
  manifest.first_height = fields.Integer("first_height", 1);
  manifest.last_height = fields.Integer("last_height", 1);
  const int64_t blocks = fields.Integer("blocks", 1);
  manifest.final_app_hash = fields.RawHash("final_app_hash");
  const bool has_base = fields.Find("base_height") || fields.Find("base_app_hash");
  if (has_base) {
    manifest.base =
        Manifest::Base{fields.Integer("base_height", 1), fields.RawHash("base_app_hash")};
  }
  if (const json* partial = fields.Find("partial_base")) {
    const auto exec = partial->find("exec");
    if (exec == partial->end() || (*exec != "apply" && *exec != "verify" && *exec != "native")) {
      fields.Fail("partial_base.exec", "\"apply\", \"verify\" or \"native\"");
    } else {
      manifest.partial_base = Manifest::PartialBase{exec->get<std::string>()};
    }
  }
  if (const json* stores = fields.Array("stores")) {
    std::set<std::string> names;
    for (const json& store : *stores) {
      if (!store.is_string() || store.get_ref<const std::string&>().empty() ||
          !names.insert(store.get<std::string>()).second) {
        fields.Fail("stores", "a list of different, non-empty names");
        break;
      }
      manifest.stores.push_back(store.get<std::string>());
    }
  }
  const json* files = fields.Array("files");
  if (!fields.problem().empty()) return invalid(fields.problem());

  if (const std::string problem = ParseFiles(*files, &manifest); !problem.empty()) {
    return invalid(problem);
  }
  if (const std::string problem = CheckConsistency(manifest); !problem.empty()) {
    return invalid(problem);
  }
  if (blocks != manifest.blocks()) {
    return invalid(absl::StrCat("\"blocks\" is ", blocks, ", but heights ", manifest.first_height,
                                " to ", manifest.last_height, " are ", manifest.blocks()));
  }
  return manifest;
}

absl::StatusOr<Manifest> LoadManifest(const std::string& recording_dir) {
  const std::string path = absl::StrCat(recording_dir, "/", std::string(kManifestName));
  absl::StatusOr<std::string> text = ReadFile(path, kMaxManifestSize);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        absl::StrCat(text.status().message(),
                                     ": a recording is a folder with a manifest.json in it"));
  }
  return ParseManifest(*text, path);
}

std::string ManifestToJson(const Manifest& manifest) {
  json document = manifest.document.is_object() ? manifest.document : json::object();
  document["format"] = std::string(kRecordingFormat);
  document["chain_id"] = manifest.chain_id;
  document["application"]["name"] = manifest.application_name;
  document["application"]["version"] = manifest.application_version;
  document["first_height"] = manifest.first_height;
  document["last_height"] = manifest.last_height;
  document["blocks"] = manifest.blocks();
  document["stores"] = manifest.stores;
  document["final_app_hash"] = absl::BytesToHexString(manifest.final_app_hash);
  document.erase("base_height");
  document.erase("base_app_hash");
  if (manifest.base) {
    document["base_height"] = manifest.base->height;
    document["base_app_hash"] = absl::BytesToHexString(manifest.base->app_hash);
  }
  document.erase("partial_base");
  if (manifest.partial_base) document["partial_base"]["exec"] = manifest.partial_base->exec;
  document["files"] = json::array();
  for (const Manifest::File& file : manifest.files) {
    document["files"].push_back(
        {{"name", file.name}, {"size", file.size}, {"sha256", file.sha256}});
  }
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string RecordingDigest(const Manifest& manifest) {
  std::vector<const Manifest::File*> files;
  for (const Manifest::File& file : manifest.files) files.push_back(&file);
  std::sort(files.begin(), files.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  Sha256 sha;
  for (const Manifest::File* file : files) {
    sha.Update(absl::StrCat(file->name, " ", file->sha256, "\n"));
  }
  return HexOf(sha.Finish());
}

absl::Status VerifyFiles(const std::string& recording_dir, const Manifest& manifest) {
  // Sizes first: they find a cut or missing file at once.
  for (const Manifest::File& file : manifest.files) {
    const std::string path = absl::StrCat(recording_dir, "/", file.name);
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "find", path);
    if (!S_ISREG(info.st_mode)) {
      return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
    }
    if (static_cast<uint64_t>(info.st_size) != file.size) {
      return absl::DataLossError(absl::StrCat(path, " has ", info.st_size,
                                              " bytes, but manifest.json says ", file.size,
                                              ": the recording is incomplete or was changed"));
    }
  }
  for (const Manifest::File& file : manifest.files) {
    const std::string path = absl::StrCat(recording_dir, "/", file.name);
    absl::StatusOr<Sha256Digest> digest = Sha256OfFile(path);
    if (!digest.ok()) return digest.status();
    if (const std::string hex = HexOf(*digest); hex != file.sha256) {
      return absl::DataLossError(absl::StrCat(path, " has SHA-256 ", hex,
                                              ", but manifest.json says ", file.sha256,
                                              ": the recording is damaged or was changed"));
    }
  }
  return absl::OkStatus();
}

}  // namespace blockreplay::replay
