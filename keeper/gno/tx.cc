#include "keeper/gno/tx.h"

#include <charconv>

#include "keeper/gno/amino.h"
#include "keeper/gno/fields.h"

namespace blockreplay::keeper::gno {
namespace {

using amino::FieldReader;

bool ReadKey(FieldReader* reader, int depth, Scratch* scratch, PubKey* key) {
  std::string_view any;
  if (!reader->Bytes(&any)) return false;
  const std::optional<PubKey> parsed = PubKey::FromAny(any, depth, scratch);
  if (!parsed.has_value()) return false;
  *key = *parsed;
  return true;
}

bool DecodeSend(std::string_view bytes, Msg* msg) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        if (!ReadAddress(&reader, &msg->signer)) return false;
        break;
      case 2:
        if (!ReadAddress(&reader, &msg->to)) return false;
        break;
      case 3:
        if (!ReadCoins(&reader, &msg->coins)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

// A message is one interface, a key in it the second.
constexpr int kKeyInMsgDepth = 2;

// Of the session messages; `fields` is how many the type has.
bool DecodeSessionMsg(std::string_view bytes, uint32_t fields, Scratch* scratch, Msg* msg) {
  FieldReader reader(bytes);
  while (reader.Next(1u << 4)) {
    if (reader.field() > fields) return false;
    switch (reader.field()) {
      case 1:
        if (!ReadAddress(&reader, &msg->signer)) return false;
        break;
      case 2:
        if (!ReadKey(&reader, kKeyInMsgDepth, scratch, &msg->session_key)) return false;
        break;
      case 3:
        if (!reader.Varint(&msg->expires_at)) return false;
        break;
      case 4: {
        std::string_view path;
        if (!reader.Bytes(&path)) return false;
        msg->allow_paths.push_back(path);
        break;
      }
      case 5:
        if (!ReadCoins(&reader, &msg->coins)) return false;
        break;
      case 6:
        if (!reader.Varint(&msg->spend_period)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

bool DecodeMsg(std::string_view bytes, Scratch* scratch, Msg* msg) {
  if (bytes.empty()) return true;
  amino::Any any;
  if (!amino::DecodeAny(bytes, &any)) return false;
  if (any.name == "bank.MsgSend") {
    msg->type = Msg::Type::kSend;
    return DecodeSend(any.value, msg);
  }
  if (any.name == "auth.m_create_session") {
    msg->type = Msg::Type::kCreateSession;
    return DecodeSessionMsg(any.value, 6, scratch, msg);
  }
  if (any.name == "auth.m_revoke_session") {
    msg->type = Msg::Type::kRevokeSession;
    return DecodeSessionMsg(any.value, 2, scratch, msg);
  }
  if (any.name == "auth.m_revoke_all_sessions") {
    msg->type = Msg::Type::kRevokeAllSessions;
    return DecodeSessionMsg(any.value, 1, scratch, msg);
  }
  if (any.name == "vm.m_call" || any.name == "vm.m_run" || any.name == "vm.m_addpkg") {
    msg->type = Msg::Type::kVm;
    return true;
  }
  return false;
}

bool DecodeFee(std::string_view bytes, Tx* tx) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == 1) {
      if (!reader.Varint(&tx->gas_wanted)) return false;
    } else {
      std::string_view text;
      if (reader.field() != 2 || !reader.Bytes(&text)) return false;
      const std::optional<Coin> fee = Coin::FromField(text);
      if (!fee.has_value()) return false;
      tx->gas_fee = *fee;
    }
  }
  return reader.ok();
}

bool DecodeSignature(std::string_view bytes, Scratch* scratch, Signature* signature) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        if (!ReadKey(&reader, 1, scratch, &signature->pub_key)) return false;
        break;
      case 2:
        if (!reader.Bytes(&signature->signature)) return false;
        break;
      case 3:
        if (!ReadAddress(&reader, &signature->session)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

template <typename Number>
void AppendQuoted(Number number, std::string* out) {
  char digits[22];
  digits[0] = '"';
  char* const end = std::to_chars(digits + 1, digits + sizeof(digits), number).ptr;
  *end = '"';
  out->append(digits, static_cast<size_t>(end + 1 - digits));
}

void AppendAddress(const Address& address, std::string* out) {
  char text[Address::kTextSize + 2];
  text[0] = '"';
  address.ToBech32(text + 1);
  text[Address::kTextSize + 1] = '"';
  out->append(text, sizeof(text));
}

// Denominations have no character that needs an escape.
void AppendCoins(const Coins& coins, std::string* out) {
  out->push_back('"');
  bool first = true;
  for (const Coin& coin : coins) {
    if (!first) out->push_back(',');
    first = false;
    char digits[20];
    const char* const end = std::to_chars(digits, digits + sizeof(digits), coin.amount).ptr;
    out->append(digits, static_cast<size_t>(end - digits));
    out->append(coin.denom);
  }
  out->push_back('"');
}

void AppendMsg(const Msg& msg, std::string* out) {
  switch (msg.type) {
    case Msg::Type::kSend:
      out->append("{\"@type\":\"/bank.MsgSend\",\"amount\":");
      AppendCoins(msg.coins, out);
      out->append(",\"from_address\":");
      AppendAddress(msg.signer, out);
      out->append(",\"to_address\":");
      AppendAddress(msg.to, out);
      break;
    case Msg::Type::kCreateSession:
      out->append("{\"@type\":\"/auth.m_create_session\"");
      for (size_t i = 0; i < msg.allow_paths.size(); ++i) {
        out->append(i == 0 ? ",\"allow_paths\":[" : ",");
        AppendJsonString(msg.allow_paths[i], out);
      }
      out->append(msg.allow_paths.empty() ? ",\"creator\":" : "],\"creator\":");
      AppendAddress(msg.signer, out);
      out->append(",\"expires_at\":");
      AppendQuoted(msg.expires_at, out);
      out->append(",\"session_key\":");
      msg.session_key.AppendJson(out);
      if (!msg.coins.empty()) {
        out->append(",\"spend_limit\":");
        AppendCoins(msg.coins, out);
      }
      if (msg.spend_period != 0) {
        out->append(",\"spend_period\":");
        AppendQuoted(msg.spend_period, out);
      }
      break;
    case Msg::Type::kRevokeSession:
      out->append("{\"@type\":\"/auth.m_revoke_session\",\"creator\":");
      AppendAddress(msg.signer, out);
      out->append(",\"session_key\":");
      msg.session_key.AppendJson(out);
      break;
    case Msg::Type::kRevokeAllSessions:
      out->append("{\"@type\":\"/auth.m_revoke_all_sessions\",\"creator\":");
      AppendAddress(msg.signer, out);
      break;
    case Msg::Type::kNil:
    case Msg::Type::kVm:
      return;
  }
  out->push_back('}');
}

// Size of the UTF-8 sequence at the front, 0 if it is not a valid one (utf8.DecodeRune of Go).
size_t Utf8Size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto continues = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    if (first == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xf0 && byte(1) < 0x90) return 0;
    if (first == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

bool IsPlain(char c) {
  return c >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  out->push_back('"');
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    size_t size = Utf8Size(text);
    if (size == 0) {
      out->append("\xef\xbf\xbd");
      size = 1;
    } else if (size > 1) {
      if (text.substr(0, size) == "\xe2\x80\xa8") {
        out->append("\\u2028");
      } else if (text.substr(0, size) == "\xe2\x80\xa9") {
        out->append("\\u2029");
      } else {
        out->append(text.substr(0, size));
      }
    } else if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\b') {
      out->append("\\b");
    } else if (c == '\f') {
      out->append("\\f");
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (c == '\t') {
      out->append("\\t");
    } else {
      out->append("\\u00");
      out->push_back(kDigits[c >> 4]);
      out->push_back(kDigits[c & 15]);
    }
    text.remove_prefix(size);
  }
  out->push_back('"');
}

std::string_view Msg::route() const {
  switch (type) {
    case Type::kSend:
      return "bank";
    case Type::kCreateSession:
    case Type::kRevokeSession:
    case Type::kRevokeAllSessions:
      return "auth";
    case Type::kVm:
      return "vm";
    case Type::kNil:
      break;
  }
  return {};
}

std::string_view Msg::action() const {
  switch (type) {
    case Type::kSend:
      return "send";
    case Type::kCreateSession:
      return "create_session";
    case Type::kRevokeSession:
      return "revoke_session";
    case Type::kRevokeAllSessions:
      return "revoke_all_sessions";
    case Type::kVm:
    case Type::kNil:
      break;
  }
  return {};
}

bool Tx::Decode(std::string_view bytes, Scratch* scratch) {
  msgs.clear();
  signatures.clear();
  gas_wanted = 0;
  gas_fee = {};
  memo = {};
  FieldReader reader(bytes);
  while (reader.Next(1u << 1 | 1u << 3)) {
    std::string_view field;
    if (reader.field() > 4 || !reader.Bytes(&field)) return false;
    switch (reader.field()) {
      case 1:
        if (!DecodeMsg(field, scratch, &msgs.emplace_back())) return false;
        break;
      case 2:
        if (!DecodeFee(field, this)) return false;
        break;
      case 3:
        if (!DecodeSignature(field, scratch, &signatures.emplace_back())) return false;
        break;
      default:
        memo = field;
        break;
    }
  }
  return reader.ok();
}

void Tx::SignBytes(std::string_view chain_id, uint64_t account_number, uint64_t sequence,
                   std::string* out) const {
  out->clear();
  out->append("{\"account_number\":");
  AppendQuoted(account_number, out);
  out->append(",\"chain_id\":");
  AppendJsonString(chain_id, out);
  out->append(",\"fee\":{\"gas_fee\":");
  AppendCoins(gas_fee.amount == 0 ? Coins() : Coins(gas_fee), out);
  out->append(",\"gas_wanted\":");
  AppendQuoted(gas_wanted, out);
  out->append("},\"memo\":");
  AppendJsonString(memo, out);
  out->append(",\"msgs\":[");
  for (size_t i = 0; i < msgs.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendMsg(msgs[i], out);
  }
  out->append("],\"sequence\":");
  AppendQuoted(sequence, out);
  out->push_back('}');
}

}  // namespace blockreplay::keeper::gno
