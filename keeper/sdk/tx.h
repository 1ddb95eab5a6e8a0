#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cosmos/tx/v1beta1/tx.pb.h"
#include "keeper/sdk/address_codec.h"
#include "keeper/sdk/error.h"
#include "keeper/sdk/message.h"
#include "keeper/sdk/pub_key.h"
#include "keeper/sdk/string_map.h"

namespace blockreplay::keeper::sdk {

// The messages that a chain knows, by type URL.
class MessageRouter {
 public:
  void Register(std::unique_ptr<MessageHandler> handler);
  // A message type that is decoded and checked, but that no service takes.
  void RegisterUnrouted(std::unique_ptr<MessageHandler> handler);
  // A type of the transactions' extension options; `decodes` tells whether bytes are one.
  void RegisterExtensionOption(std::string type_url, bool (*decodes)(std::string_view bytes)) {
    extension_options_.emplace(std::move(type_url), decodes);
  }
  // One that exists in the original and not here: a transaction with it is not native.
  void RegisterNotNative(std::string type_url) { not_native_.insert(std::move(type_url)); }

  const MessageHandler* Find(std::string_view type_url) const;
  bool IsRouted(std::string_view type_url) const { return !unrouted_.contains(type_url); }
  bool IsExtensionOption(std::string_view type_url, std::string_view bytes) const {
    const auto found = extension_options_.find(type_url);
    return found != extension_options_.end() && found->second(bytes);
  }
  bool IsNotNative(std::string_view type_url) const { return not_native_.contains(type_url); }

 private:
  StringMap<std::unique_ptr<MessageHandler>> handlers_;
  StringSet unrouted_;
  StringMap<bool (*)(std::string_view bytes)> extension_options_;
  StringSet not_native_;
};

struct TxMessage {
  std::string type_url;  // empty if nothing was packed, which panics when the message is asked for
  const MessageHandler* handler = nullptr;  // null if nothing
  std::unique_ptr<Message> message;         // null if nothing
  bool is_routed = true;                    // a service takes it
};

struct Tx {
  // Put into the block by its proposer, without signatures (THORChain's InjectTx).
  bool injected = false;
  std::string body_bytes;
  std::string auth_info_bytes;
  cosmos::tx::v1beta1::TxBody body;
  cosmos::tx::v1beta1::AuthInfo auth_info;
  std::vector<std::string> signatures;
  std::vector<TxMessage> messages;

  // All addresses that have to sign, without repetition: those of the messages, then the fee's
  // payer.
  Result<std::vector<std::string>> Signers(AddressCodec* addresses) const;
};

// Decodes as cosmos-sdk v0.53 does: TxRaw in canonical form, no unknown fields (non-critical ones
// are allowed in the body), every message known. Nothing if the bytes are no transaction.
Result<Tx> DecodeTx(std::string_view bytes, const MessageRouter& router);

// Fills tx->messages. False if one of them can't be unpacked; throws NotNative for messages of
// other modules.
bool UnpackMessages(const google::protobuf::RepeatedPtrField<google::protobuf::Any>& anys,
                    const MessageRouter& router, Tx* tx);

// From the first day of the year 1 to the last of the year 9999.
bool IsTime(const google::protobuf::Timestamp& time);

// True if `bytes` hold no field that the message type (a full name in the generated descriptors)
// doesn't have, also inside of Any, and all wire types fit. `allow_non_critical`: fields with bit
// 11 in their number pass.
bool HasOnlyKnownFields(std::string_view bytes, const std::string& type, bool allow_non_critical);

}  // namespace blockreplay::keeper::sdk
