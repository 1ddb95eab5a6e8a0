#include "keeper/thorchain/amino_json.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "blockreplay/wire.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/common/acc_address.h"
#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/uint.h"
#include "keeper/thorchain/message_codec.h"

namespace blockreplay::keeper::thorchain {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Quoted(std::string_view text) { return sdk::StrCat("\"", text, "\""); }

// Length of the UTF-8 sequence at the front; 0 if there is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Too long, a surrogate, or beyond the last code point.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

class Writer {
 public:
  explicit Writer(const Network& network) : network_(network) {}

  bool WriteNamed(std::string_view type_url, std::string_view value) {
    type_url.remove_prefix(std::min<size_t>(type_url.size(), 1));
    const std::unique_ptr<Message> message = ParseWithAnyText(type_url, value);
    if (message == nullptr) return false;
    // The original signs what it has decoded and encoded again.
    CompleteMessage(message.get());
    const Descriptor* descriptor = message->GetDescriptor();
    const std::string& name = descriptor->options().GetExtension(wire::amino_name);
    out_ += sdk::StrCat(R"({"type":")", name.empty() ? "/" + descriptor->full_name() : name,
                        R"(","value":)");
    if (!WriteMessage(*message)) return false;
    out_ += '}';
    return true;
  }

  bool WriteMessage(const Message& message) {
    const Descriptor* descriptor = message.GetDescriptor();
    std::vector<const FieldDescriptor*> fields;
    for (int i = 0; i < descriptor->field_count(); ++i) fields.push_back(descriptor->field(i));
    std::sort(fields.begin(), fields.end(), [](const FieldDescriptor* a, const FieldDescriptor* b) {
      return a->name() < b->name();
    });
    out_ += '{';
    bool first = true;
    for (const FieldDescriptor* field : fields) {
      if (IsOmitted(message, *field)) continue;
      if (!first) out_ += ',';
      first = false;
      out_ += Quoted(field->name()) + ":";
      if (!WriteField(message, *field)) return false;
    }
    out_ += '}';
    return true;
  }

  std::string Take() { return std::move(out_); }

 private:
  // Empty fields are, but for the coins of the bank's message.
  static bool IsOmitted(const Message& message, const FieldDescriptor& field) {
    const Reflection& reflection = *message.GetReflection();
    if (!field.is_repeated()) return !reflection.HasField(message, &field);
    return reflection.FieldSize(message, &field) == 0 &&
           field.full_name() != "cosmos.bank.v1beta1.MsgSend.amount";
  }

  bool WriteField(const Message& message, const FieldDescriptor& field) {
    if (!field.is_repeated()) return WriteValue(message, field, -1);
    out_ += '[';
    const int size = message.GetReflection()->FieldSize(message, &field);
    for (int i = 0; i < size; ++i) {
      if (i > 0) out_ += ',';
      if (!WriteValue(message, field, i)) return false;
    }
    out_ += ']';
    return true;
  }

  // The element `i` of a repeated field, or the value of another.
  bool WriteValue(const Message& message, const FieldDescriptor& field, int i) {
    const Reflection& r = *message.GetReflection();
    const bool one = i < 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const Message& value =
            one ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, i);
        if (field.full_name() == "common.Coin.asset") return WriteAsset(value);
        return WriteMessage(value);
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return WriteText(
            field, one ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, i));
      case FieldDescriptor::CPPTYPE_INT64:
        out_ += Quoted(std::to_string(one ? r.GetInt64(message, &field)
                                          : r.GetRepeatedInt64(message, &field, i)));
        return true;
      case FieldDescriptor::CPPTYPE_UINT64:
        out_ += Quoted(std::to_string(one ? r.GetUInt64(message, &field)
                                          : r.GetRepeatedUInt64(message, &field, i)));
        return true;
      case FieldDescriptor::CPPTYPE_INT32:
        out_ += std::to_string(one ? r.GetInt32(message, &field)
                                   : r.GetRepeatedInt32(message, &field, i));
        return true;
      case FieldDescriptor::CPPTYPE_UINT32:
        out_ += std::to_string(one ? r.GetUInt32(message, &field)
                                   : r.GetRepeatedUInt32(message, &field, i));
        return true;
      case FieldDescriptor::CPPTYPE_BOOL:
        out_ += (one ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, i))
                    ? "true"
                    : "false";
        return true;
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int value =
            one ? r.GetEnumValue(message, &field) : r.GetRepeatedEnumValue(message, &field, i);
        if (field.full_name() != "types.MsgTssPool.keygen_type") {
          out_ += std::to_string(value);
          return true;
        }
        const auto* name = field.enum_type()->FindValueByNumber(value);
        if (name == nullptr) return false;
        out_ += Quoted(name->name());
        return true;
      }
      case FieldDescriptor::CPPTYPE_FLOAT:
      case FieldDescriptor::CPPTYPE_DOUBLE:
        break;
    }
    return false;
  }

  bool WriteText(const FieldDescriptor& field, const std::string& value) {
    const std::string& type = field.options().GetExtension(wire::type);
    if (type == "Uint") {
      const absl::StatusOr<Uint> number = Uint::Unmarshal(value);
      if (!number.ok()) return false;
      out_ += Quoted(number->ToString());
    } else if (type == "Int") {
      const absl::StatusOr<sdk::Int> number = sdk::Int::Unmarshal(value);
      if (!number.ok()) return false;
      out_ += Quoted(number->ToString());
    } else if (type == "AccAddress") {
      out_ += JsonText(AccAddress(value).ToString(network_));
    } else if (field.type() == FieldDescriptor::TYPE_BYTES &&
               !field.options().GetExtension(wire::text)) {
      out_ += Quoted(absl::Base64Escape(value));
    } else {
      out_ += JsonText(value);
    }
    return true;
  }

  bool WriteAsset(const Message& message) {
    const Reflection& r = *message.GetReflection();
    const auto field = [&](const char* name) {
      return message.GetDescriptor()->FindFieldByName(name);
    };
    Asset asset;
    asset.chain = Chain(r.GetString(message, field("chain")));
    asset.symbol = r.GetString(message, field("symbol"));
    asset.ticker = r.GetString(message, field("ticker"));
    asset.synth = r.GetBool(message, field("synth"));
    asset.trade = r.GetBool(message, field("trade"));
    asset.secured = r.GetBool(message, field("secured"));
    out_ += JsonText(asset.ToString());
    return true;
  }

  const Network& network_;
  std::string out_;
};

std::string FeeText(const cosmos::tx::v1beta1::Fee& fee) {
  std::string coins;
  for (const auto& coin : fee.amount()) {
    if (!coins.empty()) coins += ',';
    const absl::StatusOr<sdk::Int> amount = sdk::Int::Unmarshal(coin.amount());
    coins += sdk::StrCat(R"({"amount":)", Quoted(amount.ok() ? amount->ToString() : "0"));
    if (!coin.denom().empty()) coins += R"(,"denom":)" + JsonText(coin.denom());
    coins += '}';
  }
  std::string text = sdk::StrCat(R"({"amount":[)", coins, R"(],"gas":")", fee.gas_limit(), R"(")");
  if (!fee.granter().empty()) text += R"(,"granter":)" + JsonText(fee.granter());
  if (!fee.payer().empty()) text += R"(,"payer":)" + JsonText(fee.payer());
  return text + "}";
}

}  // namespace

std::string JsonText(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(sequence.size());
    if (length == 0) {
      out += "\\ufffd";
    } else if (length > 1) {
      // Line ends of JavaScript.
      out += sequence == "\xe2\x80\xa8"   ? "\\u2028"
             : sequence == "\xe2\x80\xa9" ? "\\u2029"
                                          : sequence;
    } else {
      const char c = sequence.front();
      if (c == '"' || c == '\\') {
        out += {'\\', c};
      } else if (c == '\b') {
        out += "\\b";
      } else if (c == '\f') {
        out += "\\f";
      } else if (c == '\n') {
        out += "\\n";
      } else if (c == '\r') {
        out += "\\r";
      } else if (c == '\t') {
        out += "\\t";
      } else if (c < ' ' || c == '<' || c == '>' || c == '&') {
        out += {'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 0xf]};
      } else {
        out += c;
      }
    }
  }
  return out + "\"";
}

std::optional<std::string> AminoSignDoc(const sdk::Tx& tx, std::string_view chain_id,
                                        uint64_t account_number, uint64_t sequence,
                                        const Network& network) {
  if (!sdk::HasOnlyKnownFields(tx.body_bytes, "cosmos.tx.v1beta1.TxBody", false) ||
      tx.body.non_critical_extension_options_size() > 0) {
    return std::nullopt;
  }
  std::string messages;
  for (const auto& any : tx.body.messages()) {
    Writer writer(network);
    if (!writer.WriteNamed(any.type_url(), any.value())) return std::nullopt;
    if (!messages.empty()) messages += ',';
    messages += writer.Take();
  }
  std::string document = sdk::StrCat(R"({"account_number":")", account_number, R"(","chain_id":)",
                                     JsonText(chain_id), R"(,"fee":)", FeeText(tx.auth_info.fee()),
                                     R"(,"memo":)", JsonText(tx.body.memo()), R"(,"msgs":[)",
                                     messages, R"(],"sequence":")", sequence, R"(")");
  if (tx.body.timeout_height() != 0) {
    document += sdk::StrCat(R"(,"timeout_height":")", tx.body.timeout_height(), R"(")");
  }
  if (tx.body.has_timeout_timestamp()) {
    const absl::Time time = absl::FromUnixSeconds(tx.body.timeout_timestamp().seconds()) +
                            absl::Nanoseconds(tx.body.timeout_timestamp().nanos());
    document += R"(,"timeout_timestamp":)" +
                Quoted(absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone()));
  }
  if (tx.body.unordered()) document += R"(,"unordered":true)";
  return document + "}";
}

}  // namespace blockreplay::keeper::thorchain
