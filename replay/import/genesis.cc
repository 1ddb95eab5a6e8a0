#include "replay/import/genesis.h"

#include <google/protobuf/duration.pb.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"
#include "replay/recording/file_io.h"
#include "replay/recording/sha256.h"

namespace blockreplay::replay {
namespace {

constexpr size_t kMaxGenesisSize = size_t{4} << 30;

using nlohmann::json;
using tendermint::types::ConsensusParams;

constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr size_t kAddressSize = 20;

// The members of the object that `text` is, each as it stands there: an application's state may be
// hundreds of megabytes, and its bytes are what the application gets. Nothing if it is no object;
// values are not checked beyond their brackets.
class MemberScanner {
 public:
  explicit MemberScanner(std::string_view text) : text_(text) {}

  std::optional<std::map<std::string, std::string_view>> Members() {
    std::map<std::string, std::string_view> members;
    if (!Take('{')) return std::nullopt;
    if (Take('}')) return members;
    do {
      SkipSpace();
      const size_t key = position_;
      if (!SkipString()) return std::nullopt;
      const std::string name(text_.substr(key + 1, position_ - key - 2));
      if (!Take(':')) return std::nullopt;
      SkipSpace();
      const size_t value = position_;
      if (!SkipValue()) return std::nullopt;
      members[name] = text_.substr(value, position_ - value);
    } while (Take(','));
    if (!Take('}')) return std::nullopt;
    return members;
  }

 private:
  void SkipSpace() {
    while (position_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }
  bool Take(char c) {
    SkipSpace();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  bool SkipString() {
    if (position_ == text_.size() || text_[position_] != '"') return false;
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\\') {
        ++position_;
      } else if (text_[position_] == '"') {
        ++position_;
        return true;
      }
    }
    return false;
  }
  bool SkipValue() {
    size_t depth = 0;
    const size_t start = position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"') {
        if (!SkipString()) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++position_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
        ++position_;
      } else if (depth == 0 &&
                 (c == ',' || std::string_view(" \t\r\n").find(c) != std::string_view::npos)) {
        break;
      } else {
        ++position_;
        continue;
      }
      if (depth == 0) break;
    }
    return depth == 0 && position_ > start;
  }

  const std::string_view text_;
  size_t position_ = 0;
};

const json* Find(const json& object, const char* name) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  return it != object.end() ? &*it : nullptr;
}

std::string Text(const json& object, const char* name) {
  const json* value = Find(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

// Go writes 64-bit numbers as strings; the SDK's heights are numbers.
int64_t Number(const json& object, const char* name, int64_t missing) {
  const json* value = Find(object, name);
  int64_t number = missing;
  if (value == nullptr) return missing;
  if (value->is_number_integer()) return value->get<int64_t>();
  return value->is_string() && absl::SimpleAtoi(value->get<std::string>(), &number) ? number
                                                                                    : missing;
}

// Go's ToProto sets every part; what the document lacks has CometBFT's default.
ConsensusParams ParamsOf(const json& params) {
  const json none = json::object();
  const auto part = [&](const char* name) -> const json& {
    const json* found = Find(params, name);
    return found != nullptr ? *found : none;
  };
  ConsensusParams message;
  message.mutable_block()->set_max_bytes(Number(part("block"), "max_bytes", 22'020'096));
  message.mutable_block()->set_max_gas(Number(part("block"), "max_gas", -1));
  auto* evidence = message.mutable_evidence();
  evidence->set_max_age_num_blocks(Number(part("evidence"), "max_age_num_blocks", 100'000));
  const int64_t age = Number(part("evidence"), "max_age_duration", 48 * 3600 * kNanosPerSecond);
  evidence->mutable_max_age_duration()->set_seconds(age / kNanosPerSecond);
  evidence->mutable_max_age_duration()->set_nanos(static_cast<int32_t>(age % kNanosPerSecond));
  evidence->set_max_bytes(Number(part("evidence"), "max_bytes", 1'048'576));
  const json* types = Find(part("validator"), "pub_key_types");
  if (types != nullptr && types->is_array()) {
    for (const json& type : *types) {
      if (type.is_string()) message.mutable_validator()->add_pub_key_types(type.get<std::string>());
    }
  } else {
    message.mutable_validator()->add_pub_key_types("ed25519");
  }
  const int64_t app = Number(part("version"), "app", 0);
  message.mutable_version()->set_app(static_cast<uint64_t>(app));
  message.mutable_abci()->set_vote_extensions_enable_height(
      Number(part("abci"), "vote_extensions_enable_height", 0));
  return message;
}

// In the order of a validator set: the strongest first, then by address.
absl::Status AddValidators(const json& validators, tendermint::abci::RequestInitChain* request) {
  struct Entry {
    std::string address;
    tendermint::abci::ValidatorUpdate update;
  };
  std::vector<Entry> entries;
  for (const json& validator : validators) {
    Entry entry;
    const json* key = Find(validator, "pub_key");
    const std::string type = key == nullptr ? "" : Text(*key, "type");
    std::string bytes;
    if (type.empty() || !absl::Base64Unescape(Text(*key, "value"), &bytes)) {
      return absl::InvalidArgumentError("a validator without a pub_key");
    }
    if (type == "tendermint/PubKeyEd25519") {
      const Sha256Digest digest = Sha256Of(bytes);
      entry.address.assign(digest.begin(), digest.begin() + kAddressSize);
      entry.update.mutable_pub_key()->set_ed25519(bytes);
    } else if (type == "tendermint/PubKeySecp256k1") {
      entry.address = absl::HexStringToBytes(Text(validator, "address"));
      entry.update.mutable_pub_key()->set_secp256k1(bytes);
    } else {
      return absl::InvalidArgumentError(
          absl::StrCat("a validator with a pub_key of the unknown type \"", type, "\""));
    }
    entry.update.set_power(Number(validator, "power", 0));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.update.power() != b.update.power()) return a.update.power() > b.update.power();
    return a.address < b.address;
  });
  for (Entry& entry : entries) *request->add_validators() = std::move(entry.update);
  return absl::OkStatus();
}

}  // namespace

namespace {

using Members = std::map<std::string, std::string_view>;

json MemberOf(const Members& members, const char* name) {
  const auto found = members.find(name);
  if (found == members.end()) return json();
  // Shallow in every document; the limit is for others.
  return json::parse(
      found->second.begin(), found->second.end(),
      [](int depth, json::parse_event_t, json&) { return depth < 32; },
      /*allow_exceptions=*/false);
}

absl::Status Invalid(const std::string& source, std::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat(source, ": not a genesis document: ", std::string(problem)));
}

// What all documents have in common: chain, time, initial height, state.
absl::StatusOr<Members> ParseCommon(const std::string& text, const std::string& source,
                                    Genesis* genesis) {
  auto members = MemberScanner(text).Members();
  if (!members) return Invalid(source, "not a JSON object");
  const json chain_id = MemberOf(*members, "chain_id");
  const json time = MemberOf(*members, "genesis_time");
  const auto app_state = members->find("app_state");
  if (!chain_id.is_string()) return Invalid(source, "no \"chain_id\"");
  if (app_state == members->end()) return Invalid(source, "no \"app_state\"");
  absl::Time parsed;
  std::string problem;
  if (!time.is_string() ||
      !absl::ParseTime(absl::RFC3339_full, time.get<std::string>(), &parsed, &problem)) {
    return Invalid(source, "\"genesis_time\" is not a time");
  }
  auto& request = genesis->init_chain;
  const int64_t seconds = absl::ToUnixSeconds(parsed);
  request.mutable_time()->set_seconds(seconds);
  request.mutable_time()->set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(parsed - absl::FromUnixSeconds(seconds))));
  request.set_chain_id(chain_id.get<std::string>());
  const json height = {{"height", MemberOf(*members, "initial_height")}};
  request.set_initial_height(std::max<int64_t>(1, Number(height, "height", 1)));
  request.set_app_state_bytes(std::string(app_state->second));
  genesis->sha256 = HexOf(Sha256Of(text));
  return *std::move(members);
}

}  // namespace

absl::StatusOr<Genesis> ParseGenesis(const std::string& text, const std::string& source) {
  Genesis genesis;
  const absl::StatusOr<Members> members = ParseCommon(text, source, &genesis);
  if (!members.ok()) return members.status();
  const json consensus = MemberOf(*members, "consensus");
  const json* const sdk_params = Find(consensus, "params");
  *genesis.init_chain.mutable_consensus_params() =
      ParamsOf(sdk_params != nullptr ? *sdk_params : MemberOf(*members, "consensus_params"));
  const json* const sdk_validators = Find(consensus, "validators");
  if (absl::Status status = AddValidators(
          sdk_validators != nullptr ? *sdk_validators : MemberOf(*members, "validators"),
          &genesis.init_chain);
      !status.ok()) {
    return Invalid(source, std::string(status.message()));
  }
  const json app_name = MemberOf(*members, "app_name");
  if (app_name.is_string()) genesis.app_name = app_name.get<std::string>();
  return genesis;
}

absl::StatusOr<Genesis> ParseTm2Genesis(const std::string& text, const std::string& source) {
  Genesis genesis;
  const absl::StatusOr<Members> members = ParseCommon(text, source, &genesis);
  if (!members.ok()) return members.status();
  // A part that the document lacks has tm2's default.
  const json params = MemberOf(*members, "consensus_params");
  auto& request = genesis.init_chain;
  const json* const block = Find(params, "Block");
  const bool has_block = block != nullptr && block->is_object();
  request.mutable_consensus_params()->mutable_block()->set_max_bytes(
      has_block ? Number(*block, "MaxDataBytes", 0) : 2'000'000);
  request.mutable_consensus_params()->mutable_block()->set_max_gas(
      has_block ? Number(*block, "MaxGas", 0) : 3'000'000'000);
  const json* const validator = Find(params, "Validator");
  const json* const types = validator == nullptr ? nullptr : Find(*validator, "PubKeyTypeURLs");
  auto* const key_types = request.mutable_consensus_params()->mutable_validator();
  if (types != nullptr && types->is_array()) {
    for (const json& type : *types) {
      if (type.is_string()) key_types->add_pub_key_types(type.get<std::string>());
    }
  } else {
    key_types->add_pub_key_types("/tm.PubKeyEd25519");
  }
  for (const json& entry : MemberOf(*members, "validators")) {
    const json* const key = Find(entry, "pub_key");
    const std::string type = key == nullptr ? "" : Text(*key, "@type");
    std::string bytes;
    if (type.empty() || !absl::Base64Unescape(Text(*key, "value"), &bytes)) {
      return Invalid(source, "a validator without a pub_key");
    }
    tendermint::abci::ValidatorUpdate* const update = request.add_validators();
    if (type == "/tm.PubKeyEd25519") {
      update->mutable_pub_key()->set_ed25519(bytes);
    } else if (type == "/tm.PubKeySecp256k1") {
      update->mutable_pub_key()->set_secp256k1(bytes);
    } else {
      return Invalid(source,
                     absl::StrCat("a validator with a pub_key of the unknown type \"", type, "\""));
    }
    update->set_power(Number(entry, "power", 0));
  }
  genesis.app_name = "gnoland";
  return genesis;
}

absl::StatusOr<Genesis> LoadGenesis(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxGenesisSize);
  if (!text.ok()) return text.status();
  return ParseGenesis(*text, path);
}

absl::StatusOr<Genesis> LoadTm2Genesis(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxGenesisSize);
  if (!text.ok()) return text.status();
  return ParseTm2Genesis(*text, path);
}

}  // namespace blockreplay::replay
