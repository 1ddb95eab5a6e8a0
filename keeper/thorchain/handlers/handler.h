#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "keeper/sdk/message.h"
#include "keeper/thorchain/errors.h"
#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/managers.h"

namespace blockreplay::keeper::thorchain {

// Gives back the native fee's ante step that most messages of users have.
Error DeductFeeAnte(const Keeper& k, const Context& ctx, const AccAddress& signer);

// What the node's message service does around each handler of its own messages: panics become plain
// errors, and plain errors get the code 99 of codespace thorchain, except that of a panic.
template <typename Run>
Error GuardHandler(Run&& run) {
  try {
    Error error = run();
    if (error && error.code() == sdk::kErrUnregistered.code) {
      return Error(kErrInternal, error.message());
    }
    return error;
  } catch (const sdk::Panic& panic) {
    return Error::New("panic: " + panic.message());
  }
}

// Base of the handlers of transaction messages: one message type, one file. Derive, give the type
// URL, and register in handlers/register.cc.
template <typename M>
class Handler : public sdk::TypedMessageHandler<M> {
 public:
  Handler(std::string_view type_url, Managers* managers) : type_url_(type_url), mgr_(managers) {}

  std::string_view type_url() const final { return type_url_; }
  sdk::Any Response() const override { return {"/types.MsgEmpty", ""}; }

 protected:
  const Keeper& k() const { return *mgr_->keeper; }
  Managers& mgr() const { return *mgr_; }

  // Override these. The signers of nearly all messages are the one field `signer`.
  Error ValidateBasic(const M& message) const override = 0;
  Error Ante(const Context& ctx, const M& message) const override = 0;
  virtual std::vector<AccAddress> GetSigners(const M& message) const = 0;
  virtual Error Validate(const Context& ctx, const M& message) const = 0;
  virtual Error Run(const Context& ctx, const M& message) const = 0;

  bool DecodeMessage(std::string_view bytes, M* message) const final {
    return Decode(bytes, message);
  }
  Result<std::vector<std::string>> Signers(const M& message) const final {
    std::vector<std::string> signers;
    for (const AccAddress& signer : GetSigners(message)) signers.push_back(signer.bytes());
    return signers;
  }
  Error Handle(const Context& ctx, const M& message) const final {
    return GuardHandler([&]() -> Error {
      KEEPER_RETURN_IF_ERROR(Validate(ctx, message));
      return Run(ctx, message);
    });
  }

 private:
  std::string type_url_;
  Managers* mgr_;
};

// cosmos.VerifyAddressFormat with the node's verifier: accounts have 20 bytes, contracts 32.
bool IsValidAccAddress(const AccAddress& address);

}  // namespace blockreplay::keeper::thorchain
