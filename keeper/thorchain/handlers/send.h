#pragma once

#include <memory>

#include "keeper/thorchain/handlers/handler.h"

namespace blockreplay::keeper::thorchain {

// types.MsgSend and cosmos.bank.v1beta1.MsgSend: the same but for their encoding and for what
// errors become.
std::unique_ptr<sdk::MessageHandler> NewSendHandler(Managers* managers);
std::unique_ptr<sdk::MessageHandler> NewBankSendHandler(Managers* managers);
// cosmos.bank.v1beta1.MsgMultiSend, which the ante chain refuses.
std::unique_ptr<sdk::MessageHandler> NewBankMultiSendHandler(Managers* managers);

// The recipient is the module's account: the message is a deposit.
bool IsDepositSend(const Keeper& k, const MsgSend& message);

}  // namespace blockreplay::keeper::thorchain
