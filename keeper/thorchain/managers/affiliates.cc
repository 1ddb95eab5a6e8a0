#include "keeper/thorchain/managers/affiliates.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/memo_to_message.h"
#include "keeper/thorchain/managers/gas.h"
#include "keeper/thorchain/managers/swap_queue.h"
#include "keeper/thorchain/state/adv_swap_queue.h"
#include "keeper/thorchain/state/affiliate_collectors.h"
#include "keeper/thorchain/state/funds.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/observed_txs.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/swap_queue.h"
#include "keeper/thorchain/state/thornames.h"

namespace blockreplay::keeper::thorchain {
namespace {

// It has an owner, and an address for what it is paid in.
bool CanReceiveFees(const THORName& name) {
  if (name.owner.IsEmpty()) return false;
  const Chain& chain =
      name.preferred_asset.IsEmpty() ? chains::kTHOR : name.preferred_asset.GetChain();
  return !GetAlias(name, chain).IsEmpty();
}

// Who is paid: an account, by name or by its address.
struct Affiliate {
  AccAddress account;
  std::optional<THORName> name;

  bool CollectsForPreferredAsset() const { return name && !name->preferred_asset.IsEmpty(); }
};

std::optional<Affiliate> ResolveAffiliate(const Keeper& k, const Context& ctx,
                                          const std::string& text) {
  Affiliate affiliate;
  Address address;
  if (THORNameExists(k, ctx, text)) {
    Result<THORName> name = GetTHORName(k, ctx, text);
    if (!name.ok() || !CanReceiveFees(*name)) return std::nullopt;
    affiliate.name = *std::move(name);
    address = GetAlias(*affiliate.name, chains::kTHOR);
    if (address.IsEmpty()) {
      affiliate.account = affiliate.name->owner;
      return affiliate;
    }
  } else {
    absl::StatusOr<Address> parsed = Address::Parse(text, k.network());
    if (!parsed.ok() || !parsed->GetChain().IsTHORChain()) return std::nullopt;
    address = *std::move(parsed);
  }
  absl::StatusOr<AccAddress> account = address.ToAccAddress(k.network());
  if (!account.ok()) return std::nullopt;
  affiliate.account = *std::move(account);
  return affiliate;
}

// Distributes the fees of one coin, one affiliate after the other. What an affiliate that fails has
// caused so far stays, as in the node.
class FeeDistribution {
 public:
  FeeDistribution(Managers& mgr, const Context& ctx, const Tx& tx, const AccAddress& signer,
                  const Coin& coin)
      : mgr_(mgr), k_(*mgr.keeper), ctx_(ctx), tx_(tx), signer_(signer), coin_(coin) {}

  // Returns what the affiliate took.
  Uint Pay(const std::string& text, const Uint& basis_points) {
    const std::optional<Affiliate> affiliate = ResolveAffiliate(k_, ctx_, text);
    if (!affiliate || basis_points.IsZero()) return Uint();
    const Uint amount = GetSafeShare(basis_points, Uint(kMaxBasisPoints), coin_.amount);
    if (Send(*affiliate, Coin(coin_.asset, amount))) return Uint();
    events_.push_back(
        sdk::Event("affiliate_fee", {{"tx_id", tx_.id.ToString()},
                                     {"memo", tx_.memo},
                                     {"thorname", affiliate->name ? affiliate->name->name : ""},
                                     {"rune_address", ToText(k_, affiliate->account)},
                                     {"asset", coin_.asset.ToString()},
                                     {"gross_amount", coin_.amount.ToString()},
                                     {"fee_bps", std::to_string(basis_points.ToUint64())},
                                     {"fee_amount", amount.ToString()}}));
    return amount;
  }

  void EmitEvents() { ctx_.events().Emit(std::move(events_)); }

 private:
  Error Send(const Affiliate& affiliate, const Coin& fee) {
    if (!fee.IsRune()) return SwapToRune(affiliate, fee.amount);
    if (affiliate.CollectsForPreferredAsset()) return Collect(*affiliate.name, fee);
    return SendFromModuleToAccount(k_, ctx_, kAsgardModule, affiliate.account, {fee});
  }

  Error Collect(const THORName& name, const Coin& fee) {
    KEEPER_ASSIGN_OR_RETURN(AffiliateFeeCollector collector,
                            GetAffiliateCollector(k_, ctx_, name.owner));
    KEEPER_RETURN_IF_ERROR(
        SendFromModuleToModule(k_, ctx_, kAsgardModule, kAffiliateCollectorModule, {fee}));
    collector.rune_amount += fee.amount;
    SetAffiliateCollector(k_, ctx_, collector);
    SwapToPreferredAssetIfEnough(name, collector);
    return {};
  }

  Error SwapToRune(const Affiliate& affiliate, const Uint& amount) {
    const Address address{ToText(k_, affiliate.account)};
    Tx tx = tx_;
    Coin& source = tx.coins.front();
    if (source.amount >= amount) source.amount = amount;
    // Secured and trade assets belong to an account of THORChain.
    if ((source.asset.IsSecured() || source.asset.IsTrade()) &&
        !tx.from_address.GetChain().IsTHORChain()) {
      tx.from_address = ModuleAddress(k_, kAsgardModule);
    }
    tx.memo = sdk::StrCat("=:", assets::kRune.ToString(), ":", address.ToString(),
                          ":0:", affiliate.name ? affiliate.name->name : address.ToString(), ":0");
    MsgSwap swap = MakeMarketSwap(k_, ctx_, tx, assets::kRune, address, {.quantity = 1}, signer_);
    if (!WillSwapExceedLimitAndFees(k_, ctx_, swap)) {
      return Error::New("swap will not succeed, skipping affiliate swap");
    }
    if (affiliate.CollectsForPreferredAsset() && !affiliate.name->owner.IsEmpty()) {
      KEEPER_ASSIGN_OR_RETURN(const AffiliateFeeCollector collector,
                              GetAffiliateCollector(k_, ctx_, affiliate.name->owner));
      swap.destination = ModuleAddress(k_, kAffiliateCollectorModule);
      swap.affiliate_address = address;
      SwapToPreferredAssetIfEnough(*affiliate.name, collector);
    }
    ++swap_index_;
    if (!IsAdvSwapQueueEnabled(k_, ctx_)) {
      SetSwapQueueItem(k_, ctx_, swap, swap_index_);
      return {};
    }
    swap.index = static_cast<uint32_t>(swap_index_);
    return AddAdvSwapQueueItem(mgr_, ctx_, &swap);
  }

  // Where the outbound would cost little of what has been collected.
  void SwapToPreferredAssetIfEnough(const THORName& name, const AffiliateFeeCollector& collector) {
    const Result<Uint> fee = GetAssetOutboundFee(k_, ctx_, name.preferred_asset, true);
    int64_t multiplier =
        GetConfigInt64(k_, ctx_, ConstantName::kPreferredAssetOutboundFeeMultiplier);
    if (name.preferred_asset_outbound_fee_multiplier >= 1) {
      multiplier = name.preferred_asset_outbound_fee_multiplier;
    }
    if (!fee.ok()) return;
    const uint64_t factor = multiplier < 1 ? 1 : static_cast<uint64_t>(multiplier);
    if (collector.rune_amount <= *fee * Uint(factor)) return;
    ++swap_index_;
    // The affiliate is paid either way.
    static_cast<void>(SwapToPreferredAsset(name, collector));
  }

  Error SwapToPreferredAsset(const THORName& name, AffiliateFeeCollector collector) {
    const Address destination = GetAlias(name, name.preferred_asset.GetChain());
    if (destination == Address()) {
      return Error::New("no alias for preferred asset, skip preferred asset swap");
    }
    if (collector.rune_amount.IsZero()) {
      return Error::New("can't execute preferred asset swap, accrued RUNE amount is zero");
    }
    if (collector.rune_amount > GetRuneBalanceOfModule(k_, ctx_, kAffiliateCollectorModule)) {
      return Error::New("rune amount greater than module balance");
    }
    const Coin coin(assets::kRune, collector.rune_amount);
    // A hash of its own, so that it isn't taken for an outbound of the swap that caused it.
    const std::string id =
        UpperHex(Sha256(sdk::StrCat(name.name, "|", coin.ToString(), "|", ctx_.height())));
    KEEPER_ASSIGN_OR_RETURN(const ObservedTxVoter existing,
                            GetObservedTxInVoter(k_, ctx_, TxID(id)));
    if (!existing.txs.empty()) return Error::New("preferred asset tx already exists");

    const Tx tx = Tx::Make(TxID(id), ModuleAddress(k_, kAffiliateCollectorModule),
                           ModuleAddress(k_, kAsgardModule), Coins{coin}, Gas(),
                           sdk::StrCat("THOR-PREFERRED-ASSET-", name.name));
    MsgSwap swap = MakeMarketSwap(k_, ctx_, tx, name.preferred_asset, destination, {.quantity = 1},
                                  name.owner);
    ObservedTxVoter voter;
    voter.tx_id = tx.id;
    voter.txs.emplace_back().tx = tx;
    voter.tx = voter.txs.front();
    voter.height = ctx_.height();
    voter.finalised_height = ctx_.height();
    SetObservedTxInVoter(k_, ctx_, voter);

    if (IsAdvSwapQueueEnabled(k_, ctx_)) {
      KEEPER_RETURN_IF_ERROR(AddAdvSwapQueueItem(mgr_, ctx_, &swap));
    } else {
      SetSwapQueueItem(k_, ctx_, swap, swap_index_);
    }
    KEEPER_RETURN_IF_ERROR(
        SendFromModuleToModule(k_, ctx_, kAffiliateCollectorModule, kAsgardModule, {coin}));
    collector.rune_amount = Uint();
    SetAffiliateCollector(k_, ctx_, collector);
    return {};
  }

  Managers& mgr_;
  const Keeper& k_;
  const Context& ctx_;
  const Tx& tx_;
  const AccAddress& signer_;
  const Coin& coin_;
  // Distinguishes the swaps of one transaction; the user's own comes first.
  int64_t swap_index_ = 1;
  sdk::Events events_;
};

}  // namespace

Result<Uint> SkimAffiliateFees(Managers& mgr, const Context& ctx, const Tx& tx,
                               const AccAddress& signer, const Coin& coin, std::string_view memo) {
  if (tx.IsEmpty()) return Error::New("main tx is empty");
  if (coin.IsEmpty()) return Error::New("coin is empty");
  const MemoResult parsed = ParseMemoWithNames(*mgr.keeper, ctx, memo);
  if (!parsed.ok()) return Error::New(std::string(parsed.status.message()));
  const SwapMemo* swap = parsed.memo.As<SwapMemo>();
  if (swap == nullptr || swap->affiliates.empty() || swap->affiliates_basis_points.empty()) {
    return Uint();
  }
  FeeDistribution distribution(mgr, ctx, tx, signer, coin);
  Uint total;
  for (size_t i = 0; i < swap->affiliates.size(); ++i) {
    total += distribution.Pay(swap->affiliates[i], swap->affiliates_basis_points.at(i));
  }
  distribution.EmitEvents();
  return total;
}

}  // namespace blockreplay::keeper::thorchain
