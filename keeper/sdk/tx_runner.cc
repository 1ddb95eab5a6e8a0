#include "keeper/sdk/tx_runner.h"

#include <algorithm>
#include <utility>

#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr std::string_view kConsensusParamsKey = "Consensus";

Error FromPanic(const Panic& panic, Gas wanted, const Context& context) {
  if (dynamic_cast<const OutOfGas*>(&panic) != nullptr) {
    return Error(kErrOutOfGas, StrCat("out of gas in location: ", panic.message(), "; gasWanted: ",
                                      wanted, ", gasUsed: ", context.gas_meter().consumed()));
  }
  return Error(kErrPanic, StrCat("recovered: ", panic.message()));
}

bool HasAttribute(const Events& events, std::string_view key) {
  return std::any_of(events.begin(), events.end(), [key](const Event& event) {
    return std::any_of(event.attributes.begin(), event.attributes.end(),
                       [key](const Attribute& attribute) { return attribute.key == key; });
  });
}

// The second part of a type URL between dots: "bank" of "/cosmos.bank.v1beta1.MsgSend".
std::string_view ModuleOf(std::string_view type_url) {
  const size_t first = type_url.find('.');
  if (first == type_url.npos) return {};
  type_url.remove_prefix(first + 1);
  return type_url.substr(0, type_url.find('.'));
}

void SetError(const Error& error, PhaseResult* result) {
  result->code = error.code();
  result->codespace = std::string(error.codespace());
  result->log = error.message();
}

}  // namespace

PhaseResult TxRunner::Run(std::string_view bytes, const BlockInfo& block, MultiStore* state) const {
  PhaseResult result;
  Result<Tx> decoded = application_->Decode(bytes);
  if (!decoded.ok()) {
    SetError(Error(kErrTxDecode), &result);
    return result;
  }
  const Tx& tx = *decoded;

  GasMeter start_meter = GasMeter::Infinite();
  GasMeter tx_meter = GasMeter::Infinite();
  EventManager start_events;
  Context context = Context(&block, state, &start_meter, &start_events).WithTxBytes(bytes);
  // Read for the limit of the block's gas, which THORChain doesn't have.
  (void)context.kv(consensus_store_).Get(kConsensusParamsKey);

  Gas wanted = 0;
  Events ante_events;
  Error error;
  const auto finish = [&]() -> PhaseResult {
    result.gas_wanted = static_cast<int64_t>(wanted);
    result.gas_used = static_cast<int64_t>(context.gas_meter().consumed());
    if (error) {
      SetError(error, &result);
      result.events = std::move(ante_events);
      result.data.clear();
    }
    return std::move(result);
  };

  try {
    if (tx.messages.empty()) {
      error = Error(kErrInvalidRequest, "must contain at least one message");
      return finish();
    }
    for (const TxMessage& message : tx.messages) {
      if (message.type_url.empty()) throw Panic("any cached value is nil");
    }
    for (const TxMessage& message : tx.messages) {
      error = message.handler->ValidateBasic(*message.message);
      if (error) return finish();
    }
    for (const TxMessage& message : tx.messages) {
      if (!message.is_routed) {
        error =
            Error(kErrUnknownRequest, StrCat("no message handler found for ", message.type_url));
        return finish();
      }
    }

    MultiStore ante_state(state);
    EventManager ante_event_manager;
    Context ante_context = context.WithStores(&ante_state).WithEvents(&ante_event_manager);
    error = application_->Ante(tx, &tx_meter, &ante_context);
    context = ante_context.WithStores(state);
    wanted = context.gas_meter().limit();
    if (error) return finish();
    ante_state.Write();
    ante_events = ante_event_manager.Take();

    MultiStore message_state(state);
    Events message_events;
    error = RunMessages(tx, context.WithStores(&message_state), &message_events, &result.data);
    if (error) return finish();
    message_state.Write();
    result.events = std::move(ante_events);
    for (Event& event : message_events) result.events.push_back(std::move(event));
    return finish();
  } catch (const Panic& panic) {
    error = FromPanic(panic, wanted, context);
    return finish();
  }
}

Error TxRunner::RunMessages(const Tx& tx, const Context& context, Events* events,
                            std::string* data) const {
  std::vector<Any> responses;
  for (size_t i = 0; i < tx.messages.size(); ++i) {
    const TxMessage& message = tx.messages[i];
    EventManager emitted;
    Error error = message.handler->ValidateBasic(*message.message);
    if (!error) error = message.handler->Handle(context.WithEvents(&emitted), *message.message);
    if (error) return error.Wrap(StrCat("failed to execute message; message index: ", i));

    Event first("message", {{"action", message.type_url}});
    KEEPER_ASSIGN_OR_RETURN(const std::vector<std::string> signers,
                            message.handler->Signers(*message.message));
    if (!signers.empty() && !signers.front().empty()) {
      first.Add("sender", addresses_->ToText(signers.front()));
    }
    if (!HasAttribute(emitted.events(), "module")) {
      if (const std::string_view module = ModuleOf(message.type_url); !module.empty()) {
        first.Add("module", module);
      }
    }
    const std::string index = StrCat(i);
    events->push_back(std::move(first));
    events->back().Add("msg_index", index);
    for (Event& event : emitted.Take()) {
      event.Add("msg_index", index);
      events->push_back(std::move(event));
    }
    responses.push_back(message.handler->Response());
  }
  // cosmos.base.abci.v1beta1.TxMsgData.
  WireWriter w;
  for (size_t i = responses.size(); i-- > 0;) {
    const size_t mark = w.size();
    w.BytesField(2, responses[i].value);
    w.BytesField(1, responses[i].type_url);
    w.EndMessage(2, mark);
  }
  *data = w.bytes();
  return {};
}

}  // namespace blockreplay::keeper::sdk
