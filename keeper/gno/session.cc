#include "keeper/gno/session.h"

#include <array>
#include <optional>
#include <vector>

#include "keeper/gno/auth.h"

namespace blockreplay::keeper::gno {
namespace {

constexpr int kMaxSessionsPerAccount = 16;
constexpr size_t kMaxAllowPaths = 8;
constexpr int64_t kMaxSessionDuration = int64_t{4} * 365 * 24 * 60 * 60;
constexpr int64_t kMaxSpendPeriod = int64_t{30} * 24 * 60 * 60;

// "*", or "<route>/<type>" of a few, for "vm/exec" with ":<path>" behind it.
struct AllowedPath {
  bool wildcard = false;
  std::string_view route;
  std::string_view action;
  std::string_view path;

  static std::optional<AllowedPath> Parse(std::string_view text) {
    if (text.empty()) return std::nullopt;
    if (text == "*") return AllowedPath{.wildcard = true, .route = {}, .action = {}, .path = {}};
    const size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon);
    constexpr std::array<std::string_view, 4> kKnown = {"vm/exec", "vm/run", "bank/send",
                                                        "bank/multisend"};
    bool known = false;
    for (const std::string_view candidate : kKnown) known = known || candidate == head;
    if (!known) return std::nullopt;
    AllowedPath allowed;
    const size_t slash = head.find('/');
    allowed.route = head.substr(0, slash);
    allowed.action = head.substr(slash + 1);
    if (colon == std::string_view::npos) return allowed;
    allowed.path = text.substr(colon + 1);
    if (head != "vm/exec" || allowed.path.empty() || allowed.path.back() == '/')
      return std::nullopt;
    return allowed;
  }

  bool Permits(const Msg& msg) const {
    if (wildcard) return true;
    if (route != msg.route() || action != msg.action()) return false;
    // Only messages to the virtual machine have a path, and those are not executed here.
    return path.empty();
  }
};

bool PeriodIsOver(const Account& session, int64_t time) {
  // Wraps as the original's addition does.
  const auto end = static_cast<int64_t>(static_cast<uint64_t>(session.spend_reset) +
                                        static_cast<uint64_t>(session.spend_period));
  return session.spend_period > 0 && time >= end;
}

bool ParsesAsAllowPaths(const absl::InlinedVector<std::string_view, 2>& paths) {
  if (paths.empty()) return false;
  for (const std::string_view path : paths) {
    if (!AllowedPath::Parse(path).has_value()) return false;
  }
  return true;
}

}  // namespace

Error CheckSpend(const Context& context, const Account& session, const Coins& amount) {
  if (amount.IsZero()) return Error::kNone;
  if (session.spend_limit.empty())
    return context.Fail(Error::kSessionNotAllowed, "session has no spend limit");
  const Coins used = PeriodIsOver(session, context.time) ? Coins() : session.spend_used;
  if (!session.spend_limit.IsAllGte(used.Add(amount)))
    return context.Fail(Error::kSessionNotAllowed, "session spend limit would be exceeded");
  return Error::kNone;
}

Error DeductSpend(const Context& context, Account* session, const Coins& amount) {
  if (amount.IsZero()) return Error::kNone;
  if (session->spend_limit.empty())
    return context.Fail(Error::kSessionNotAllowed, "session has no spend limit");
  if (PeriodIsOver(*session, context.time)) {
    session->spend_used.clear();
    session->spend_reset = context.time;
  }
  const Coins used = session->spend_used.Add(amount);
  if (!session->spend_limit.IsAllGte(used))
    return context.Fail(Error::kSessionNotAllowed, "session spend limit exceeded");
  session->spend_used = used;
  return Error::kNone;
}

Error CheckAllowed(const Context& context, const Account& session, const Msg& msg) {
  if (msg.route() == "auth")
    return context.Fail(Error::kSessionNotAllowed, "message cannot be signed by a session");
  if (!ParsesAsAllowPaths(session.allow_paths))
    return context.Fail(Error::kSessionNotAllowed, "invalid stored allow paths");
  for (const std::string_view path : session.allow_paths) {
    if (AllowedPath::Parse(path)->Permits(msg)) return Error::kNone;
  }
  return context.Fail(Error::kSessionNotAllowed,
                      "message not permitted by the session's allow paths");
}

Error CreateSession(const Context& context, const Msg& msg) {
  if (!LoadAccount(context, msg.signer).has_value())
    return context.Fail(Error::kUnknownAddress, "account not found");
  if (msg.expires_at != 0) {
    if (msg.expires_at <= context.time)
      return context.Fail(Error::kUnauthorized, "session already expired");
    if (msg.expires_at > context.time + kMaxSessionDuration)
      return context.Fail(Error::kUnauthorized, "session duration exceeds maximum");
  }
  const Address session_address = msg.session_key.ToAddress();
  if (LoadAccount(context, session_address).has_value())
    return context.Fail(Error::kUnauthorized, "session key address collides with existing account");
  if (LoadSession(context, msg.signer, session_address).has_value())
    return context.Fail(Error::kUnauthorized, "session key already exists");
  int count = 0;
  context.state->ForEachWithPrefix(
      AccountKey::SessionPrefix(msg.signer).view(), context.payer,
      [&](std::string_view, std::string_view) { return ++count < kMaxSessionsPerAccount; });
  if (count >= kMaxSessionsPerAccount)
    return context.Fail(Error::kSessionLimit, "too many sessions");
  if (msg.spend_period > kMaxSpendPeriod)
    return context.Fail(Error::kUnauthorized, "spend_period exceeds maximum");
  if (msg.allow_paths.size() > kMaxAllowPaths)
    return context.Fail(Error::kUnauthorized, "too many allow paths");
  for (const std::string_view path : msg.allow_paths) {
    if (path.empty() || path.back() == '/')
      return context.Fail(Error::kUnauthorized, "malformed allow path");
  }

  Account session;
  session.type = Account::Type::kSession;
  session.address = session_address;
  session.pub_key = msg.session_key;
  session.number = TakeAccountNumber(context);
  session.master = msg.signer;
  session.expires_at = msg.expires_at;
  session.spend_limit = msg.coins;
  session.spend_period = msg.spend_period;
  session.spend_reset = context.time;
  if (!ParsesAsAllowPaths(msg.allow_paths))
    return context.Fail(Error::kUnauthorized, "invalid allow paths");
  session.allow_paths = msg.allow_paths;
  StoreSession(context, msg.signer, session);
  return Error::kNone;
}

Error RevokeSession(const Context& context, const Msg& msg) {
  const Address session = msg.session_key.ToAddress();
  if (!LoadSession(context, msg.signer, session).has_value())
    return context.Fail(Error::kSessionNotFound, "session not found");
  context.state->Delete(AccountKey(msg.signer, session).view(), context.payer);
  return Error::kNone;
}

Error RevokeAllSessions(const Context& context, const Msg& msg) {
  std::vector<std::string> keys;
  context.state->ForEachWithPrefix(AccountKey::SessionPrefix(msg.signer).view(), context.payer,
                                   [&](std::string_view key, std::string_view) {
                                     keys.emplace_back(key);
                                     return true;
                                   });
  for (const std::string& key : keys) context.state->Delete(key, context.payer);
  return Error::kNone;
}

}  // namespace blockreplay::keeper::gno
