#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/sdk/any.h"
#include "keeper/sdk/context.h"
#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

// A decoded message of a transaction; what it really is knows its handler.
class Message {
 public:
  virtual ~Message() = default;
};

// All that a chain does with one type of message. Stateless between calls as far as consensus goes.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;

  // "/types.MsgSend"
  virtual std::string_view type_url() const = 0;
  // Null for malformed bytes.
  virtual std::unique_ptr<Message> Decode(std::string_view bytes) const = 0;
  // Stateless checks; run when the transaction is taken up, and again before Handle.
  virtual Error ValidateBasic(const Message& message) const = 0;
  // Raw addresses that have to sign.
  virtual Result<std::vector<std::string>> Signers(const Message& message) const = 0;
  // The chain's own step of the ante chain for this message: its writes stay even if the message
  // fails later.
  virtual Error Ante(const Context& context, const Message& message) const = 0;
  // Runs the message.
  virtual Error Handle(const Context& context, const Message& message) const = 0;
  // What a successful message answers.
  virtual Any Response() const = 0;
  // Messages of the same group, which this names, exclude each other in one transaction. Empty: no
  // group.
  virtual std::string_view ExclusiveGroup(const Message&) const { return {}; }
};

// A MessageHandler for messages of type M.
template <typename M>
class TypedMessageHandler : public MessageHandler {
 public:
  std::unique_ptr<Message> Decode(std::string_view bytes) const final {
    auto message = std::make_unique<Holder>();
    if (!DecodeMessage(bytes, &message->value)) return nullptr;
    return message;
  }
  Error ValidateBasic(const Message& m) const final { return ValidateBasic(Value(m)); }
  Result<std::vector<std::string>> Signers(const Message& m) const final {
    return Signers(Value(m));
  }
  Error Ante(const Context& context, const Message& m) const final {
    return Ante(context, Value(m));
  }
  Error Handle(const Context& context, const Message& m) const final {
    return Handle(context, Value(m));
  }
  std::string_view ExclusiveGroup(const Message& m) const final { return ExclusiveGroup(Value(m)); }

  static const M& Value(const Message& m) { return static_cast<const Holder&>(m).value; }

 protected:
  virtual bool DecodeMessage(std::string_view bytes, M* message) const = 0;
  virtual Error ValidateBasic(const M& message) const = 0;
  virtual Result<std::vector<std::string>> Signers(const M& message) const = 0;
  virtual Error Ante(const Context& context, const M& message) const = 0;
  virtual Error Handle(const Context& context, const M& message) const = 0;
  virtual std::string_view ExclusiveGroup(const M&) const { return {}; }

 private:
  struct Holder : public Message {
    M value;
  };
};

}  // namespace blockreplay::keeper::sdk
