#include "replay/recording/checktx_log.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace blockreplay::replay {
namespace {

using nlohmann::json;

// Logs are long, but they are in one line and not this long.
constexpr size_t kMaxLine = size_t{4} << 20;
// A node's pool reaches a few blocks ahead; whoever follows the log keeps that many blocks.
constexpr int64_t kMaxAhead = 1024;

bool ReadNumber(const json& object, const char* name, int64_t* value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return false;
  if (found->is_number_unsigned() &&
      found->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return false;
  }
  *value = found->get<int64_t>();
  return true;
}

bool ReadText(const json& object, const char* name, std::string* value) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return false;
  *value = found->get<std::string>();
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckTxLog>> CheckTxLog::Open(const std::string& recording_dir,
                                                             const Manifest& manifest) {
  if (manifest.FindFile(kCheckTxFile) == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(recording_dir, " has no ", kCheckTxFile,
                     ", so there are no results of CheckTx to compare with"));
  }
  std::string path = absl::StrCat(recording_dir, "/", kCheckTxFile);
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenZstdFile(path);
  if (!source.ok()) return source.status();
  return std::unique_ptr<CheckTxLog>(
      new CheckTxLog(LineReader(*std::move(source), std::move(path), kMaxLine)));
}

absl::StatusOr<bool> CheckTxLog::Next(RecordedCheck* check) {
  const absl::StatusOr<bool> more = lines_.Next(&line_);
  if (!more.ok() || !*more) return more;
  const json object = json::parse(line_, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return lines_.Malformed("it is no JSON object");
  std::string kind;
  int64_t tx = 0;
  if (!ReadNumber(object, "state_height", &check->state_height) ||
      !ReadNumber(object, "block", &check->block) || !ReadNumber(object, "tx", &tx) ||
      !ReadNumber(object, "gas_wanted", &check->gas_wanted) ||
      !ReadNumber(object, "gas_used", &check->gas_used) ||
      !ReadText(object, "error", &check->error) || !ReadText(object, "kind", &kind)) {
    return lines_.Malformed(
        "it needs the numbers state_height, block, tx, gas_wanted and gas_used and the texts error "
        "and kind");
  }
  if (kind != "check" && kind != "recheck") {
    return lines_.Malformed(
        absl::StrCat("kind is \"", kind.substr(0, 40), "\", not check or recheck"));
  }
  check->recheck = kind == "recheck";
  if (tx < 0 || tx > std::numeric_limits<int>::max()) return lines_.Malformed("tx is out of range");
  check->tx = static_cast<int>(tx);
  if (check->state_height < last_state_height_) {
    return lines_.Malformed(
        absl::StrCat("state_height ", check->state_height, " comes after ", last_state_height_));
  }
  last_state_height_ = check->state_height;
  if (check->block <= check->state_height || check->block - check->state_height > kMaxAhead) {
    return lines_.Malformed(absl::StrCat("block ", check->block, " is not among the ", kMaxAhead,
                                         " after state_height ", check->state_height));
  }
  return true;
}

}  // namespace blockreplay::replay
