#include "keeper/thorchain/begin_block.h"

#include <optional>

#include "keeper/sdk/authz.h"
#include "keeper/thorchain/managers/block_signing.h"
#include "keeper/thorchain/managers/churn.h"
#include "keeper/thorchain/managers/derived_assets.h"
#include "keeper/thorchain/state/network_version.h"
#include "keeper/thorchain/state/node_accounts.h"
#include "keeper/thorchain/state/observing_addresses.h"
#include "keeper/thorchain/state/oracle_prices.h"
#include "keeper/thorchain/state/upgrades.h"
#include "keeper/thorchain/state/vaults.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr int64_t kGenesisHeight = 1;

// Before all modules' begin blocks. That of x/auth only cleans up after unordered transactions,
// which this chain doesn't take.
void PreBlock(const Context& ctx) {
  const Result<std::optional<sdk::UpgradePlan>> plan = kUpgrades.GetPlan(ctx);
  if (!plan.ok()) throw sdk::Panic(plan.error().message());
  if (*plan && (*plan)->height > 0 && (*plan)->height <= ctx.height()) {
    throw sdk::NotNative("the change to another version");
  }
}

void UpdateNetworkVersion(const Keeper& k, const Context& ctx, const NodeAccounts& active) {
  const SemVer version = LowestVersion(k, active);
  const std::optional<SemVer> stored = GetNetworkVersion(k, ctx);
  if (!stored || version > *stored) SetNetworkVersion(k, ctx, version);
  if (stored && version > *stored) {
    ctx.events().Emit(sdk::Event("version", {{"version", version.ToString()}}));
  }
  const SemVer own = SemVer::ParseOrZero(k.build->software_version);
  if (version.major_number > own.major_number || version.minor_number > own.minor_number) {
    throw sdk::Panic(sdk::StrCat("Unsupported Version: this is ", own.ToString(),
                                 ", the network runs ", version.ToString()));
  }
}

void ClearOraclePrices(const Keeper& k, const Context& ctx) {
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kOraclePricePrefix); it.Valid(); it.Next()) {
    OraclePrice price;
    if (Decode(it.value(), &price)) DeleteOraclePrice(k, ctx, price.symbol);
  }
}

}  // namespace

// The errors of each step are only logged. Gas isn't counted here, so what is read twice in the
// original with nothing written in between is read once.
void BeginBlock(Managers& mgr, const Context& ctx) {
  const Keeper& k = *mgr.keeper;
  PreBlock(ctx);
  sdk::DeleteExpiredGrants(ctx, kAuthzStore);

  Result<NodeAccounts> active = ListActiveValidators(k, ctx);
  UpdateNetworkVersion(k, ctx, active.ok() ? *active : NodeAccounts());
  ClearOraclePrices(k, ctx);
  ClearObservingAddresses(k, ctx);
  const Result<Vaults> vaults = GetAsgardVaultsByStatus(k, ctx, VaultStatus::ActiveVault);
  if (vaults.ok()) SpawnDerivedAssets(k, ctx, *vaults);
  if (active.ok()) JudgeBlockSigning(k, ctx, *active);
  if (ctx.height() != kGenesisHeight || SetUpValidators(k, ctx).ok()) {
    (void)ChurnIfDue(k, ctx, vaults.ok() ? *vaults : Vaults());
  }
  (void)RemoveExpiredUpgradeProposals(k, ctx);
}

}  // namespace blockreplay::keeper::thorchain
