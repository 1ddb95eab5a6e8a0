#include "keeper/thorchain/handlers/add_liquidity.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/handlers/swap.h"
#include "keeper/thorchain/managers/liquidity_caps.h"
#include "keeper/thorchain/managers/liquidity_events.h"
#include "keeper/thorchain/managers/pool_units.h"
#include "keeper/thorchain/managers/secured_assets.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/multi_error.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/liquidity_providers.h"
#include "keeper/thorchain/state/lp_pauses.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pol.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/swap_queue.h"
#include "keeper/thorchain/state/trading_halts.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr uint64_t kMaxAffiliateFee = 1'000;

Error UnknownRequest(std::string_view message) { return Error(sdk::kErrUnknownRequest, message); }

// What the reserve adds is the protocol's own liquidity.
Address PolAddress(const Keeper& k) { return ModuleAddress(k, kReserveModule); }

// The coin isn't that of the pool.
bool NeedsSwap(const MsgAddLiquidity& message) {
  const Coins& coins = message.tx.coins;
  return coins.size() == 1 && !coins.front().IsRune() && !(message.asset == coins.front().asset);
}

Error CheckGasPool(const Keeper& k, const Context& ctx, const Asset& asset) {
  const Asset& gas_asset = asset.GetLayer1Asset().GetChain().GetGasAsset();
  if (asset == gas_asset || asset.IsTCY() || asset.IsWhitelisted()) return {};
  const Result<Pool> pool = GetPool(k, ctx, gas_asset);
  if (!pool.ok()) return InternalError(pool.error(), "fail to get gas pool");
  if (!IsEmpty(*pool)) return {};
  return Error::New(sdk::StrCat("asset (", asset.ToString(), ")'s gas asset pool (",
                                gas_asset.ToString(), ") does not exist yet"));
}

Error CheckSaver(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message) {
  const Asset layer1 = message.asset.GetLayer1Asset();
  const std::vector<Asset> anchors = DollarAnchors(k, ctx);
  if (!layer1.IsGasAsset() && std::find(anchors.begin(), anchors.end(), layer1) == anchors.end()) {
    return Error::New("asset must be a gas asset or TOR anchor pool");
  }
  if (!message.asset_address.IsChain(layer1.GetChain())) {
    return Error::New("asset address must be layer1 chain");
  }
  if (!message.rune_amount.IsZero()) return Error::New("cannot deposit rune into a vault");
  return {};
}

Error CheckAddresses(const Keeper& k, const MsgAddLiquidity& message) {
  if (!message.rune_address.IsEmpty() && !message.rune_address.IsChain(chains::kTHOR)) {
    return Error(kErrAddLiquidityFailValidation);
  }
  // Nobody adds the secured assets of others.
  if (message.asset.IsSecured() && !message.asset_amount.IsZero()) {
    const absl::StatusOr<AccAddress> account = message.rune_address.ToAccAddress(k.network());
    if (!account.ok()) {
      return Error::New(sdk::StrCat("invalid rune address for secured asset: ",
                                    std::string(account.status().message())));
    }
    if (*account != message.signer) {
      return Error::New(sdk::StrCat("signer ", ToText(k, message.signer),
                                    " not authorized to withdraw secured assets from ",
                                    message.rune_address.ToString()));
    }
  }
  if (message.asset_address.IsEmpty()) return {};
  if (!message.asset_address.IsChain(
          message.asset.IsSecured() ? chains::kTHOR : message.asset.GetLayer1Asset().GetChain())) {
    return Error(kErrAddLiquidityMismatchAddr);
  }
  if (message.rune_address == PolAddress(k)) {
    return Error::New("pol lp cannot have asset address");
  }
  return {};
}

Error CheckCaps(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message,
                const Pool& pool) {
  if (message.asset.IsSynthetic() ||
      !k.constants().GetBool(ConstantName::kStrictBondLiquidityRatio)) {
    return {};
  }
  const Result<Uint> others = TotalLiquidityRune(k, ctx);
  if (!others.ok()) return InternalError(others.error(), "fail to get total liquidity RUNE");
  const Uint total = *others + message.rune_amount + AssetValueInRune(pool, message.asset_amount);
  const int64_t most = GetConfigInt64(k, ctx, ConstantName::kMaximumLiquidityRune);
  if (most > 0 && total > Uint(static_cast<uint64_t>(most))) {
    return Error(kErrAddLiquidityRuneOverLimit);
  }
  if (IsAtTvlCap(
          k, ctx,
          {Coin(assets::kRune, message.rune_amount), Coin(message.asset, message.asset_amount)})) {
    return Error(kErrAddLiquidityRuneMoreThanBond);
  }
  return {};
}

Error Validate(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message) {
  const Asset& asset = message.asset;
  // The node's own have a blank hash.
  if (!message.tx.id.IsBlank() && ValidateBasic(k, message)) {
    return Error(kErrAddLiquidityFailValidation);
  }
  if (asset.IsTrade()) return Error::New("asset cannot be a trade asset");
  if (!message.asset_address.IsEmpty() &&
      !SoftEquals(k.network().kind, message.asset_address.GetNetwork(
                                        message.asset_address.GetChain(), k.network()))) {
    return Error::New(
        sdk::StrCat("address(", message.asset_address.ToString(), ") is not same network"));
  }
  if (IsRagnarok(k, ctx, {asset})) {
    return Error::New(
        sdk::StrCat("cannot add liquidity to Ragnaroked pool (", asset.ToString(), ")"));
  }
  KEEPER_RETURN_IF_ERROR(CheckGasPool(k, ctx, asset));
  if (asset.IsDerived()) return Error::New("asset cannot be a derived asset");
  if (asset.IsSynthetic()) KEEPER_RETURN_IF_ERROR(CheckSaver(k, ctx, message));
  KEEPER_RETURN_IF_ERROR(CheckAddresses(k, message));
  if (NeedsSwap(message)) {
    if (!asset.IsSynthetic()) {
      return Error::New("swap & add liquidity is only available for synthetic pools");
    }
    if (!(asset.GetLayer1Asset() == message.tx.coins.front().asset)) {
      return Error::New("deposit asset must be the layer1 equivalent for the synthetic asset");
    }
  }
  const Result<Pool> pool = GetPool(k, ctx, asset);
  if (!pool.ok()) return InternalError(pool.error(), "fail to get pool");
  if (CheckLiquidityStatus(*pool)) return Error(kErrInvalidPoolStatus);
  if (IsChainHalted(k, ctx, asset.chain) || IsLiquidityPaused(k, ctx, asset.chain)) {
    return Error::New("unable to add liquidity while chain has paused LP actions");
  }
  if (IsPoolDepositPaused(k, ctx, asset)) {
    return Error::New(sdk::StrCat("unable to add liquidity, deposits are paused for asset (",
                                  asset.ToString(), ")"));
  }
  return CheckCaps(k, ctx, message, *pool);
}

// Queues a swap to the pool's asset; what it gives is added when it is made.
Error SwapFirst(Managers& mgr, const Context& ctx, const MsgAddLiquidity& message) {
  const Keeper& k = *mgr.keeper;
  if (HasSwapQueueItem(k, ctx, message.tx.id, 0)) return Error::New("txn hash conflict");
  const std::string asset = message.asset.ToString();
  const std::string& affiliate = message.affiliate_address.ToString();
  if (asset.find(':') != std::string::npos || affiliate.find(':') != std::string::npos) {
    return Error::New("illegal character");
  }
  Tx tx = message.tx;
  tx.memo =
      sdk::StrCat("+:", asset, "::", affiliate, ":", message.affiliate_basis_points.ToUint64());
  const int64_t interval =
      std::max(int64_t{0}, GetConfigInt64(k, ctx, ConstantName::kSaversStreamingSwapsInterval));
  const MsgSwap swap =
      MakeMarketSwap(k, ctx, tx, message.asset, Address(kNoopAddress),
                     {.interval = static_cast<uint64_t>(interval)}, message.signer);
  KEEPER_RETURN_IF_ERROR(ValidateSwap(mgr, ctx, swap));
  SetSwapQueueItem(k, ctx, swap, 0);
  return {};
}

PoolStatus StatusByName(std::string_view name) {
  for (const PoolStatus status :
       {PoolStatus::UnknownPoolStatus, PoolStatus::Available, PoolStatus::Staged}) {
    if (name == Name(status)) return status;
  }
  return PoolStatus::Suspended;
}

// Makes a pool that does not exist yet, and notes the decimals of its asset once they are known.
Error PreparePool(const Keeper& k, const Context& ctx, const MsgAddLiquidity& message) {
  Result<Pool> pool =
      GetPool(k, ctx, message.asset.IsSecured() ? message.asset.GetLayer1Asset() : message.asset);
  if (!pool.ok()) return InternalError(pool.error(), "fail to get pool");
  const auto save = [&]() -> Error {
    Error error = SetPool(k, ctx, *pool);
    return error ? InternalError(error, "fail to save pool to key value store") : error;
  };
  if (IsEmpty(*pool)) {
    pool->asset = message.asset;
    const bool is_ready =
        pool->asset == pool->asset.GetChain().GetGasAsset() || pool->asset.IsSynthetic();
    pool->status = is_ready
                       ? PoolStatus::Available
                       : StatusByName(k.constants().GetString(ConstantName::kDefaultPoolStatus));
    KEEPER_RETURN_IF_ERROR(save());
  }
  if (pool->decimals == 0) {
    const Coin coin = message.tx.coins.GetCoin(pool->asset);
    if (!coin.IsEmpty() && coin.decimals > 0) {
      pool->decimals = coin.decimals;
      KEEPER_RETURN_IF_ERROR(save());
    }
  }
  return {};
}

// One position's part of a message.
struct Addition {
  Asset asset;
  Uint rune;
  Uint amount;
  Address rune_address;
  Address asset_address;
  TxID tx_id;
  // If one side is missing, wait for it.
  bool stage = false;
};

Error CheckAddition(const Keeper& k, const Context& ctx, const Addition& addition) {
  if (addition.asset.IsEmpty()) return Error::New("asset is empty");
  if (addition.tx_id.IsEmpty()) return Error::New("request tx hash is empty");
  const bool one_sided = addition.rune_address.IsEmpty() || addition.asset_address.IsEmpty();
  if (addition.rune_address.IsEmpty() && addition.asset_address.IsEmpty()) {
    return Error::New("rune address and asset address is empty");
  }
  const std::string asset = addition.asset.ToString();
  if (!PoolExists(k, ctx, addition.asset)) return Error::New(asset + " doesn't exist");
  const Result<Pool> pool = GetPool(k, ctx, addition.asset);
  if (!pool.ok()) {
    return InternalError(pool.error(), sdk::StrCat("fail to get pool(", asset, ")"));
  }
  if (IsStaged(*pool) && one_sided) {
    return Error::New("cannot add single sided liquidity while a pool is staged");
  }
  return {};
}

// Tokens of a secured asset become the asset itself.
Error RedeemSecured(const Keeper& k, const Context& ctx, Addition* addition) {
  const Asset layer1 = addition->asset.GetLayer1Asset();
  if (!addition->amount.IsZero()) {
    const absl::StatusOr<AccAddress> owner = addition->rune_address.ToAccAddress(k.network());
    if (!owner.ok()) return Error::New(std::string(owner.status().message()));
    KEEPER_ASSIGN_OR_RETURN(const Coin coin,
                            WithdrawSecuredAsset(k, ctx, addition->asset, addition->amount, *owner,
                                                 Address(), addition->tx_id));
    if (!(coin.asset == layer1)) {
      return Error::New("secured asset manager withdraw return unexpected asset: " +
                        coin.asset.ToString());
    }
    if (coin.amount.IsZero()) {
      return Error::New("secured asset withdrawal returned zero amount for request of " +
                        addition->amount.ToString());
    }
    addition->amount = coin.amount;
  }
  addition->asset = layer1;
  return {};
}

// Gives a new position its addresses; an old one must have them.
Error MatchAddresses(const Addition& addition, LiquidityProvider* provider) {
  const Asset& asset = addition.asset;
  if (provider->units.IsZero()) {
    if (provider->pending_tx_id.IsEmpty()) {
      if (provider->rune_address.IsEmpty()) provider->rune_address = addition.rune_address;
      if (provider->asset_address.IsEmpty()) provider->asset_address = addition.asset_address;
    }
    if (asset.IsSynthetic()) {
      provider->asset_address = addition.asset_address;
      provider->rune_address = Address();
    } else if (!(addition.rune_address == provider->rune_address) ||
               !(addition.asset_address == provider->asset_address)) {
      return Error(kErrAddLiquidityMismatchAddr);
    }
  }
  const bool fits =
      asset.IsSynthetic()
          ? !provider->asset_address.IsEmpty() &&
                provider->asset_address.IsChain(asset.GetLayer1Asset().GetChain())
          : addition.asset_address.IsEmpty() || provider->asset_address == addition.asset_address;
  return fits ? Error() : Error(kErrAddLiquidityMismatchAddr);
}

Error KeepPending(const Keeper& k, const Context& ctx, const Addition& addition,
                  LiquidityProvider provider, Pool pool, bool is_rune) {
  LiquidityEvent event;
  event.pool = pool.asset;
  event.rune_address = provider.rune_address;
  event.asset_address = provider.asset_address;
  if (is_rune) {
    pool.pending_inbound_rune += addition.rune;
    provider.pending_rune += addition.rune;
    event.rune = addition.rune;
    event.rune_tx = addition.tx_id;
  } else {
    pool.pending_inbound_asset += addition.amount;
    provider.pending_asset += addition.amount;
    event.asset = addition.amount;
    event.asset_tx = addition.tx_id;
  }
  provider.pending_tx_id = addition.tx_id;
  SetLiquidityProvider(k, ctx, provider);
  if (Error error = SetPool(k, ctx, pool); error) {
    return InternalError(error, is_rune ? "fail to save pool pending inbound rune"
                                        : "fail to save pool pending inbound asset");
  }
  EmitPendingLiquidityEvent(ctx, PendingLiquidityType::add, event);
  return {};
}

// What had been kept becomes part of this addition.
Error TakePending(LiquidityProvider* provider, Pool* pool) {
  if (provider->pending_rune > pool->pending_inbound_rune) {
    return InternalError({}, sdk::StrCat("pending rune accounting error: LP pending ",
                                         provider->pending_rune.ToString(), " > pool pending ",
                                         pool->pending_inbound_rune.ToString()));
  }
  if (provider->pending_asset > pool->pending_inbound_asset) {
    return InternalError({}, sdk::StrCat("pending asset accounting error: LP pending ",
                                         provider->pending_asset.ToString(), " > pool pending ",
                                         pool->pending_inbound_asset.ToString()));
  }
  pool->pending_inbound_rune -= provider->pending_rune;
  pool->pending_inbound_asset -= provider->pending_asset;
  provider->pending_rune = Uint();
  provider->pending_asset = Uint();
  provider->pending_tx_id = TxID();
  return {};
}

Result<Uint> NewUnits(const Pool& pool, bool is_vault, const Uint& rune, const Uint& amount) {
  Uint units;
  if (is_vault) {
    if (pool.balance_asset.IsZero() && !PoolUnits(pool).IsZero()) {
      return Error::New("cannot add liquidity: pool has non-zero units with zero asset balance");
    }
    units = CalcAddedVaultUnits(pool, amount).added;
  } else {
    const Result<AddedUnits> added = CalcAddedUnits(pool, rune, amount);
    if (!added.ok()) return InternalError(added.error(), "fail to calculate pool unit");
    units = added->added;
  }
  if (units.IsZero() && (!rune.IsZero() || !amount.IsZero())) {
    return InternalError({}, "liquidity units cannot be zero when deposit amounts are non-zero");
  }
  return units;
}

void AddDepositValue(const Pool& pool, const Uint& units, LiquidityProvider* provider) {
  const Uint total = PoolUnits(pool);
  // A position from before values were kept gets that of all its units.
  const bool is_first =
      provider->asset_deposit_value.IsZero() && provider->rune_deposit_value.IsZero();
  const Uint& counted = is_first ? provider->units : units;
  provider->rune_deposit_value += GetSafeShare(counted, total, pool.balance_rune);
  provider->asset_deposit_value += GetSafeShare(counted, total, pool.balance_asset);
}

Error AddLiquidity(const Keeper& k, const Context& ctx, Addition addition) {
  if (addition.asset.IsSecured()) KEEPER_RETURN_IF_ERROR(RedeemSecured(k, ctx, &addition));
  if (Error error = CheckAddition(k, ctx, addition); error) {
    return Error::Opaque("add liquidity message fail validation", error);
  }
  const bool is_vault = addition.asset.IsSynthetic();
  Result<Pool> read = GetPool(k, ctx, addition.asset);
  if (!read.ok()) {
    return InternalError(read.error(),
                         sdk::StrCat("fail to get pool(", addition.asset.ToString(), ")"));
  }
  Pool& pool = *read;
  const Uint synth_supply = GetTotalSupply(k, ctx, pool.asset.GetSyntheticAsset());
  const Uint original_units = CalcUnits(&pool, synth_supply);

  Result<LiquidityProvider> read_provider = GetLiquidityProvider(
      k, ctx, addition.asset,
      addition.rune_address.IsEmpty() ? addition.asset_address : addition.rune_address);
  if (!read_provider.ok()) {
    return InternalError(read_provider.error(), "fail to get liquidity provider");
  }
  LiquidityProvider& provider = *read_provider;
  provider.last_add_height = ctx.height();
  KEEPER_RETURN_IF_ERROR(MatchAddresses(addition, &provider));

  TxID rune_tx = addition.tx_id;
  TxID asset_tx = addition.tx_id;
  (addition.rune.IsZero() ? rune_tx : asset_tx) = provider.pending_tx_id;
  Uint rune = provider.pending_rune + addition.rune;
  const Uint amount = provider.pending_asset + addition.amount;
  if (addition.stage && amount.IsZero()) {
    return KeepPending(k, ctx, addition, std::move(provider), std::move(pool), true);
  }
  if (addition.stage && rune.IsZero()) {
    return KeepPending(k, ctx, addition, std::move(provider), std::move(pool), false);
  }
  KEEPER_RETURN_IF_ERROR(TakePending(&provider, &pool));

  if (is_vault) rune = Uint();
  KEEPER_ASSIGN_OR_RETURN(const Uint units, NewUnits(pool, is_vault, rune, amount));
  pool.balance_rune += rune;
  pool.balance_asset += amount;
  pool.lp_units += units;
  if ((pool.balance_rune.IsZero() && !is_vault) || pool.balance_asset.IsZero()) {
    return InternalError({}, "pool cannot have zero rune or asset balance");
  }
  CalcUnits(&pool, synth_supply);
  if (Error error = SetPool(k, ctx, pool); error) {
    return InternalError(error, "fail to save pool");
  }
  if (original_units.IsZero() && !PoolUnits(pool).IsZero()) {
    EmitPoolEvent(ctx, pool.asset, pool.status);
  }
  provider.units += units;
  if (IsAvailable(pool)) AddDepositValue(pool, units, &provider);
  SetLiquidityProvider(k, ctx, provider);
  EmitAddLiquidityEvent(ctx,
                        {.pool = addition.asset,
                         .rune_address = provider.rune_address,
                         .asset_address = provider.asset_address,
                         .rune = rune,
                         .asset = amount,
                         .rune_tx = rune_tx,
                         .asset_tx = asset_tx},
                        units);
  if (provider.rune_address == PolAddress(k)) {
    KEEPER_ASSIGN_OR_RETURN(ProtocolOwnedLiquidity pol, GetPol(k, ctx));
    pol.rune_deposited += rune;
    SetPol(k, ctx, pol);
  }
  return {};
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgAddLiquidity& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.asset.IsEmpty()) return UnknownRequest("add liquidity asset cannot be empty");
  if (absl::Status status = m.tx.Valid(); !status.ok())
    return UnknownRequest(std::string(status.message()));
  if (m.asset.IsRune()) return UnknownRequest("asset cannot be rune");
  if (m.tx.coins.size() == 2 && (m.asset_amount.IsZero() || m.rune_amount.IsZero())) {
    return UnknownRequest("did not find both coins");
  }
  if (m.tx.coins.size() > 2) {
    return UnknownRequest("not expecting more than two coins in adding liquidity");
  }
  if (m.rune_address.IsEmpty() && m.asset_address.IsEmpty()) {
    return UnknownRequest("rune address and asset address cannot be empty");
  }
  if (m.affiliate_address.IsEmpty() && !m.affiliate_basis_points.IsZero()) {
    return UnknownRequest("affiliate address is empty while affiliate basis points is non-zero");
  }
  if (m.affiliate_basis_points > Uint(kMaxAffiliateFee)) {
    return UnknownRequest("affiliate fee basis points can't be more than 1000");
  }
  if (m.asset.IsSecured()) {
    if (m.asset_address.IsEmpty()) return UnknownRequest("asset address cannot be empty");
    if (m.rune_address.IsEmpty()) return UnknownRequest("rune address cannot be empty");
    if (!m.asset_address.IsChain(chains::kTHOR)) {
      return UnknownRequest("asset address must be thor address");
    }
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgAddLiquidity& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  if (NeedsSwap(message)) return SwapFirst(mgr, ctx, message);
  KEEPER_RETURN_IF_ERROR(PreparePool(k, ctx, message));

  Addition user;
  user.asset = message.asset;
  user.rune_address = message.rune_address;
  user.asset_address = message.asset_address;
  user.tx_id = message.tx.id;
  user.stage = !message.asset.IsSynthetic() && !message.tx.id.IsBlank() &&
               ((!message.asset_address.IsEmpty() && message.asset_amount.IsZero()) ||
                (!message.rune_address.IsEmpty() && message.rune_amount.IsZero()));
  if (message.affiliate_basis_points.IsZero()) {
    user.rune = message.rune_amount;
    user.amount = message.asset_amount;
    return AddLiquidity(k, ctx, std::move(user));
  }

  Addition affiliate;
  affiliate.asset = message.asset;
  affiliate.rune =
      GetSafeShare(message.affiliate_basis_points, Uint(kMaxBasisPoints), message.rune_amount);
  affiliate.amount =
      GetSafeShare(message.affiliate_basis_points, Uint(kMaxBasisPoints), message.asset_amount);
  affiliate.tx_id = message.tx.id;
  (message.affiliate_address.IsChain(chains::kTHOR) ? affiliate.rune_address
                                                    : affiliate.asset_address) =
      message.affiliate_address;
  user.rune = SafeSub(message.rune_amount, affiliate.rune);
  user.amount = SafeSub(message.asset_amount, affiliate.amount);
  KEEPER_RETURN_IF_ERROR(AddLiquidity(k, ctx, std::move(user)));
  return AddLiquidity(k, ctx, std::move(affiliate));
}

}  // namespace blockreplay::keeper::thorchain
