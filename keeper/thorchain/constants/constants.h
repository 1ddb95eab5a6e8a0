#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// The names of THORNode 3.17.0's constants, in its order. Upper-cased they are mimir keys.
enum class ConstantName : uint8_t {
  kEmissionCurve,
  kMaxRuneSupply,
  kBlocksPerYear,
  kOutboundTransactionFee,
  kNativeTransactionFee,
  kPoolCycle,
  kMinRunePoolDepth,
  kMaxAvailablePools,
  kStagedPoolCost,
  kPendingLiquidityAgeLimit,
  kMinimumNodesForBFT,
  kDesiredValidatorSet,
  kAsgardSize,
  kDerivedDepthBasisPts,
  kDerivedMinDepth,
  kMaxAnchorSlip,
  kMaxAnchorBlocks,
  kDynamicMaxAnchorSlipBlocks,
  kDynamicMaxAnchorTarget,
  kDynamicMaxAnchorCalcInterval,
  kChurnInterval,
  kChurnRetryInterval,
  kMissingBlockChurnOut,
  kMaxMissingBlockChurnOut,
  kMaxTrackMissingBlock,
  kBadValidatorRedline,
  kLackOfObservationPenalty,
  kSigningTransactionPeriod,
  kDoubleSignMaxAge,
  kPauseBond,
  kPauseUnbond,
  kMinimumBondInRune,
  kFundMigrationInterval,
  kMaxOutboundAttempts,
  kSlashPenalty,
  kPauseOnSlashThreshold,
  kFailKeygenSlashPoints,
  kFailKeysignSlashPoints,
  kLiquidityLockUpBlocks,
  kObserveSlashPoints,
  kDoubleBlockSignSlashPoints,
  kMissBlockSignSlashPoints,
  kObservationDelayFlexibility,
  kJailTimeKeygen,
  kJailTimeKeysign,
  kNodePauseChainBlocks,
  kEnableDerivedAssets,
  kMinSwapsPerBlock,
  kMaxSwapsPerBlock,
  kEnableOrderBooks,
  kEnableAdvSwapQueue,
  kAdvSwapQueueRapidSwapMax,
  kMaxSynthPerPoolDepth,
  kMaxSynthsForSaversYield,
  kVirtualMultSynths,
  kVirtualMultSynthsBasisPoints,
  kMinSlashPointsForBadValidator,
  kMaxBondProviders,
  kMinTxOutVolumeThreshold,
  kTxOutDelayRate,
  kTxOutDelayMax,
  kMaxTxOutOffset,
  kTNSRegisterFee,
  kTNSFeeOnSale,
  kTNSFeePerBlock,
  kStreamingSwapPause,
  kStreamingSwapMinBPFee,
  kStreamingSwapMaxLength,
  kStreamingSwapMaxLengthNative,
  kStreamingLimitSwapMaxAge,
  kMinCR,
  kMaxCR,
  kLendingLever,
  kPermittedSolvencyGap,
  kPermittedSolvencyGapUSD,
  kNodeOperatorFee,
  kValidatorMaxRewardRatio,
  kMaxNodeToChurnOutForLowVersion,
  kChurnOutForLowVersionBlocks,
  kPOLMaxNetworkDeposit,
  kPOLMaxPoolMovement,
  kPOLTargetSynthPerPoolDepth,
  kPOLBuffer,
  kRagnarokProcessNumOfLPPerIteration,
  kSynthYieldBasisPoints,
  kSynthYieldCycle,
  kMinimumL1OutboundFeeUSD,
  kMinimumPoolLiquidityFee,
  kChurnMigrateRounds,
  kAllowWideBlame,
  kMaxAffiliateFeeBasisPoints,
  kTargetOutboundFeeSurplusRune,
  kMaxOutboundFeeMultiplierBasisPoints,
  kMinOutboundFeeMultiplierBasisPoints,
  kNativeOutboundFeeUSD,
  kNativeTransactionFeeUSD,
  kTNSRegisterFeeUSD,
  kTNSFeePerBlockUSD,
  kEnableUSDFees,
  kPreferredAssetOutboundFeeMultiplier,
  kFeeUSDRoundSignificantDigits,
  kMigrationVaultSecurityBps,
  kCloutReset,
  kCloutLimit,
  kKeygenRetryInterval,
  kSaversStreamingSwapsInterval,
  kRescheduleCoalesceBlocks,
  kL1SlipMinBps,
  kSynthSlipMinBps,
  kTradeAccountsSlipMinBps,
  kDerivedSlipMinBps,
  kSlipMinBpsMax,
  kTradeAccountsEnabled,
  kTradeAccountsDepositEnabled,
  kSecuredAssetSlipMinBps,
  kStableSlipMinBps,
  kEVMDisableContractWhitelist,
  kOperationalVotesMin,
  kRUNEPoolEnabled,
  kRUNEPoolDepositMaturityBlocks,
  kRUNEPoolMaxReserveBackstop,
  kSaversEjectInterval,
  kSystemIncomeBurnRateBps,
  kDevFundSystemIncomeBps,
  kDevFundAddress,
  kPendulumAssetsBasisPoints,
  kPendulumUseEffectiveSecurity,
  kPendulumUseVaultAssets,
  kTVLCapBasisPoints,
  kMultipleAffiliatesMaxCount,
  kBondSlashBan,
  kBankSendEnabled,
  kRUNEPoolHaltDeposit,
  kRUNEPoolHaltWithdraw,
  kMinRuneForTCYStakeDistribution,
  kMinTCYForTCYStakeDistribution,
  kTCYStakeSystemIncomeBps,
  kTCYClaimingSwapHalt,
  kTCYStakeDistributionHalt,
  kTCYStakingHalt,
  kTCYUnstakingHalt,
  kTCYClaimingHalt,
  kHaltRebond,
  kHaltOperatorRotate,
  kHaltMemoless,
  kRequiredPriceFeeds,
  kHaltOracle,
  kOracleUpdateInterval,
  kReserveMaxCap,
  kMarketingFundSystemIncomeBps,
  kMarketingFundAddress,
  kOverSolvencyToTreasuryBps,
  kOverSolvencyCheckInterval,
  kOverSolvencyAddress,
  kMaxDepositTxIDRetries,
  kMaxRetiredVaultRecoveryAttempts,
  kModifyLimitSwapMaxIterations,
  kArtificialRagnarokBlockHeight,
  kBondLockupPeriod,
  kBurnSynths,
  kDefaultPoolStatus,
  kEnableMemolessOutbound,
  kManualSwapsToSynthDisabled,
  kMaximumLiquidityRune,
  kMintSynths,
  kNumberOfNewNodesPerChurn,
  kSignerConcurrency,
  kMemolessTxnTTL,
  kMemolessTxnRefCount,
  kMemolessTxnCost,
  kMemolessTxnMaxUse,
  kStrictBondLiquidityRatio,
  kSwapOutDexAggregationDisabled,
  kP2PGateDisabled,
};

inline constexpr size_t kConstantCount = 174;

// "EmissionCurve" for kEmissionCurve.
std::string_view ToString(ConstantName name);
// By its exact name.
std::optional<ConstantName> GetConstantByName(std::string_view name);

// Environment variables of a node, which its mocknet build reads constants and mimirs from.
using Environment = std::map<std::string, std::string, std::less<>>;

// The values of all constants for one kind of build. A constant without a value is 0, false or "".
// Copies share nothing; a set never changes.
class ConstantSet {
 public:
  // The build without tags, and the one with `mocknet`, 3.17.0 both.
  static const ConstantSet& MainNet();
  static const ConstantSet& MockNet();

  // The mocknet build under an environment: a variable named CamelToSnakeUpper(constant) replaces
  // the value of a constant that has one; what is no number or truth value counts as 0 or false.
  static ConstantSet MockNetWith(const Environment& environment);

  int64_t GetInt64(ConstantName name) const { return int64_[static_cast<size_t>(name)]; }
  bool GetBool(ConstantName name) const { return bool_[static_cast<size_t>(name)]; }
  const std::string& GetString(ConstantName name) const { return text_[static_cast<size_t>(name)]; }

  // What the mocknet build finds for a mimir key that isn't set: the variable named
  // CamelToSnakeUpper(key) with `-` as `_`. Nothing for other builds, or if there is none.
  struct MimirFallback {
    int64_t value = 0;
    bool is_number = false;  // if not, reading that mimir is an error
  };
  std::optional<MimirFallback> GetMimirFallback(std::string_view key) const;

 private:
  friend struct ConstantSetBuilder;

  ConstantSet() = default;

  std::array<int64_t, kConstantCount> int64_{};
  std::array<bool, kConstantCount> bool_{};
  std::array<std::string, kConstantCount> text_;
  Environment environment_;
};

// "PoolCycle" as "POOL_CYCLE", "L1SlipMinBps" as "L1_SLIP_MIN_BPS".
std::string CamelToSnakeUpper(std::string_view text);

inline constexpr size_t kMaxMemoSize = 250;
inline constexpr size_t kMaxDepositSaltSize = 64;
inline constexpr int64_t kVolumeBucketSeconds = 900;
inline constexpr uint64_t kDollarMulti = 1'000'000'000;
inline constexpr int64_t kStreamingSwapMinBPFeeMulti = 100;
inline constexpr size_t kMaxOpReturnDataSize = 80;
inline constexpr size_t kMaxMemoSizeUtxoExtended = kMaxOpReturnDataSize - 1 + 8 * 20;
inline constexpr size_t kMaxMimirLength = 128;
// Most gas of one transaction on an EVM chain.
inline constexpr int64_t kMaxEvmGas = 50'000'000;
inline constexpr int64_t kMaxAvaxGas = 10'000'000'000;

}  // namespace blockreplay::keeper::thorchain
