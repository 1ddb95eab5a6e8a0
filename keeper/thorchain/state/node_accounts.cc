#include "keeper/thorchain/state/node_accounts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "keeper/thorchain/decode_memo.h"
#include "keeper/thorchain/last_read.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/slash_points.h"

namespace blockreplay::keeper::thorchain {
namespace {

template <typename Accept>
Result<NodeAccounts> ListValidators(const Keeper& k, const Context& ctx, Accept&& accept) {
  NodeAccounts accounts;
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kNodeAccountPrefix); it.Valid(); it.Next()) {
    SharedNodeAccount account = DecodeNodeAccount(it.value());
    if (account == nullptr) return Error::New("KVStore Error: Unmarshal: node account");
    if (account->type == NodeType::TypeValidator && accept(*account)) {
      accounts.push_back(std::move(account));
    }
  }
  return accounts;
}

}  // namespace

SharedNodeAccount DecodeNodeAccount(std::string_view bytes) {
  constexpr size_t kMostRemembered = 1 << 13;
  return DecodeShared<Optimisation::kNodeAccountDecodes, kMostRemembered, NodeAccount>(bytes);
}

Result<SharedNodeAccount> ReadNodeAccount(const Keeper& k, const Context& ctx,
                                          const AccAddress& address) {
  const std::string key = StoreKey(kNodeAccountPrefix, ToText(k, address));
  const std::optional<std::string_view> bytes = k.kv(ctx).GetIfHas(key);
  if (!bytes) {
    auto account = std::make_shared<NodeAccount>();
    account->node_address = address;
    return SharedNodeAccount(std::move(account));
  }
  SharedNodeAccount account = DecodeNodeAccount(*bytes);
  if (account == nullptr) {
    return Error::New(sdk::StrCat("KVStore Error: Unmarshal kvstore: ", key));
  }
  return account;
}

Result<SharedNodeAccount> ReadNodeAccountByPubKey(const Keeper& k, const Context& ctx,
                                                  const PubKey& key) {
  KEEPER_ASSIGN_OR_RETURN(const AccAddress address, ThorAddress(k, key));
  return ReadNodeAccount(k, ctx, address);
}

Result<NodeAccount> GetNodeAccount(const Keeper& k, const Context& ctx, const AccAddress& address) {
  KEEPER_ASSIGN_OR_RETURN(const SharedNodeAccount account, ReadNodeAccount(k, ctx, address));
  return *account;
}

Result<NodeAccount> GetNodeAccountByPubKey(const Keeper& k, const Context& ctx, const PubKey& key) {
  KEEPER_ASSIGN_OR_RETURN(const SharedNodeAccount account, ReadNodeAccountByPubKey(k, ctx, key));
  return *account;
}

void SetNodeAccount(const Keeper& k, const Context& ctx, const NodeAccount& account) {
  if (account.node_address.IsEmpty() || account.status == NodeStatus::Unknown) return;
  const std::string key = StoreKey(kNodeAccountPrefix, ToText(k, account.node_address));
  if (account.status == NodeStatus::Active && account.active_block_height == 0) {
    NodeAccount active = account;
    active.active_block_height = ctx.height();
    ResetSlashPoints(k, ctx, active.node_address);
    SetRecord(k, ctx, key, active);
    return;
  }
  SetRecord(k, ctx, key, account);
}

Result<NodeAccounts> ListValidatorsByStatus(const Keeper& k, const Context& ctx,
                                            NodeStatus status) {
  return ListValidators(k, ctx,
                        [status](const NodeAccount& account) { return account.status == status; });
}

Result<SharedNodeAccounts> ReadActiveValidators(const Keeper& k, const Context& ctx) {
  static const auto nodes = storage::KeyRange::Prefix(kNodeAccountPrefix);
  thread_local LastRead<Result<SharedNodeAccounts>> last;
  return last.Get(Optimisation::kActiveValidators, ctx, {&nodes}, {},
                  [&]() -> Result<SharedNodeAccounts> {
                    KEEPER_ASSIGN_OR_RETURN(NodeAccounts read,
                                            ListValidatorsByStatus(k, ctx, NodeStatus::Active));
                    return std::make_shared<const NodeAccounts>(std::move(read));
                  });
}

Result<NodeAccounts> ListActiveValidators(const Keeper& k, const Context& ctx) {
  KEEPER_ASSIGN_OR_RETURN(const SharedNodeAccounts accounts, ReadActiveValidators(k, ctx));
  return *accounts;
}

Result<NodeAccounts> ListValidatorsWithBond(const Keeper& k, const Context& ctx) {
  return ListValidators(k, ctx, [](const NodeAccount& account) { return !account.bond.IsZero(); });
}

bool IsNodeKeys(const NodeAccounts& accounts, const AccAddress& address) {
  return std::any_of(accounts.begin(), accounts.end(), [&](const SharedNodeAccount& account) {
    return account->status == NodeStatus::Active && account->node_address == address;
  });
}

void UpdateStatus(NodeAccount* account, NodeStatus status, int64_t height) {
  if (account->status == status) return;
  account->status = status;
  account->status_since = height;
  if (status != NodeStatus::Active) account->active_block_height = 0;
}

}  // namespace blockreplay::keeper::thorchain
