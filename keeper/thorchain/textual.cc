#include "keeper/thorchain/textual.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "blockreplay/wire.pb.h"
#include "cosmos/base/v1beta1/coin.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/message_codec.h"

namespace blockreplay::keeper::thorchain {
namespace {

using cosmos::bank::v1beta1::Metadata;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using sdk::StrCat;

constexpr char kUpperHex[] = "0123456789ABCDEF";

struct Screen {
  std::string title;
  std::string content;
  int indent = 0;
  bool expert = false;
};
using Screens = std::vector<Screen>;

// Where the original has an error, which ends all.
struct Failure {};

void Indent(Screens* screens, int by) {
  for (Screen& screen : *screens) screen.indent += by;
}

void Append(Screens* screens, Screens more) {
  std::move(more.begin(), more.end(), std::back_inserter(*screens));
}

std::string SentenceCase(std::string name) {
  if (name.empty()) return name;
  if (name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  std::replace(name.begin() + 1, name.end(), '_', ' ');
  return name;
}

bool HasOnlyDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// With an apostrophe at every thousand.
std::string Integer(std::string_view text) {
  std::string out;
  if (!text.empty() && text.front() == '-') {
    out = "-";
    text.remove_prefix(1);
  }
  if (text.size() > 1) text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (!HasOnlyDigits(text)) throw Failure();
  for (size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && (text.size() - i) % 3 == 0) out += '\'';
    out += text[i];
  }
  return out;
}

std::string Decimal(std::string_view text) {
  const size_t point = text.find('.');
  std::string out = Integer(text.substr(0, point));
  if (point == std::string_view::npos) return out;
  std::string_view fraction = text.substr(point + 1);
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  if (fraction.empty()) return out;
  if (!HasOnlyDigits(fraction)) throw Failure();
  return StrCat(out, ".", fraction);
}

// `amount` times ten to the power of `-places`.
std::string Shifted(std::string_view amount, int64_t places) {
  constexpr int64_t kDigits = 18;  // of the original's decimals
  const bool negative = !amount.empty() && amount.front() == '-';
  std::string digits(negative ? amount.substr(1) : amount);
  if (!HasOnlyDigits(digits)) throw Failure();
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  if (places > kDigits || places < -kDigits) throw sdk::NotNative("a denomination's exponents");
  if (places < 0) {
    digits.append(static_cast<size_t>(-places), '0');
  } else if (places > 0) {
    const auto count = static_cast<size_t>(places);
    if (digits.size() <= count) digits.insert(0, count + 1 - digits.size(), '0');
    digits.insert(digits.size() - count, ".");
  }
  return (negative ? "-" : "") + digits;
}

std::optional<uint32_t> Exponent(const Metadata& metadata, const std::string& denom) {
  std::optional<uint32_t> exponent;
  for (const auto& unit : metadata.denom_units()) {
    if (unit.denom() == denom) exponent = unit.exponent();
  }
  return exponent;
}

std::string FormatCoin(const cosmos::base::v1beta1::Coin& coin,
                       const std::optional<Metadata>& metadata) {
  const std::string& denom = coin.denom();
  if (!metadata || metadata->display().empty() || denom == metadata->display()) {
    return StrCat(Decimal(coin.amount()), " ", denom);
  }
  const std::optional<uint32_t> unit = Exponent(*metadata, denom);
  const std::optional<uint32_t> shown = Exponent(*metadata, metadata->display());
  if (!unit || !shown) return StrCat(Integer(coin.amount()), " ", denom);
  return StrCat(Decimal(Shifted(coin.amount(), int64_t{*shown} - int64_t{*unit})), " ",
                metadata->display());
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 2 == 0) out += ' ';
    const auto byte = static_cast<uint8_t>(bytes[i]);
    out += {kUpperHex[byte >> 4], kUpperHex[byte & 0xf]};
  }
  return out;
}

// Long ones are shown by their hash.
std::string Bytes(const std::string& bytes) {
  constexpr size_t kLongest = 35;
  return bytes.size() <= kLongest ? Hex(bytes) : "SHA-256=" + Hex(Sha256(bytes));
}

std::string Timestamp(const google::protobuf::Timestamp& timestamp) {
  const absl::Time time =
      absl::FromUnixSeconds(timestamp.seconds()) + absl::Nanoseconds(timestamp.nanos());
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

class Renderer {
 public:
  explicit Renderer(const DenomMetadataReader& metadata) : metadata_(metadata) {}

  // A field: its title on the first of its screens.
  static Screens Field(const std::string& name, Screens screens) {
    screens.front().title = SentenceCase(name);
    Indent(&screens, 1);
    return screens;
  }
  static Screens Field(const std::string& name, std::string content) {
    return Field(name, Screens{{"", std::move(content)}});
  }

  template <typename Elements, typename Render>
  static Screens Repeated(const std::string& name, const std::string& kind,
                          const Elements& elements, Render&& render) {
    const std::string title = SentenceCase(name);
    Screens screens{{"", StrCat(elements.size(), " ", SentenceCase(kind))}};
    int i = 0;
    for (const auto& element : elements) {
      Screens parts = render(element);
      parts.front().title = StrCat(title, " (", ++i, "/", elements.size(), ")");
      Indent(&parts, 1);
      Append(&screens, std::move(parts));
    }
    screens.push_back({"", "End of " + title});
    return screens;
  }

  Screens Any(const google::protobuf::Any& any) const {
    std::string_view name = any.type_url();
    name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
    const std::unique_ptr<Message> message = ParseWithAnyText(name, any.value());
    if (message == nullptr) throw Failure();
    Screens screens = Object(*message);
    screens.front().content = any.type_url();
    return screens;
  }

  Screens Object(const Message& message) const {
    const Descriptor* descriptor = message.GetDescriptor();
    std::vector<const FieldDescriptor*> fields;
    for (int i = 0; i < descriptor->field_count(); ++i) fields.push_back(descriptor->field(i));
    std::sort(fields.begin(), fields.end(), [](const FieldDescriptor* a, const FieldDescriptor* b) {
      return a->number() < b->number();
    });
    Screens screens{{"", descriptor->name() + " object"}};
    const Reflection& reflection = *message.GetReflection();
    for (const FieldDescriptor* field : fields) {
      if (field->is_repeated() ? reflection.FieldSize(message, field) == 0
                               : !reflection.HasField(message, field)) {
        continue;
      }
      Append(&screens, Field(field->name(), field->is_repeated() ? List(message, *field)
                                                                 : Value(message, *field, -1)));
    }
    return screens;
  }

  template <typename List>
  Screens Coins(const List& coins) const {
    std::vector<std::optional<Metadata>> metadata;
    for (const auto& coin : coins) {
      if (!sdk::IsValidDenom(coin.denom())) throw Failure();
      metadata.push_back(metadata_(coin.denom()));
    }
    std::vector<std::string> formatted;
    for (const auto& coin : coins) {
      formatted.push_back(FormatCoin(coin, metadata[formatted.size()]));
      if (formatted.back().find(',') != std::string::npos) throw Failure();
    }
    const auto denom = [](const std::string& text) {
      const std::string_view rest = std::string_view(text).substr(text.find(' ') + 1);
      return rest.substr(0, rest.find(' '));
    };
    std::stable_sort(
        formatted.begin(), formatted.end(),
        [&](const std::string& a, const std::string& b) { return denom(a) < denom(b); });
    std::string text;
    for (const std::string& coin : formatted) {
      if (!text.empty()) text += ", ";
      text += coin;
    }
    return {{"", formatted.empty() ? "zero" : text}};
  }

 private:
  static bool IsCoin(const FieldDescriptor& field) {
    return field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE &&
           field.message_type()->full_name() == "cosmos.base.v1beta1.Coin";
  }

  static bool IsText(const FieldDescriptor& field) {
    return field.type() == FieldDescriptor::TYPE_STRING || field.options().GetExtension(wire::text);
  }

  static cosmos::base::v1beta1::Coin ToCoin(const Message& message) {
    cosmos::base::v1beta1::Coin coin;
    if (!coin.ParseFromString(message.SerializeAsString())) throw Failure();
    return coin;
  }

  Screens List(const Message& message, const FieldDescriptor& field) const {
    const Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, &field);
    if (IsCoin(field)) {
      std::vector<cosmos::base::v1beta1::Coin> coins;
      for (int i = 0; i < size; ++i) {
        coins.push_back(ToCoin(reflection.GetRepeatedMessage(message, &field, i)));
      }
      return Coins(coins);
    }
    std::vector<int> elements;
    for (int i = 0; i < size; ++i) elements.push_back(i);
    const std::string kind = field.message_type() != nullptr ? field.message_type()->name()
                             : field.enum_type() != nullptr  ? field.enum_type()->name()
                             : IsText(field)                 ? "string"
                                                             : field.type_name();
    return Repeated(field.name(), kind, elements, [&](int i) { return Value(message, field, i); });
  }

  // The element `i` of a repeated field, or the value of another.
  Screens Value(const Message& message, const FieldDescriptor& field, int i) const {
    const Reflection& r = *message.GetReflection();
    const bool one = i < 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE: {
        const Message& value =
            one ? r.GetMessage(message, &field) : r.GetRepeatedMessage(message, &field, i);
        if (IsCoin(field)) return Coins(std::vector{ToCoin(value)});
        const std::string& type = field.message_type()->full_name();
        if (type == "google.protobuf.Any") {
          google::protobuf::Any any;
          if (!any.ParseFromString(value.SerializeAsString())) throw Failure();
          return Any(any);
        }
        if (type.starts_with("google.protobuf.")) throw sdk::NotNative("showing a " + type);
        return Object(value);
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string value =
            one ? r.GetString(message, &field) : r.GetRepeatedString(message, &field, i);
        return {{"", IsText(field) ? value : Bytes(value)}};
      }
      case FieldDescriptor::CPPTYPE_INT64:
        return Number(one ? r.GetInt64(message, &field) : r.GetRepeatedInt64(message, &field, i));
      case FieldDescriptor::CPPTYPE_UINT64:
        return Number(one ? r.GetUInt64(message, &field) : r.GetRepeatedUInt64(message, &field, i));
      case FieldDescriptor::CPPTYPE_INT32:
        return Number(one ? r.GetInt32(message, &field) : r.GetRepeatedInt32(message, &field, i));
      case FieldDescriptor::CPPTYPE_UINT32:
        return Number(one ? r.GetUInt32(message, &field) : r.GetRepeatedUInt32(message, &field, i));
      case FieldDescriptor::CPPTYPE_BOOL: {
        const bool value = one ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, i);
        return {{"", value ? "True" : "False"}};
      }
      case FieldDescriptor::CPPTYPE_ENUM: {
        const int value =
            one ? r.GetEnumValue(message, &field) : r.GetRepeatedEnumValue(message, &field, i);
        const auto* name = field.enum_type()->FindValueByNumber(value);
        if (name == nullptr) throw Failure();
        return {{"", name->name()}};
      }
      case FieldDescriptor::CPPTYPE_FLOAT:
      case FieldDescriptor::CPPTYPE_DOUBLE:
        break;
    }
    throw Failure();
  }

  template <typename N>
  static Screens Number(N value) {
    return {{"", Integer(std::to_string(value))}};
  }

  const DenomMetadataReader& metadata_;
};

std::string BigEndian(uint64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 8; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

std::string HashOfRawBytes(const sdk::Tx& tx) {
  constexpr char kLowerHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : Sha256(StrCat(BigEndian(tx.body_bytes.size()), tx.body_bytes,
                                    BigEndian(tx.auth_info_bytes.size()), tx.auth_info_bytes))) {
    out += {kLowerHex[static_cast<uint8_t>(c) >> 4], kLowerHex[c & 0xf]};
  }
  return out;
}

// The parts of the transaction and of the signer as fields of one message, without its header.
Screens Envelope(const Renderer& renderer, const sdk::Tx& tx, const TextualSigner& signer) {
  const auto& body = tx.body;
  const auto& fee = tx.auth_info.fee();
  if (body.non_critical_extension_options_size() > 0) {
    throw sdk::NotNative("showing extension options");
  }
  std::vector<cosmos::tx::v1beta1::SignerInfo> others;
  for (const auto& info : tx.auth_info.signer_infos()) {
    if (!info.has_public_key()) {
      throw sdk::Panic("runtime error: invalid memory address or nil pointer dereference");
    }
    if (info.public_key().value() != signer.pub_key.value()) others.push_back(info);
  }
  Screens screens;
  const auto add = [&](const char* name, auto&& content) {
    Append(&screens, Renderer::Field(name, std::forward<decltype(content)>(content)));
  };
  const auto add_text = [&](const char* name, const std::string& text) {
    if (!text.empty()) add(name, text);
  };
  const auto add_number = [&](const char* name, uint64_t value) {
    if (value != 0) add(name, Integer(std::to_string(value)));
  };
  add_text("chain_id", signer.chain_id);
  add_number("account_number", signer.account_number);
  add_number("sequence", signer.sequence);
  add_text("address", signer.address);
  add("public_key", renderer.Any(signer.pub_key));
  if (body.messages_size() > 0) {
    add("message",
        Renderer::Repeated("message", "Any", body.messages(),
                           [&](const google::protobuf::Any& any) { return renderer.Any(any); }));
  }
  add_text("memo", body.memo());
  if (fee.amount_size() > 0) add("fees", renderer.Coins(fee.amount()));
  add_text("fee_payer", fee.payer());
  add_text("fee_granter", fee.granter());
  add_number("gas_limit", fee.gas_limit());
  add_number("timeout_height", body.timeout_height());
  if (!others.empty()) {
    add("other_signer", Renderer::Repeated("other_signer", "SignerInfo", others,
                                           [&](const cosmos::tx::v1beta1::SignerInfo& info) {
                                             return renderer.Object(info);
                                           }));
  }
  add("hash_of_raw_bytes", HashOfRawBytes(tx));
  if (body.unordered()) add("unordered", "True");
  if (body.has_timeout_timestamp()) {
    add("timeout_timestamp", Timestamp(body.timeout_timestamp()));
  }
  Indent(&screens, -1);
  return screens;
}

bool IsExpertTitle(std::string_view title) {
  constexpr std::string_view kTitles[] = {
      "Address",        "Public key",        "Fee payer", "Fee granter",  "Gas limit",
      "Timeout height", "Timeout timestamp", "Unordered", "Other signer", "Hash of raw bytes"};
  return std::find(std::begin(kTitles), std::end(kTitles), title) != std::end(kTitles);
}

void MarkExpert(Screens* screens) {
  for (size_t i = 0; i < screens->size(); ++i) {
    Screen& screen = (*screens)[i];
    if (screen.indent != 0) continue;
    if (IsExpertTitle(screen.title)) {
      const std::string end = "End of " + screen.title;
      for (size_t j = i; j < screens->size(); ++j) {
        Screen& part = (*screens)[j];
        if (j > i && part.indent == 0 && part.content != end) break;
        part.expert = true;
      }
    } else if (screen.title == "Message") {
      const std::string count = screen.content.substr(0, screen.content.find(' '));
      screen.title.clear();
      screen.content = StrCat("This transaction has ", count, " Message", count == "1" ? "" : "s");
    }
  }
}

void CborHead(uint8_t major, uint64_t value, std::string* out) {
  const auto first = [&](uint8_t extra) {
    out->push_back(static_cast<char>(static_cast<uint8_t>(major << 5) | extra));
  };
  if (value < 24) return first(static_cast<uint8_t>(value));
  const int size = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  first(static_cast<uint8_t>(24 + size));
  out->append(BigEndian(value).substr(8 - (size_t{1} << size)));
}

std::string Cbor(const Screens& screens) {
  constexpr uint8_t kUint = 0;
  constexpr uint8_t kText = 3;
  constexpr uint8_t kArray = 4;
  constexpr uint8_t kMap = 5;
  std::string out;
  CborHead(kMap, 1, &out);
  CborHead(kUint, 1, &out);
  CborHead(kArray, screens.size(), &out);
  for (const Screen& screen : screens) {
    const bool has[] = {!screen.title.empty(), !screen.content.empty(), screen.indent > 0,
                        screen.expert};
    CborHead(kMap, static_cast<uint64_t>(std::count(std::begin(has), std::end(has), true)), &out);
    for (uint8_t i = 0; i < 4; ++i) {
      if (!has[i]) continue;
      CborHead(kUint, uint64_t{i} + 1, &out);
      if (i < 2) {
        const std::string& text = i == 0 ? screen.title : screen.content;
        CborHead(kText, text.size(), &out);
        out += text;
      } else if (i == 2) {
        CborHead(kUint, static_cast<uint64_t>(screen.indent), &out);
      } else {
        out += '\xf5';
      }
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> TextualSignDoc(const sdk::Tx& tx, const TextualSigner& signer,
                                          const DenomMetadataReader& metadata) {
  try {
    Screens screens = Envelope(Renderer(metadata), tx, signer);
    MarkExpert(&screens);
    return Cbor(screens);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace blockreplay::keeper::thorchain
