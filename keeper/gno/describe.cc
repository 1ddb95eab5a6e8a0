#include "keeper/gno/describe.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/escaping.h"
#include "keeper/gno/account.h"
#include "keeper/gno/amino.h"
#include "keeper/gno/auth.h"
#include "keeper/gno/header.h"
#include "keeper/gno/params.h"
#include "keeper/gno/tx.h"
#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::gno {
namespace {

constexpr std::string_view kAccountPrefix = "/a/";
constexpr std::string_view kBalancePrefix = "/b/";
constexpr std::string_view kSessionInfix = "/s/";
constexpr std::string_view kSupplyPrefix = "/supply/";
constexpr std::string_view kParamPrefix = "/pv/";
constexpr size_t kAddressSize = 20;

std::string Hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

bool IsText(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string TextOrHex(std::string_view bytes) {
  return IsText(bytes) ? std::string(bytes) : Hex(bytes);
}

// Takes what stands after `prefix`; false if it doesn't.
bool TakePrefix(std::string_view prefix, std::string_view* bytes) {
  if (!bytes->starts_with(prefix)) return false;
  bytes->remove_prefix(prefix.size());
  return true;
}

std::optional<std::string> TakeAddress(std::string_view* bytes) {
  if (bytes->size() < kAddressSize) return std::nullopt;
  Address address;
  std::copy_n(bytes->begin(), kAddressSize, address.bytes.begin());
  bytes->remove_prefix(kAddressSize);
  return address.ToString();
}

std::string_view NameOf(Account::Type type) {
  switch (type) {
    case Account::Type::kGno:
      return "account";
    case Account::Type::kBase:
      return "base account";
    case Account::Type::kContinuousVesting:
      return "continuous vesting account";
    case Account::Type::kDelayedVesting:
      return "delayed vesting account";
    case Account::Type::kSession:
      return "session account";
  }
  return "";
}

std::string DescribeAccount(std::string_view value) {
  Scratch scratch;
  const std::optional<Account> account = Account::Decode(value, &scratch);
  if (!account.has_value()) return Hex(value);
  std::string text(NameOf(account->type));
  sdk::StrAppend(&text, " ", account->address.ToString(), " coins=", account->coins.ToString(),
                 " number=", account->number, " sequence=", account->sequence);
  if (!account->pub_key.is_none()) sdk::StrAppend(&text, " key=", Hex(account->pub_key.any));
  if (account->attributes != 0) sdk::StrAppend(&text, " attributes=", account->attributes);
  if (account->is_vesting()) {
    sdk::StrAppend(&text, " vesting=", account->original_vesting.ToString(),
                   " start=", account->start_time, " end=", account->end_time);
  }
  if (account->type == Account::Type::kSession) {
    sdk::StrAppend(&text, " master=", account->master.ToString(), " expires=", account->expires_at,
                   " limit=", account->spend_limit.ToString(), " period=", account->spend_period,
                   " used=", account->spend_used.ToString(), " reset=", account->spend_reset);
    for (const std::string_view path : account->allow_paths) {
      sdk::StrAppend(&text, " path=", TextOrHex(path));
    }
  }
  return text;
}

std::string DescribeAmount(std::string_view value) {
  if (value.size() != sizeof(uint64_t)) return Hex(value);
  uint64_t amount = 0;
  for (const char c : value) amount = amount << 8 | static_cast<uint8_t>(c);
  return sdk::StrCat(amount);
}

std::string_view UrlOf(Msg::Type type) {
  switch (type) {
    case Msg::Type::kNil:
      return "(nil)";
    case Msg::Type::kSend:
      return "/bank.MsgSend";
    case Msg::Type::kCreateSession:
      return "/auth.m_create_session";
    case Msg::Type::kRevokeSession:
      return "/auth.m_revoke_session";
    case Msg::Type::kRevokeAllSessions:
      return "/auth.m_revoke_all_sessions";
    case Msg::Type::kVm:
      return "/vm";
  }
  return "";
}

}  // namespace

std::string DescribeTx(std::string_view bytes) {
  Scratch scratch;
  Tx tx;
  if (!tx.Decode(bytes, &scratch)) return "?";
  if (tx.msgs.empty()) return "(no messages)";
  std::string text;
  std::vector<Msg::Type> seen;
  for (const Msg& msg : tx.msgs) {
    if (std::find(seen.begin(), seen.end(), msg.type) != seen.end()) continue;
    seen.push_back(msg.type);
    sdk::StrAppend(&text, text.empty() ? "" : "+", UrlOf(msg.type));
  }
  return text;
}

std::string DescribeStoredKey(std::string_view /*store*/, std::string_view key) {
  std::string_view rest = key;
  if (TakePrefix(kAccountPrefix, &rest)) {
    if (const std::optional<std::string> address = TakeAddress(&rest)) {
      if (rest.empty()) return sdk::StrCat("account ", *address);
      if (TakePrefix(kSessionInfix, &rest)) {
        const std::optional<std::string> session = TakeAddress(&rest);
        if (session && rest.empty()) return sdk::StrCat("session ", *session, " of ", *address);
      }
    }
  } else if (TakePrefix(kBalancePrefix, &rest)) {
    if (const std::optional<std::string> address = TakeAddress(&rest)) {
      return sdk::StrCat("balance of ", *address, " in ", TextOrHex(rest));
    }
  }
  return TextOrHex(key);
}

std::string DescribeStoredValue(std::string_view store, std::string_view key,
                                std::string_view value) {
  if (store == "base") return Hex(value);
  if (key.starts_with(kAccountPrefix)) return DescribeAccount(value);
  if (key.starts_with(kBalancePrefix) || key.starts_with(kSupplyPrefix)) {
    return DescribeAmount(value);
  }
  if (key.starts_with(kParamPrefix)) return TextOrHex(value);
  if (key == kGasPriceKey) {
    const std::optional<GasPrice> price = GasPrice::Decode(value);
    if (price) return sdk::StrCat(price->amount, price->denom, " for ", price->gas, " gas");
  }
  if (key == kGlobalAccountNumberKey) {
    uint64_t number = 0;
    if (amino::DecodeUint64(value, &number)) return sdk::StrCat(number);
  }
  return Hex(value);
}

}  // namespace blockreplay::keeper::gno
