#include "keeper/sdk/tx.h"

#include <algorithm>
#include <bit>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/wire_format_lite.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;

constexpr int kDeepest = 100;
constexpr uint32_t kNonCriticalBit = 1 << 10;

Error DecodeError(std::string_view what) { return Error(kErrTxDecode, what); }

size_t ShortestVarint(uint64_t value) {
  return value == 0 ? 1 : (static_cast<size_t>(std::bit_width(value)) + 6) / 7;
}

// TxRaw has bytes fields only, in ascending order, with lengths as short as possible (ADR-027).
bool IsCanonicalTxRaw(std::string_view bytes) {
  WireReader r(bytes);
  uint32_t previous = 0;
  size_t consumed = 0;
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    if (!r.Tag(&number, &type) || type != WireType::kBytes || number < previous) return false;
    previous = number;
    const size_t after_tag = r.Position(bytes);
    std::string_view value;
    if (!r.Bytes(&value)) return false;
    const size_t length_size = r.Position(bytes) - after_tag - value.size();
    if (length_size != ShortestVarint(value.size())) return false;
    consumed = r.Position(bytes);
  }
  return consumed == bytes.size();
}

WireType ExpectedWireType(const FieldDescriptor* field) {
  return static_cast<WireType>(
      WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field->type())));
}

bool OnlyKnownFields(std::string_view bytes, const Descriptor* descriptor, bool allow_non_critical,
                     int depth) {
  if (descriptor == nullptr || depth > kDeepest) return false;
  WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    if (!r.Tag(&number, &type)) return false;
    const FieldDescriptor* field = descriptor->FindFieldByNumber(static_cast<int>(number));
    if (field == nullptr) {
      if ((number & kNonCriticalBit) == 0 || !allow_non_critical) return false;
      if (!r.Skip(number, type)) return false;
      continue;
    }
    const bool packed = field->is_repeated() && field->is_packable() && type == WireType::kBytes;
    if (type != ExpectedWireType(field) && !packed) return false;
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) {
      if (!r.Skip(number, type)) return false;
      continue;
    }
    std::string_view value;
    if (!r.Bytes(&value)) return false;
    const Descriptor* inner = field->message_type();
    if (inner->full_name() == "google.protobuf.Any") {
      if (!OnlyKnownFields(value, inner, allow_non_critical, depth + 1)) return false;
      google::protobuf::Any any;
      if (!any.ParseFromArray(value.data(), static_cast<int>(value.size()))) return false;
      std::string name = any.type_url();
      name.erase(0, name.rfind('/') + 1);
      inner = DescriptorPool::generated_pool()->FindMessageTypeByName(name);
      if (inner == nullptr) return false;
      if (!OnlyKnownFields(any.value(), inner, allow_non_critical, depth + 1)) return false;
      continue;
    }
    if (!OnlyKnownFields(value, inner, allow_non_critical, depth + 1)) return false;
  }
  return true;
}

// Of a fee or a tip.
bool AreAmounts(const google::protobuf::RepeatedPtrField<cosmos::base::v1beta1::Coin>& coins) {
  return std::all_of(coins.begin(), coins.end(), [](const cosmos::base::v1beta1::Coin& coin) {
    return Int::Unmarshal(coin.amount()).ok();
  });
}

bool AreExtensionOptions(const google::protobuf::RepeatedPtrField<google::protobuf::Any>& options,
                         const MessageRouter& router) {
  return std::all_of(options.begin(), options.end(), [&](const google::protobuf::Any& option) {
    return router.IsExtensionOption(option.type_url(), option.value());
  });
}

}  // namespace

void MessageRouter::Register(std::unique_ptr<MessageHandler> handler) {
  std::string type_url(handler->type_url());
  handlers_.emplace(std::move(type_url), std::move(handler));
}

void MessageRouter::RegisterUnrouted(std::unique_ptr<MessageHandler> handler) {
  unrouted_.insert(std::string(handler->type_url()));
  Register(std::move(handler));
}

const MessageHandler* MessageRouter::Find(std::string_view type_url) const {
  const auto found = handlers_.find(type_url);
  return found == handlers_.end() ? nullptr : found->second.get();
}

bool IsTime(const google::protobuf::Timestamp& time) {
  constexpr int64_t kFirst = -62135596800;
  constexpr int64_t kEnd = 253402300800;
  return time.seconds() >= kFirst && time.seconds() < kEnd && time.nanos() >= 0 &&
         time.nanos() < 1'000'000'000;
}

bool HasOnlyKnownFields(std::string_view bytes, const std::string& type, bool allow_non_critical) {
  return OnlyKnownFields(bytes, DescriptorPool::generated_pool()->FindMessageTypeByName(type),
                         allow_non_critical, 0);
}

bool UnpackMessages(const google::protobuf::RepeatedPtrField<google::protobuf::Any>& anys,
                    const MessageRouter& router, Tx* tx) {
  for (const google::protobuf::Any& any : anys) {
    TxMessage message;
    message.type_url = any.type_url();
    message.handler = router.Find(any.type_url());
    if (message.handler != nullptr) {
      message.message = message.handler->Decode(any.value());
      if (message.message == nullptr) return false;
      message.is_routed = router.IsRouted(any.type_url());
    } else if (router.IsNotNative(any.type_url())) {
      throw NotNative(any.type_url());
    } else if (!any.type_url().empty()) {
      return false;
    }
    tx->messages.push_back(std::move(message));
  }
  return true;
}

Result<Tx> DecodeTx(std::string_view bytes, const MessageRouter& router) {
  if (!IsCanonicalTxRaw(bytes)) return DecodeError("TxRaw must follow ADR-027");
  cosmos::tx::v1beta1::TxRaw raw;
  if (!HasOnlyKnownFields(bytes, "cosmos.tx.v1beta1.TxRaw", false) ||
      !raw.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return DecodeError("malformed TxRaw");
  }
  Tx tx;
  if (!HasOnlyKnownFields(raw.body_bytes(), "cosmos.tx.v1beta1.TxBody", true) ||
      !tx.body.ParseFromString(raw.body_bytes()) || !IsTime(tx.body.timeout_timestamp()) ||
      !UnpackMessages(tx.body.messages(), router, &tx)) {
    return DecodeError("malformed TxBody");
  }
  if (!AreExtensionOptions(tx.body.extension_options(), router) ||
      !AreExtensionOptions(tx.body.non_critical_extension_options(), router)) {
    return DecodeError("unknown extension option");
  }
  if (!HasOnlyKnownFields(raw.auth_info_bytes(), "cosmos.tx.v1beta1.AuthInfo", false) ||
      !tx.auth_info.ParseFromString(raw.auth_info_bytes()) ||
      !AreAmounts(tx.auth_info.fee().amount()) || !AreAmounts(tx.auth_info.tip().amount())) {
    return DecodeError("malformed AuthInfo");
  }
  for (const auto& signer : tx.auth_info.signer_infos()) {
    if (!signer.has_public_key()) continue;
    Result<PubKey> key =
        PubKey::FromAny({signer.public_key().type_url(), signer.public_key().value()});
    if (!key.ok()) return DecodeError(key.error().message());
  }
  tx.body_bytes = std::move(*raw.mutable_body_bytes());
  tx.auth_info_bytes = std::move(*raw.mutable_auth_info_bytes());
  for (std::string& signature : *raw.mutable_signatures()) {
    tx.signatures.push_back(std::move(signature));
  }
  return tx;
}

Result<std::vector<std::string>> Tx::Signers(AddressCodec* addresses) const {
  std::vector<std::string> signers;
  const auto add = [&signers](std::string signer) {
    if (std::find(signers.begin(), signers.end(), signer) == signers.end()) {
      signers.push_back(std::move(signer));
    }
  };
  for (const TxMessage& message : messages) {
    KEEPER_ASSIGN_OR_RETURN(const std::vector<std::string> of_message,
                            message.handler->Signers(*message.message));
    for (const std::string& signer : of_message) add(signer);
  }
  if (!auth_info.fee().payer().empty()) {
    KEEPER_ASSIGN_OR_RETURN(std::string payer, addresses->ToBytes(auth_info.fee().payer()));
    add(std::move(payer));
  }
  return signers;
}

}  // namespace blockreplay::keeper::sdk
