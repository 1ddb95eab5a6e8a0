#pragma once

// node_account/

#include <memory>
#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

inline constexpr std::string_view kNodeAccountPrefix = "node_account/";

// Decoded once per stored value and shared; nobody changes it.
using SharedNodeAccount = std::shared_ptr<const NodeAccount>;
using NodeAccounts = std::vector<SharedNodeAccount>;
using SharedNodeAccounts = std::shared_ptr<const NodeAccounts>;

// The value of an element of an iterator over kNodeAccountPrefix; null if it is malformed.
SharedNodeAccount DecodeNodeAccount(std::string_view bytes);

// An account in status Unknown if there is none. A copy of the caller's own.
Result<NodeAccount> GetNodeAccount(const Keeper& k, const Context& ctx, const AccAddress& address);
Result<NodeAccount> GetNodeAccountByPubKey(const Keeper& k, const Context& ctx, const PubKey& key);
// The same reads without the copy.
Result<SharedNodeAccount> ReadNodeAccount(const Keeper& k, const Context& ctx,
                                          const AccAddress& address);
Result<SharedNodeAccount> ReadNodeAccountByPubKey(const Keeper& k, const Context& ctx,
                                                  const PubKey& key);
// Does nothing for an account in status Unknown. An active one without the height at which it
// became so gets this one, and its slash points are reset.
void SetNodeAccount(const Keeper& k, const Context& ctx, const NodeAccount& account);

// Validators in the order of their keys. Reads all accounts.
Result<NodeAccounts> ListValidatorsByStatus(const Keeper& k, const Context& ctx, NodeStatus status);
Result<NodeAccounts> ListActiveValidators(const Keeper& k, const Context& ctx);
// The same without the copy. Remembered until a node account is written: reading costs the same gas
// again, but touches no account. The same list is the same object.
Result<SharedNodeAccounts> ReadActiveValidators(const Keeper& k, const Context& ctx);
Result<NodeAccounts> ListValidatorsWithBond(const Keeper& k, const Context& ctx);

// ---- Without the store ----

// An active validator of the list has this address.
bool IsNodeKeys(const NodeAccounts& accounts, const AccAddress& address);
// Sets the height from which the status holds, unless it is the status already.
void UpdateStatus(NodeAccount* account, NodeStatus status, int64_t height);

}  // namespace blockreplay::keeper::thorchain
