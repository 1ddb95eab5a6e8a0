#pragma once

// tss/ and tss_keygen_metric/: votes on how making a vault went, and how long it took.

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// With the identifier only if there is none.
Result<TssVoter> GetTssVoter(const Keeper& k, const Context& ctx, const std::string& id);
void SetTssVoter(const Keeper& k, const Context& ctx, const TssVoter& voter);

// With the key only if there is none.
Result<TssKeygenMetric> GetKeygenMetric(const Keeper& k, const Context& ctx, const PubKey& key);
void SetKeygenMetric(const Keeper& k, const Context& ctx, const TssKeygenMetric& metric);

}  // namespace blockreplay::keeper::thorchain
