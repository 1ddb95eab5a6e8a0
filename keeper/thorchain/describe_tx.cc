#include "keeper/thorchain/describe_tx.h"

#include <algorithm>
#include <cctype>

#include "cosmos/tx/v1beta1/tx.pb.h"
#include "types/messages.pb.h"
#include "types/records.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The part of a memo before its first colon, without digits and addresses that would make each one
// a kind of its own.
std::string MemoVerb(std::string_view memo) {
  std::string verb(memo.substr(0, memo.find(':')));
  for (char& c : verb) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (verb.size() > 12) verb.resize(12);
  return verb;
}

std::string Describe(const google::protobuf::Any& any) {
  const std::string& url = any.type_url();
  if (url == "/types.MsgDeposit") {
    types::MsgDeposit deposit;
    if (deposit.ParseFromString(any.value())) return url + " " + MemoVerb(deposit.memo());
  } else if (url == "/types.MsgObservedTxQuorum") {
    types::MsgObservedTxQuorum quorum;
    if (quorum.ParseFromString(any.value())) {
      return url + (quorum.quotx().inbound() ? " in" : " out");
    }
  }
  return url;
}

std::string Join(const google::protobuf::RepeatedPtrField<google::protobuf::Any>& messages) {
  std::string text;
  for (const auto& message : messages) {
    const std::string one = Describe(message);
    if (text == one) continue;
    if (!text.empty()) text += "+";
    text += one;
  }
  return text;
}

}  // namespace

std::string DescribeTx(std::string_view tx) {
  cosmos::tx::v1beta1::TxRaw raw;
  cosmos::tx::v1beta1::TxBody body;
  if (raw.ParseFromArray(tx.data(), static_cast<int>(tx.size())) &&
      !raw.auth_info_bytes().empty() && body.ParseFromString(raw.body_bytes()) &&
      body.messages_size() > 0 && body.messages(0).type_url().starts_with('/')) {
    return Join(body.messages());
  }
  types::InjectTx inject;
  if (inject.ParseFromArray(tx.data(), static_cast<int>(tx.size())) && inject.messages_size() > 0 &&
      inject.messages(0).type_url().starts_with('/')) {
    return "inject:" + Join(inject.messages());
  }
  return "?";
}

}  // namespace blockreplay::keeper::thorchain
