#pragma once

// nodemimir/: what each node votes a mimir to be. node_pause_chain/: when a node last used its
// right to pause.

#include <optional>
#include <vector>

#include "keeper/thorchain/keeper.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {

Result<NodeMimirs> GetNodeMimirs(const Keeper& k, const Context& ctx, std::string_view key);
// A negative value withdraws the vote; the last one withdrawn deletes the record.
Error SetNodeMimir(const Keeper& k, const Context& ctx, std::string_view key, int64_t value,
                   const AccAddress& node);

// -1 if the node never did.
int64_t GetNodePauseChain(const Keeper& k, const Context& ctx, const AccAddress& node);
void SetNodePauseChain(const Keeper& k, const Context& ctx, const AccAddress& node);

// ---- Without the store ----

// Mimirs of daily operation: the value with the most votes holds. All others need two thirds of the
// nodes.
bool IsOperationalMimir(std::string_view key);
// The value that two thirds of the active nodes vote for.
std::optional<int64_t> SuperMajorityValue(const NodeMimirs& votes, std::string_view key,
                                          const NodeAccounts& active);
// The value with the most votes of active nodes; none at a tie and below `min_votes`.
std::optional<int64_t> OperationalValue(const NodeMimirs& votes, std::string_view key,
                                        int64_t min_votes, const NodeAccounts& active);

}  // namespace blockreplay::keeper::thorchain
