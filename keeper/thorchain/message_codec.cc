#include "keeper/thorchain/message_codec.h"

#include <memory>
#include <mutex>
#include <vector>

#include "blockreplay/wire.pb.h"
#include "common/common.pb.h"
#include "cosmos/auth/v1beta1/auth.pb.h"
#include "cosmos/authz/v1beta1/authz.pb.h"
#include "cosmos/bank/v1beta1/bank.pb.h"
#include "cosmos/consensus/v1/consensus.pb.h"
#include "cosmos/crypto/ed25519/keys.pb.h"
#include "cosmos/crypto/multisig/keys.pb.h"
#include "cosmos/crypto/secp256k1/keys.pb.h"
#include "cosmos/crypto/secp256r1/keys.pb.h"
#include "cosmos/evm/crypto/v1/ethsecp256k1/keys.pb.h"
#include "cosmos/evm/types/v1/extension_options.pb.h"
#include "cosmos/mint/v1beta1/mint.pb.h"
#include "cosmos/staking/v1beta1/staking.pb.h"
#include "cosmos/tx/v1beta1/tx.pb.h"
#include "cosmos/upgrade/v1beta1/upgrade.pb.h"
#include "cosmwasm/wasm/v1/wasm.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/wrappers.pb.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/tx.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/common/legacy_dec.h"
#include "keeper/thorchain/common/uint.h"
#include "tendermint/types/params.pb.h"
#include "thorchain/denom/v1/denom.pb.h"
#include "thorchain/scheduler/v1/scheduler.pb.h"
#include "types/events.pb.h"
#include "types/messages.pb.h"
#include "types/records.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;

// A reference to one message of each file, so that the linker keeps their descriptors.
const Descriptor* const kLinked[] = {
    ::common::Asset::descriptor(),
    ::types::MsgSend::descriptor(),
    ::types::EventSwap::descriptor(),
    ::types::Pool::descriptor(),
    ::cosmos::auth::v1beta1::BaseAccount::descriptor(),
    ::cosmos::authz::v1beta1::Grant::descriptor(),
    ::cosmos::bank::v1beta1::MsgSend::descriptor(),
    ::cosmos::consensus::v1::MsgUpdateParams::descriptor(),
    ::cosmos::crypto::ed25519::PubKey::descriptor(),
    ::cosmos::crypto::multisig::LegacyAminoPubKey::descriptor(),
    ::cosmos::crypto::secp256k1::PubKey::descriptor(),
    ::cosmos::crypto::secp256r1::PubKey::descriptor(),
    ::cosmos::evm::crypto::v1::ethsecp256k1::PubKey::descriptor(),
    ::cosmos::evm::types::v1::ExtensionOptionsWeb3Tx::descriptor(),
    ::cosmos::mint::v1beta1::Minter::descriptor(),
    ::cosmos::staking::v1beta1::Params::descriptor(),
    ::cosmos::tx::v1beta1::Tx::descriptor(),
    ::cosmos::upgrade::v1beta1::Plan::descriptor(),
    ::cosmwasm::wasm::v1::CodeInfo::descriptor(),
    ::tendermint::types::ConsensusParams::descriptor(),
    ::thorchain::denom::v1::MsgCreateDenom::descriptor(),
    ::thorchain::scheduler::v1::Schedule::descriptor(),
    ::google::protobuf::BoolValue::descriptor(),
};

std::unique_ptr<Message> NewMessage(std::string_view type) {
  const Descriptor* descriptor =
      DescriptorPool::generated_pool()->FindMessageTypeByName(std::string(type));
  if (descriptor == nullptr) return nullptr;
  return std::unique_ptr<Message>(
      MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
}

bool IsNumber(const std::string& type, const std::string& text) {
  if (type == "Int") return sdk::Int::Unmarshal(text).ok();
  if (type == "Uint") return Uint::Unmarshal(text).ok();
  if (type == "Dec") return LegacyDec::Unmarshal(text).ok();
  return true;
}

// As a nanosecond count of 64 bits can hold it.
bool IsDuration(const google::protobuf::Duration& duration) {
  constexpr int64_t kBillion = 1'000'000'000;
  int64_t nanos = 0;
  return duration.nanos() > -kBillion && duration.nanos() < kBillion &&
         (duration.seconds() == 0 || duration.nanos() == 0 ||
          (duration.seconds() < 0) == (duration.nanos() < 0)) &&
         !__builtin_mul_overflow(duration.seconds(), kBillion, &nanos) &&
         !__builtin_add_overflow(nanos, duration.nanos(), &nanos);
}

bool HasOnlyValidValues(const Message& message) {
  if (message.GetDescriptor() == google::protobuf::Timestamp::descriptor()) {
    return sdk::IsTime(static_cast<const google::protobuf::Timestamp&>(message));
  }
  if (message.GetDescriptor() == google::protobuf::Duration::descriptor()) {
    return IsDuration(static_cast<const google::protobuf::Duration&>(message));
  }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int size = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (!HasOnlyValidValues(field->is_repeated()
                                    ? reflection.GetRepeatedMessage(message, field, i)
                                    : reflection.GetMessage(message, field))) {
          return false;
        }
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
                 !IsNumber(field->options().GetExtension(wire::type),
                           field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                : reflection.GetString(message, field))) {
        return false;
      }
    }
  }
  return true;
}

// The linked files with each text as bytes. Built when a file is first asked for.
class AnyTextPool {
 public:
  const Descriptor* Find(const std::string& type) {
    const Descriptor* original = DescriptorPool::generated_pool()->FindMessageTypeByName(type);
    if (original == nullptr) return nullptr;
    const std::lock_guard lock(mutex_);
    Add(*original->file());
    return pool_.FindMessageTypeByName(type);
  }

  // The prototype is made under a lock of the factory's own.
  std::unique_ptr<Message> New(const Descriptor* descriptor) {
    return std::unique_ptr<Message>(factory_.GetPrototype(descriptor)->New());
  }

 private:
  void Add(const google::protobuf::FileDescriptor& file) {
    if (pool_.FindFileByName(file.name()) != nullptr) return;
    for (int i = 0; i < file.dependency_count(); ++i) Add(*file.dependency(i));
    google::protobuf::FileDescriptorProto copy;
    file.CopyTo(&copy);
    // What the options of this project are is known without declaring them again.
    if (file.package() != "google.protobuf") {
      for (auto& message : *copy.mutable_message_type()) TextsToBytes(&message);
    }
    pool_.BuildFile(copy);
  }

  static void TextsToBytes(google::protobuf::DescriptorProto* message) {
    for (auto& field : *message->mutable_field()) {
      if (field.type() != google::protobuf::FieldDescriptorProto::TYPE_STRING) continue;
      field.set_type(google::protobuf::FieldDescriptorProto::TYPE_BYTES);
      field.mutable_options()->SetExtension(wire::text, true);
    }
    for (auto& nested : *message->mutable_nested_type()) TextsToBytes(&nested);
  }

  std::mutex mutex_;
  DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
};

// The SDK's type URLs have no host in front of the slash, which TextFormat wants.
class AnyFinder : public google::protobuf::TextFormat::Finder {
 public:
  const Descriptor* FindAnyType(const Message&, const std::string& prefix,
                                const std::string& name) const override {
    return prefix == "/" ? DescriptorPool::generated_pool()->FindMessageTypeByName(name) : nullptr;
  }
};

}  // namespace

void CompleteMessage(Message* message) {
  const Descriptor* descriptor = message->GetDescriptor();
  const google::protobuf::Reflection* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const bool always = field->options().GetExtension(wire::always);
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (field->is_repeated()) {
        for (int j = 0; j < reflection->FieldSize(*message, field); ++j) {
          CompleteMessage(reflection->MutableRepeatedMessage(message, field, j));
        }
      } else if (always || reflection->HasField(*message, field)) {
        CompleteMessage(reflection->MutableMessage(message, field));
      }
    } else if (always && field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
               reflection->GetString(*message, field).empty()) {
      reflection->SetString(message, field, "0");
    }
  }
}

bool ParseMessage(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
         HasOnlyValidValues(*message);
}

std::optional<std::string> ReencodeMessage(std::string_view type, std::string_view bytes) {
  const std::unique_ptr<Message> message = NewMessage(type);
  if (message == nullptr ||
      !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return std::nullopt;
  }
  message->DiscardUnknownFields();
  CompleteMessage(message.get());
  std::string out;
  {
    google::protobuf::io::StringOutputStream stream(&out);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (!message->SerializePartialToCodedStream(&coded)) return std::nullopt;
  }
  return out;
}

std::unique_ptr<Message> ParseWithAnyText(std::string_view type, std::string_view bytes) {
  static auto* const pool = new AnyTextPool;
  const Descriptor* descriptor = pool->Find(std::string(type));
  if (descriptor == nullptr) return nullptr;
  std::unique_ptr<Message> message = pool->New(descriptor);
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
  return message;
}

std::string DescribeMessage(std::string_view type, std::string_view bytes) {
  const std::unique_ptr<Message> message = NewMessage(type);
  if (message == nullptr ||
      !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return "0x" + LowerHex(bytes);
  }
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.SetExpandAny(true);
  const AnyFinder finder;
  printer.SetFinder(&finder);
  std::string text;
  if (!printer.PrintToString(*message, &text)) return "0x" + LowerHex(bytes);
  while (text.ends_with(' ')) text.pop_back();
  return "{" + text + "}";
}

}  // namespace blockreplay::keeper::thorchain
