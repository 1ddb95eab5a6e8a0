#pragma once

// tcy_claimer/ and tcy_staker/: TCY that creditors may claim, and TCY that is staked.

#include <vector>

#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// What an address of another chain may claim; an error if that is nothing.
Result<std::vector<TCYClaimer>> ListTcyClaims(const Keeper& k, const Context& ctx,
                                              const Address& l1_address);
void DeleteTcyClaim(const Keeper& k, const Context& ctx, const TCYClaimer& claim);

// Contracts that count as staking all the TCY they hold. They have no records: writes for them do
// nothing.
bool IsTcyContract(const Keeper& k, const Address& address);

// An error if there is none.
Result<TCYStaker> GetTcyStaker(const Keeper& k, const Context& ctx, const Address& address);
void SetTcyStaker(const Keeper& k, const Context& ctx, const TCYStaker& staker);
void DeleteTcyStaker(const Keeper& k, const Context& ctx, const Address& address);
// Adds to what the address has staked already.
Error AddTcyStake(const Keeper& k, const Context& ctx, const Address& address, const Uint& amount);

}  // namespace blockreplay::keeper::thorchain
