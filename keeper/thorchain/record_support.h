#pragma once

// What the generated records.h stands on: the value types of their fields, and how these are on the
// wire.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "keeper/sdk/any.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/wire.h"
#include "keeper/thorchain/common/acc_address.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/chain.h"
#include "keeper/thorchain/common/coin.h"
#include "keeper/thorchain/common/pub_key.h"
#include "keeper/thorchain/common/tx.h"
#include "keeper/thorchain/common/uint.h"

namespace blockreplay::keeper::thorchain {

// A decimal fraction as its text of 1e-18 units; no state transition calculates with it.
struct Dec {
  std::string text;
  friend bool operator==(const Dec&, const Dec&) = default;
};

// Text of a value on the wire.
inline std::string_view WireText(const std::string& value) { return value; }
inline std::string_view WireText(const Chain& value) { return value.raw(); }
inline std::string_view WireText(const Address& value) { return value.ToString(); }
inline std::string_view WireText(const PubKey& value) { return value.ToString(); }
inline std::string_view WireText(const TxID& value) { return value.ToString(); }
inline std::string_view WireText(const AccAddress& value) { return value.bytes(); }
inline std::string WireText(const Uint& value) { return value.ToString(); }
inline std::string WireText(const sdk::Int& value) { return value.ToString(); }
inline std::string_view WireText(const Dec& value) {
  return value.text.empty() ? std::string_view("0") : std::string_view(value.text);
}

template <typename Text>
bool FromWireText(std::string_view bytes, Text* value) {
  *value = Text(std::string(bytes));
  return true;
}
inline bool FromWireText(std::string_view bytes, Dec* value) {
  value->text = bytes;
  return true;
}
bool FromWireText(std::string_view bytes, Uint* value);
bool FromWireText(std::string_view bytes, sdk::Int* value);

template <typename Integer>
uint64_t WireInteger(Integer value) {
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// Messages that are no structs of ours.
void EncodeFields(const sdk::Coin& m, sdk::WireWriter* w);
bool DecodeFields(std::string_view bytes, sdk::Coin* m);
void EncodeFields(const sdk::Any& m, sdk::WireWriter* w);
bool DecodeFields(std::string_view bytes, sdk::Any* m);

// A whole message: what is stored, or sent.
template <typename Message>
std::string Encode(const Message& message) {
  sdk::WireWriter writer;
  EncodeFields(message, &writer);
  return std::string(writer.bytes());
}
// False for malformed bytes; `*message` is then partly filled. Starts from an empty message.
template <typename Message>
bool Decode(std::string_view bytes, Message* message) {
  *message = Message();
  return DecodeFields(bytes, message);
}

// For the generated code.
template <typename Message>
void EncodeMessage(uint32_t number, const Message& message, sdk::WireWriter* w) {
  const size_t mark = w->size();
  EncodeFields(message, w);
  w->EndMessage(number, mark);
}
template <typename Integers>
void EncodePacked(uint32_t number, const Integers& values, sdk::WireWriter* w) {
  if (values.empty()) return;
  const size_t mark = w->size();
  for (size_t i = values.size(); i-- > 0;) w->Varint(WireInteger(values[i]));
  w->EndMessage(number, mark);
}
template <typename Message>
bool ReadMessage(sdk::WireReader* r, sdk::WireType type, Message* message) {
  std::string_view bytes;
  return type == sdk::WireType::kBytes && r->Bytes(&bytes) && DecodeFields(bytes, message);
}
template <typename Message>
bool ReadOptionalMessage(sdk::WireReader* r, sdk::WireType type, std::optional<Message>* message) {
  if (!*message) message->emplace();
  return ReadMessage(r, type, &**message);
}
template <typename Messages>
bool ReadRepeatedMessage(sdk::WireReader* r, sdk::WireType type, Messages* messages) {
  messages->emplace_back();
  return ReadMessage(r, type, &messages->back());
}
template <typename Text>
bool ReadText(sdk::WireReader* r, sdk::WireType type, Text* text) {
  std::string_view bytes;
  return type == sdk::WireType::kBytes && r->Bytes(&bytes) && FromWireText(bytes, text);
}
template <typename Text>
bool ReadOptionalText(sdk::WireReader* r, sdk::WireType type, std::optional<Text>* text) {
  return ReadText(r, type, &text->emplace());
}
template <typename Text>
bool ReadRepeatedText(sdk::WireReader* r, sdk::WireType type, std::vector<Text>* texts) {
  texts->emplace_back();
  return ReadText(r, type, &texts->back());
}
template <typename Integer>
bool ReadInteger(sdk::WireReader* r, sdk::WireType type, Integer* value) {
  uint64_t varint = 0;
  if (type != sdk::WireType::kVarint || !r->Varint(&varint)) return false;
  *value = static_cast<Integer>(varint);
  return true;
}
template <typename Integers>
bool ReadRepeatedInteger(sdk::WireReader* r, sdk::WireType type, Integers* values) {
  using Integer = typename Integers::value_type;
  uint64_t varint = 0;
  if (type == sdk::WireType::kVarint) {
    if (!r->Varint(&varint)) return false;
    values->push_back(static_cast<Integer>(varint));
    return true;
  }
  std::string_view bytes;
  if (type != sdk::WireType::kBytes || !r->Bytes(&bytes)) return false;
  sdk::WireReader packed(bytes);
  while (!packed.AtEnd()) {
    if (!packed.Varint(&varint)) return false;
    values->push_back(static_cast<Integer>(varint));
  }
  return true;
}
template <typename Message>
std::optional<std::string> ReencodeAs(std::string_view bytes, bool* ok) {
  Message message;
  *ok = Decode(bytes, &message);
  return Encode(message);
}

}  // namespace blockreplay::keeper::thorchain
