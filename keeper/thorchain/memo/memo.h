#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "keeper/thorchain/common/acc_address.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/asset.h"
#include "keeper/thorchain/common/coin.h"
#include "keeper/thorchain/common/network.h"
#include "keeper/thorchain/common/tx.h"
#include "keeper/thorchain/common/uint.h"
#include "keeper/thorchain/constants/constants.h"
#include "keeper/thorchain/records.h"

namespace blockreplay::keeper::thorchain {

// What a memo asks for. The order is the node's.
enum class TxType : uint8_t {
  kUnknown,
  kAdd,
  kWithdraw,
  kSwap,
  kLimitSwap,
  kModifyLimitSwap,
  kOutbound,
  kDonate,
  kBond,
  kUnbond,
  kLeave,
  kReserve,
  kRefund,
  kMigrate,
  kRagnarok,
  kNoOp,
  kConsolidate,
  kTHORName,
  kTradeAccountDeposit,
  kTradeAccountWithdrawal,
  kSecuredAssetDeposit,
  kSecuredAssetWithdraw,
  kRunePoolDeposit,
  kRunePoolWithdraw,
  kExec,
  kSwitch,
  kReferenceWriteMemo,
  kReferenceReadMemo,
  kTCYClaim,
  kTCYStake,
  kTCYUnstake,
  kMaint,
  kRebond,
  kOperatorRotate,
};

// The first word of a memo in any case, or its short form. The status message is the node's.
absl::StatusOr<TxType> ParseTxType(std::string_view word);
// The word the node writes for it; empty for the few it has none for.
std::string_view ToString(TxType type);

bool IsInbound(TxType type);
bool IsOutbound(TxType type);
bool IsInternal(TxType type);
// Outbounds that may come without a memo.
bool IsOutboundMemoless(TxType type);
// Whether it may lead to an outbound.
bool HasOutbound(TxType type);

struct AddLiquidityMemo {
  Address address;
  Address affiliate_address;
  Uint affiliate_basis_points;
};

struct WithdrawLiquidityMemo {
  Uint basis_points;
  Asset withdrawal_asset;
};

// Market and limit swaps; both have the type kSwap once parsed.
struct SwapMemo {
  Address destination;
  Address refund_address;
  // Least amount to emit; zero for no limit.
  Uint slip_limit;
  SwapType swap_type = SwapType::market;
  uint64_t stream_interval = 0;
  uint64_t stream_quantity = 0;
  // Names or addresses, and the fee of each.
  std::vector<std::string> affiliates;
  std::vector<Uint> affiliates_basis_points;
  // The first affiliate's address, and the sum of all fees.
  Address affiliate_address;
  Uint affiliate_basis_points;
  // Set if there is one affiliate and it is a name with an owner.
  std::optional<THORName> affiliate_name;
  std::string dex_aggregator;
  std::string dex_target_address;
  std::optional<Uint> dex_target_limit;
};

struct ModifyLimitSwapMemo {
  Coin source;
  Coin target;
  Uint modified_target_amount;
};

struct OutboundMemo {
  TxID tx_id;
};

struct RefundMemo {
  TxID tx_id;
};

struct DonateMemo {};

struct BondMemo {
  AccAddress node_address;
  AccAddress bond_provider_address;
  // -1 if not given.
  int64_t node_operator_fee = -1;
};

struct UnbondMemo {
  AccAddress node_address;
  Uint amount;
  AccAddress bond_provider_address;
};

struct RebondMemo {
  AccAddress node_address;
  AccAddress new_bond_provider_address;
  // Zero: all of it.
  Uint amount;
};

struct LeaveMemo {
  AccAddress node_address;
};

struct MaintMemo {
  AccAddress node_address;
};

struct OperatorRotateMemo {
  AccAddress operator_address;
};

struct ReserveMemo {};

struct MigrateMemo {
  int64_t block_height = 0;
};

struct RagnarokMemo {
  int64_t block_height = 0;
};

struct NoOpMemo {
  std::string action;
};

struct ConsolidateMemo {};

struct ManageTHORNameMemo {
  std::string name;
  Chain chain;
  Address address;
  Asset preferred_asset;
  int64_t expire = 0;
  AccAddress owner;
  // -1 if not given.
  int64_t preferred_asset_outbound_fee_multiplier = -1;
};

struct TradeAccountDepositMemo {
  AccAddress address;
};

struct TradeAccountWithdrawalMemo {
  Address address;
};

struct SecuredAssetDepositMemo {
  AccAddress address;
};

struct SecuredAssetWithdrawMemo {
  Address address;
};

struct RunePoolDepositMemo {};

struct RunePoolWithdrawMemo {
  Uint basis_points;
  Address affiliate_address;
  Uint affiliate_basis_points;
  std::optional<THORName> affiliate_name;
};

struct ExecMemo {
  AccAddress contract_address;
  std::string message;
};

struct SwitchMemo {
  AccAddress address;
};

// Registers `memo` under a number for transfers of the memo's asset.
struct ReferenceWriteMemo {
  std::string memo;
};

struct ReferenceReadMemo {
  std::string reference;

  // "r:<reference>".
  std::string CreateMemo() const { return "r:" + reference; }
};

struct TCYClaimMemo {
  Address address;
};

struct TCYStakeMemo {};

struct TCYUnstakeMemo {
  Uint basis_points;
};

// A parsed memo, or an empty one (kUnknown, without details).
struct Memo {
  using Details =
      std::variant<std::monostate, AddLiquidityMemo, WithdrawLiquidityMemo, SwapMemo,
                   ModifyLimitSwapMemo, OutboundMemo, RefundMemo, DonateMemo, BondMemo, UnbondMemo,
                   RebondMemo, LeaveMemo, MaintMemo, OperatorRotateMemo, ReserveMemo, MigrateMemo,
                   RagnarokMemo, NoOpMemo, ConsolidateMemo, ManageTHORNameMemo,
                   TradeAccountDepositMemo, TradeAccountWithdrawalMemo, SecuredAssetDepositMemo,
                   SecuredAssetWithdrawMemo, RunePoolDepositMemo, RunePoolWithdrawMemo, ExecMemo,
                   SwitchMemo, ReferenceWriteMemo, ReferenceReadMemo, TCYClaimMemo, TCYStakeMemo,
                   TCYUnstakeMemo>;

  TxType type = TxType::kUnknown;
  // The asset of an add, withdraw, swap, donate or reference memo.
  Asset asset;
  Details details;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&details);
  }
  template <typename T>
  T* As() {
    return std::get_if<T>(&details);
  }

  bool IsEmpty() const { return type == TxType::kUnknown; }
  bool IsInbound() const { return thorchain::IsInbound(type); }
  bool IsOutbound() const { return thorchain::IsOutbound(type); }
  bool IsInternal() const { return thorchain::IsInternal(type); }

  // What callers ask of any memo; empty where its kind has none.
  Address GetDestination() const;
  Address GetRefundAddress() const;
  Uint GetAmount() const;
  Uint GetSlipLimit() const;
  TxID GetTxID() const;
  int64_t GetBlockHeight() const;
  AccAddress GetAccAddress() const;
  std::string_view GetDexAggregator() const;
  std::string_view GetDexTargetAddress() const;
  std::optional<Uint> GetDexTargetLimit() const;

  // The memo as the node writes it; empty for kinds that it never writes.
  std::string ToString(const Network& network) const;
  // Of swaps: with the asset's short code where it has one.
  std::string ToShortString(const Network& network) const;
};

// Memos that the node makes itself.
std::string OutboundMemoText(const TxID& in_hash);
std::string RefundMemoText(const TxID& in_hash);
std::string MigrateMemoText(int64_t block_height);
std::string RagnarokMemoText(int64_t block_height);

// What parsing needs of the state. Each call reads the store as the method of that name of the
// node's keeper does, and is made at the same place in the same order, so that gas is the same.
// Panics pass through.
class MemoContext {
 public:
  virtual ~MemoContext() = default;

  virtual bool THORNameExists(std::string_view name) = 0;
  virtual absl::StatusOr<THORName> GetTHORName(std::string_view name) = 0;
  virtual int64_t GetConfigInt64(ConstantName name) = 0;
};

struct MemoResult {
  // Also if the status is an error: what had been understood, which callers that ignore the error
  // look at.
  Memo memo;
  // The message is the node's error text; it reaches logs and the reason of refunds.
  absl::Status status;

  bool ok() const { return status.ok(); }
};

// The node's ParseMemoWithTHORNames: names are looked up, and errors collected.
MemoResult ParseMemo(std::string_view memo, MemoContext& context, const Network& network);
// The node's ParseMemo, which has no state: swaps and adds by their oldest rules, addresses only.
MemoResult ParseMemoWithoutState(std::string_view memo, const Network& network);

// The node's FetchAddress: an address as it is, else the alias of a name, `name` or `name.chain`.
absl::StatusOr<Address> FetchAddress(MemoContext& context, std::string_view name,
                                     const Chain& chain, const Network& network);

}  // namespace blockreplay::keeper::thorchain
