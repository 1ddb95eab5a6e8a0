#include "keeper/thorchain/constants/constants.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <variant>

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::array<std::string_view, kConstantCount> kNames{
    "EmissionCurve",
    "MaxRuneSupply",
    "BlocksPerYear",
    "OutboundTransactionFee",
    "NativeTransactionFee",
    "PoolCycle",
    "MinRunePoolDepth",
    "MaxAvailablePools",
    "StagedPoolCost",
    "PendingLiquidityAgeLimit",
    "MinimumNodesForBFT",
    "DesiredValidatorSet",
    "AsgardSize",
    "DerivedDepthBasisPts",
    "DerivedMinDepth",
    "MaxAnchorSlip",
    "MaxAnchorBlocks",
    "DynamicMaxAnchorSlipBlocks",
    "DynamicMaxAnchorTarget",
    "DynamicMaxAnchorCalcInterval",
    "ChurnInterval",
    "ChurnRetryInterval",
    "MissingBlockChurnOut",
    "MaxMissingBlockChurnOut",
    "MaxTrackMissingBlock",
    "BadValidatorRedline",
    "LackOfObservationPenalty",
    "SigningTransactionPeriod",
    "DoubleSignMaxAge",
    "PauseBond",
    "PauseUnbond",
    "MinimumBondInRune",
    "FundMigrationInterval",
    "MaxOutboundAttempts",
    "SlashPenalty",
    "PauseOnSlashThreshold",
    "FailKeygenSlashPoints",
    "FailKeysignSlashPoints",
    "LiquidityLockUpBlocks",
    "ObserveSlashPoints",
    "DoubleBlockSignSlashPoints",
    "MissBlockSignSlashPoints",
    "ObservationDelayFlexibility",
    "JailTimeKeygen",
    "JailTimeKeysign",
    "NodePauseChainBlocks",
    "EnableDerivedAssets",
    "MinSwapsPerBlock",
    "MaxSwapsPerBlock",
    "EnableOrderBooks",
    "EnableAdvSwapQueue",
    "AdvSwapQueueRapidSwapMax",
    "MaxSynthPerPoolDepth",
    "MaxSynthsForSaversYield",
    "VirtualMultSynths",
    "VirtualMultSynthsBasisPoints",
    "MinSlashPointsForBadValidator",
    "MaxBondProviders",
    "MinTxOutVolumeThreshold",
    "TxOutDelayRate",
    "TxOutDelayMax",
    "MaxTxOutOffset",
    "TNSRegisterFee",
    "TNSFeeOnSale",
    "TNSFeePerBlock",
    "StreamingSwapPause",
    "StreamingSwapMinBPFee",
    "StreamingSwapMaxLength",
    "StreamingSwapMaxLengthNative",
    "StreamingLimitSwapMaxAge",
    "MinCR",
    "MaxCR",
    "LendingLever",
    "PermittedSolvencyGap",
    "PermittedSolvencyGapUSD",
    "NodeOperatorFee",
    "ValidatorMaxRewardRatio",
    "MaxNodeToChurnOutForLowVersion",
    "ChurnOutForLowVersionBlocks",
    "POLMaxNetworkDeposit",
    "POLMaxPoolMovement",
    "POLTargetSynthPerPoolDepth",
    "POLBuffer",
    "RagnarokProcessNumOfLPPerIteration",
    "SynthYieldBasisPoints",
    "SynthYieldCycle",
    "MinimumL1OutboundFeeUSD",
    "MinimumPoolLiquidityFee",
    "ChurnMigrateRounds",
    "AllowWideBlame",
    "MaxAffiliateFeeBasisPoints",
    "TargetOutboundFeeSurplusRune",
    "MaxOutboundFeeMultiplierBasisPoints",
    "MinOutboundFeeMultiplierBasisPoints",
    "NativeOutboundFeeUSD",
    "NativeTransactionFeeUSD",
    "TNSRegisterFeeUSD",
    "TNSFeePerBlockUSD",
    "EnableUSDFees",
    "PreferredAssetOutboundFeeMultiplier",
    "FeeUSDRoundSignificantDigits",
    "MigrationVaultSecurityBps",
    "CloutReset",
    "CloutLimit",
    "KeygenRetryInterval",
    "SaversStreamingSwapsInterval",
    "RescheduleCoalesceBlocks",
    "L1SlipMinBps",
    "SynthSlipMinBps",
    "TradeAccountsSlipMinBps",
    "DerivedSlipMinBps",
    "SlipMinBpsMax",
    "TradeAccountsEnabled",
    "TradeAccountsDepositEnabled",
    "SecuredAssetSlipMinBps",
    "StableSlipMinBps",
    "EVMDisableContractWhitelist",
    "OperationalVotesMin",
    "RUNEPoolEnabled",
    "RUNEPoolDepositMaturityBlocks",
    "RUNEPoolMaxReserveBackstop",
    "SaversEjectInterval",
    "SystemIncomeBurnRateBps",
    "DevFundSystemIncomeBps",
    "DevFundAddress",
    "PendulumAssetsBasisPoints",
    "PendulumUseEffectiveSecurity",
    "PendulumUseVaultAssets",
    "TVLCapBasisPoints",
    "MultipleAffiliatesMaxCount",
    "BondSlashBan",
    "BankSendEnabled",
    "RUNEPoolHaltDeposit",
    "RUNEPoolHaltWithdraw",
    "MinRuneForTCYStakeDistribution",
    "MinTCYForTCYStakeDistribution",
    "TCYStakeSystemIncomeBps",
    "TCYClaimingSwapHalt",
    "TCYStakeDistributionHalt",
    "TCYStakingHalt",
    "TCYUnstakingHalt",
    "TCYClaimingHalt",
    "HaltRebond",
    "HaltOperatorRotate",
    "HaltMemoless",
    "RequiredPriceFeeds",
    "HaltOracle",
    "OracleUpdateInterval",
    "ReserveMaxCap",
    "MarketingFundSystemIncomeBps",
    "MarketingFundAddress",
    "OverSolvencyToTreasuryBps",
    "OverSolvencyCheckInterval",
    "OverSolvencyAddress",
    "MaxDepositTxIDRetries",
    "MaxRetiredVaultRecoveryAttempts",
    "ModifyLimitSwapMaxIterations",
    "ArtificialRagnarokBlockHeight",
    "BondLockupPeriod",
    "BurnSynths",
    "DefaultPoolStatus",
    "EnableMemolessOutbound",
    "ManualSwapsToSynthDisabled",
    "MaximumLiquidityRune",
    "MintSynths",
    "NumberOfNewNodesPerChurn",
    "SignerConcurrency",
    "MemolessTxnTTL",
    "MemolessTxnRefCount",
    "MemolessTxnCost",
    "MemolessTxnMaxUse",
    "StrictBondLiquidityRatio",
    "SwapOutDexAggregationDisabled",
    "P2PGateDisabled",
};

using Value = std::variant<int64_t, bool, std::string_view>;

struct Entry {
  ConstantName name;
  Value value;
};

constexpr Value Int(int64_t value) { return value; }
constexpr Value Bool(bool value) { return value; }
constexpr Value Text(std::string_view value) { return value; }

// Amounts in 1e-8 RUNE or USD, times in blocks, ratios in basis points.
constexpr Entry kMainNet[] = {
    {ConstantName::kEmissionCurve, Int(6)},
    {ConstantName::kMaxRuneSupply, Int(-1)},
    {ConstantName::kBlocksPerYear, Int(5'256'000)},
    {ConstantName::kOutboundTransactionFee, Int(2'000'000)},
    {ConstantName::kNativeTransactionFee, Int(2'000'000)},
    {ConstantName::kPoolCycle, Int(43'200)},
    {ConstantName::kMinRunePoolDepth, Int(1'000'000'000'000)},
    {ConstantName::kMaxAvailablePools, Int(100)},
    {ConstantName::kStagedPoolCost, Int(1'000'000'000)},
    {ConstantName::kPendingLiquidityAgeLimit, Int(100'800)},
    {ConstantName::kMinimumNodesForBFT, Int(4)},
    {ConstantName::kDesiredValidatorSet, Int(100)},
    {ConstantName::kAsgardSize, Int(40)},
    {ConstantName::kDerivedDepthBasisPts, Int(0)},
    {ConstantName::kDerivedMinDepth, Int(100)},
    {ConstantName::kMaxAnchorSlip, Int(1500)},
    {ConstantName::kMaxAnchorBlocks, Int(300)},
    {ConstantName::kDynamicMaxAnchorSlipBlocks, Int(201'600)},
    {ConstantName::kDynamicMaxAnchorTarget, Int(0)},
    {ConstantName::kDynamicMaxAnchorCalcInterval, Int(14'400)},
    {ConstantName::kChurnInterval, Int(43'200)},
    {ConstantName::kChurnRetryInterval, Int(720)},
    {ConstantName::kMissingBlockChurnOut, Int(0)},
    {ConstantName::kMaxMissingBlockChurnOut, Int(0)},
    {ConstantName::kMaxTrackMissingBlock, Int(700)},
    {ConstantName::kBadValidatorRedline, Int(3)},
    {ConstantName::kLackOfObservationPenalty, Int(2)},
    {ConstantName::kSigningTransactionPeriod, Int(300)},
    {ConstantName::kDoubleSignMaxAge, Int(24)},
    {ConstantName::kPauseBond, Int(0)},
    {ConstantName::kPauseUnbond, Int(0)},
    {ConstantName::kMinimumBondInRune, Int(100'000'000'000'000)},
    {ConstantName::kFundMigrationInterval, Int(360)},
    {ConstantName::kMaxOutboundAttempts, Int(0)},
    {ConstantName::kSlashPenalty, Int(15'000)},
    {ConstantName::kPauseOnSlashThreshold, Int(10'000'000'000)},
    {ConstantName::kFailKeygenSlashPoints, Int(720)},
    {ConstantName::kFailKeysignSlashPoints, Int(2)},
    {ConstantName::kLiquidityLockUpBlocks, Int(0)},
    {ConstantName::kObserveSlashPoints, Int(1)},
    {ConstantName::kDoubleBlockSignSlashPoints, Int(1000)},
    {ConstantName::kMissBlockSignSlashPoints, Int(1)},
    {ConstantName::kObservationDelayFlexibility, Int(10)},
    {ConstantName::kJailTimeKeygen, Int(4320)},
    {ConstantName::kJailTimeKeysign, Int(60)},
    {ConstantName::kNodePauseChainBlocks, Int(720)},
    {ConstantName::kEnableDerivedAssets, Int(0)},
    {ConstantName::kMinSwapsPerBlock, Int(10)},
    {ConstantName::kMaxSwapsPerBlock, Int(100)},
    {ConstantName::kEnableOrderBooks, Int(0)},
    {ConstantName::kEnableAdvSwapQueue, Int(0)},
    {ConstantName::kAdvSwapQueueRapidSwapMax, Int(1)},
    {ConstantName::kMaxSynthPerPoolDepth, Int(1700)},
    {ConstantName::kMaxSynthsForSaversYield, Int(0)},
    {ConstantName::kVirtualMultSynths, Int(2)},
    {ConstantName::kVirtualMultSynthsBasisPoints, Int(10'000)},
    {ConstantName::kMinSlashPointsForBadValidator, Int(100)},
    {ConstantName::kMaxBondProviders, Int(6)},
    {ConstantName::kMinTxOutVolumeThreshold, Int(100'000'000'000)},
    {ConstantName::kTxOutDelayRate, Int(2'500'000'000)},
    {ConstantName::kTxOutDelayMax, Int(17'280)},
    {ConstantName::kMaxTxOutOffset, Int(720)},
    {ConstantName::kTNSRegisterFee, Int(1'000'000'000)},
    {ConstantName::kTNSFeeOnSale, Int(1000)},
    {ConstantName::kTNSFeePerBlock, Int(20)},
    {ConstantName::kStreamingSwapPause, Int(0)},
    {ConstantName::kStreamingSwapMinBPFee, Int(0)},
    {ConstantName::kStreamingSwapMaxLength, Int(14'400)},
    {ConstantName::kStreamingSwapMaxLengthNative, Int(5'256'000)},
    {ConstantName::kStreamingLimitSwapMaxAge, Int(43'200)},
    {ConstantName::kMinCR, Int(10'000)},
    {ConstantName::kMaxCR, Int(60'000)},
    {ConstantName::kLendingLever, Int(3333)},
    {ConstantName::kPermittedSolvencyGap, Int(100)},
    {ConstantName::kPermittedSolvencyGapUSD, Int(50'000'000'000)},
    {ConstantName::kNodeOperatorFee, Int(500)},
    {ConstantName::kValidatorMaxRewardRatio, Int(1)},
    {ConstantName::kMaxNodeToChurnOutForLowVersion, Int(1)},
    {ConstantName::kChurnOutForLowVersionBlocks, Int(21'600)},
    {ConstantName::kPOLMaxNetworkDeposit, Int(0)},
    {ConstantName::kPOLMaxPoolMovement, Int(100)},
    {ConstantName::kPOLTargetSynthPerPoolDepth, Int(0)},
    {ConstantName::kPOLBuffer, Int(0)},
    {ConstantName::kRagnarokProcessNumOfLPPerIteration, Int(200)},
    {ConstantName::kSynthYieldBasisPoints, Int(5000)},
    {ConstantName::kSynthYieldCycle, Int(0)},
    {ConstantName::kMinimumL1OutboundFeeUSD, Int(1'000'000)},
    {ConstantName::kMinimumPoolLiquidityFee, Int(0)},
    {ConstantName::kChurnMigrateRounds, Int(5)},
    {ConstantName::kAllowWideBlame, Int(0)},
    {ConstantName::kMaxAffiliateFeeBasisPoints, Int(10'000)},
    {ConstantName::kTargetOutboundFeeSurplusRune, Int(10'000'000'000'000)},
    {ConstantName::kMaxOutboundFeeMultiplierBasisPoints, Int(30'000)},
    {ConstantName::kMinOutboundFeeMultiplierBasisPoints, Int(15'000)},
    {ConstantName::kNativeOutboundFeeUSD, Int(2'000'000)},
    {ConstantName::kNativeTransactionFeeUSD, Int(2'000'000)},
    {ConstantName::kTNSRegisterFeeUSD, Int(1'000'000'000)},
    {ConstantName::kTNSFeePerBlockUSD, Int(20)},
    {ConstantName::kEnableUSDFees, Int(0)},
    {ConstantName::kPreferredAssetOutboundFeeMultiplier, Int(100)},
    {ConstantName::kFeeUSDRoundSignificantDigits, Int(2)},
    {ConstantName::kMigrationVaultSecurityBps, Int(0)},
    {ConstantName::kCloutReset, Int(720)},
    {ConstantName::kCloutLimit, Int(0)},
    {ConstantName::kKeygenRetryInterval, Int(0)},
    {ConstantName::kSaversStreamingSwapsInterval, Int(0)},
    {ConstantName::kRescheduleCoalesceBlocks, Int(0)},
    {ConstantName::kL1SlipMinBps, Int(0)},
    {ConstantName::kSynthSlipMinBps, Int(0)},
    {ConstantName::kTradeAccountsSlipMinBps, Int(0)},
    {ConstantName::kDerivedSlipMinBps, Int(0)},
    {ConstantName::kSlipMinBpsMax, Int(100)},
    {ConstantName::kTradeAccountsEnabled, Int(0)},
    {ConstantName::kTradeAccountsDepositEnabled, Int(1)},
    {ConstantName::kSecuredAssetSlipMinBps, Int(5)},
    {ConstantName::kStableSlipMinBps, Int(0)},
    {ConstantName::kEVMDisableContractWhitelist, Int(0)},
    {ConstantName::kOperationalVotesMin, Int(3)},
    {ConstantName::kRUNEPoolEnabled, Int(0)},
    {ConstantName::kRUNEPoolDepositMaturityBlocks, Int(1'296'000)},
    {ConstantName::kRUNEPoolMaxReserveBackstop, Int(500'000'000'000'000)},
    {ConstantName::kSaversEjectInterval, Int(0)},
    {ConstantName::kSystemIncomeBurnRateBps, Int(1)},
    {ConstantName::kDevFundSystemIncomeBps, Int(500)},
    {ConstantName::kDevFundAddress, Text("thor1d8c0wv4y72kmlytegjmgx825xwumt9qt5xe07k")},
    {ConstantName::kPendulumAssetsBasisPoints, Int(10'000)},
    {ConstantName::kPendulumUseEffectiveSecurity, Int(0)},
    {ConstantName::kPendulumUseVaultAssets, Int(0)},
    {ConstantName::kTVLCapBasisPoints, Int(0)},
    {ConstantName::kMultipleAffiliatesMaxCount, Int(5)},
    {ConstantName::kBondSlashBan, Int(500'000'000'000)},
    {ConstantName::kBankSendEnabled, Int(0)},
    {ConstantName::kRUNEPoolHaltDeposit, Int(0)},
    {ConstantName::kRUNEPoolHaltWithdraw, Int(0)},
    {ConstantName::kMinRuneForTCYStakeDistribution, Int(210'000'000'000)},
    {ConstantName::kMinTCYForTCYStakeDistribution, Int(100'000)},
    {ConstantName::kTCYStakeSystemIncomeBps, Int(1000)},
    {ConstantName::kTCYClaimingSwapHalt, Int(1)},
    {ConstantName::kTCYStakeDistributionHalt, Int(1)},
    {ConstantName::kTCYStakingHalt, Int(1)},
    {ConstantName::kTCYUnstakingHalt, Int(1)},
    {ConstantName::kTCYClaimingHalt, Int(1)},
    {ConstantName::kRequiredPriceFeeds,
     Text("ATOM,AVAX,BCH,BNB,BTC,DOGE,ETH,LTC,RUNE,SOL,TRX,USDC,USDT,XRP,ZEC")},
    {ConstantName::kReserveMaxCap, Int(0)},
    {ConstantName::kMarketingFundSystemIncomeBps, Int(500)},
    {ConstantName::kMarketingFundAddress, Text("thor1usj8cqjmjea32csxn5fma96ffeulln40gyrahn")},
    {ConstantName::kOverSolvencyToTreasuryBps, Int(0)},
    {ConstantName::kOverSolvencyCheckInterval, Int(600)},
    {ConstantName::kOverSolvencyAddress, Text("thor1lhufh0mwasa0lk9udppdegmvnkgqt08f0m9p5g")},
    {ConstantName::kMaxDepositTxIDRetries, Int(100)},
    {ConstantName::kMaxRetiredVaultRecoveryAttempts, Int(100)},
    {ConstantName::kModifyLimitSwapMaxIterations, Int(100)},
    {ConstantName::kDefaultPoolStatus, Text("Staged")},
    {ConstantName::kMemolessTxnTTL, Int(3600)},
    {ConstantName::kMemolessTxnRefCount, Int(99'999)},
    {ConstantName::kMemolessTxnCost, Int(0)},
    {ConstantName::kMemolessTxnMaxUse, Int(1)},
    {ConstantName::kStrictBondLiquidityRatio, Bool(true)},
};

// What the mocknet build sets otherwise.
constexpr Entry kMockNetChanges[] = {
    {ConstantName::kMaxRuneSupply, Int(50'000'000'000'000'000)},
    {ConstantName::kDesiredValidatorSet, Int(12)},
    {ConstantName::kAsgardSize, Int(6)},
    {ConstantName::kChurnInterval, Int(60)},
    {ConstantName::kChurnRetryInterval, Int(30)},
    {ConstantName::kMissingBlockChurnOut, Int(100)},
    {ConstantName::kMaxMissingBlockChurnOut, Int(5)},
    {ConstantName::kMinimumBondInRune, Int(100'000'000)},
    {ConstantName::kFundMigrationInterval, Int(15)},
    {ConstantName::kLiquidityLockUpBlocks, Int(0)},
    {ConstantName::kJailTimeKeygen, Int(10)},
    {ConstantName::kJailTimeKeysign, Int(10)},
    {ConstantName::kEnableAdvSwapQueue, Int(1)},
    {ConstantName::kAdvSwapQueueRapidSwapMax, Int(1)},
    {ConstantName::kMaxSynthPerPoolDepth, Int(3500)},
    {ConstantName::kMaxSynthsForSaversYield, Int(5000)},
    {ConstantName::kVirtualMultSynthsBasisPoints, Int(20'000)},
    {ConstantName::kMinTxOutVolumeThreshold, Int(200'000'000'000'000)},
    {ConstantName::kTxOutDelayRate, Int(200'000'000'000'000)},
    {ConstantName::kStreamingSwapMinBPFee, Int(100)},
    {ConstantName::kValidatorMaxRewardRatio, Int(3)},
    {ConstantName::kAllowWideBlame, Int(1)},
    {ConstantName::kMaxAffiliateFeeBasisPoints, Int(10'000)},
    {ConstantName::kTargetOutboundFeeSurplusRune, Int(1'000'000'000'000)},
    {ConstantName::kMaxOutboundFeeMultiplierBasisPoints, Int(30'000)},
    {ConstantName::kMinOutboundFeeMultiplierBasisPoints, Int(1000)},
    {ConstantName::kPreferredAssetOutboundFeeMultiplier, Int(100)},
    {ConstantName::kTradeAccountsEnabled, Int(1)},
    {ConstantName::kOperationalVotesMin, Int(1)},
    {ConstantName::kRUNEPoolDepositMaturityBlocks, Int(0)},
    {ConstantName::kRUNEPoolMaxReserveBackstop, Int(0)},
    {ConstantName::kSaversEjectInterval, Int(60)},
    {ConstantName::kSystemIncomeBurnRateBps, Int(0)},
    {ConstantName::kDevFundSystemIncomeBps, Int(0)},
    {ConstantName::kDevFundAddress, Text("tthor1qk8c8sfrmfm0tkncs0zxeutc8v5mx3pjj07k4u")},
    {ConstantName::kMultipleAffiliatesMaxCount, Int(5)},
    {ConstantName::kBankSendEnabled, Int(1)},
    {ConstantName::kTCYStakeSystemIncomeBps, Int(0)},
    {ConstantName::kMarketingFundSystemIncomeBps, Int(0)},
    {ConstantName::kMarketingFundAddress, Text("tthor1qk8c8sfrmfm0tkncs0zxeutc8v5mx3pjj07k4u")},
    {ConstantName::kOverSolvencyAddress, Text("tthor1qk8c8sfrmfm0tkncs0zxeutc8v5mx3pjj07k4u")},
    {ConstantName::kDefaultPoolStatus, Text("Available")},
    {ConstantName::kEnableMemolessOutbound, Int(1)},
    {ConstantName::kMemolessTxnTTL, Int(100)},
    {ConstantName::kMemolessTxnMaxUse, Int(5)},
    {ConstantName::kStrictBondLiquidityRatio, Bool(false)},
};

// strconv.ParseInt's value: 0 for what is no number, the limit for what is too large.
int64_t ParseInt64(std::string_view text, bool* is_number) {
  *is_number = false;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool signed_twice = digits.size() != text.size() && digits.starts_with('-');
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (signed_twice || digits.empty() || end != digits.data() + digits.size()) return 0;
  if (error == std::errc::result_out_of_range) {
    return digits.starts_with('-') ? std::numeric_limits<int64_t>::min()
                                   : std::numeric_limits<int64_t>::max();
  }
  if (error != std::errc()) return 0;
  *is_number = true;
  return value;
}

// strconv.ParseBool with the error ignored.
bool ParseBool(std::string_view text) {
  return text == "1" || text == "t" || text == "T" || text == "TRUE" || text == "true" ||
         text == "True";
}

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

struct ConstantSetBuilder {
  static void Set(ConstantSet& set, ConstantName name, const Value& value) {
    const auto index = static_cast<size_t>(name);
    if (const auto* number = std::get_if<int64_t>(&value)) set.int64_[index] = *number;
    if (const auto* truth = std::get_if<bool>(&value)) set.bool_[index] = *truth;
    if (const auto* text = std::get_if<std::string_view>(&value)) set.text_[index] = *text;
  }

  static ConstantSet MainNet() {
    ConstantSet set;
    for (const Entry& entry : kMainNet) Set(set, entry.name, entry.value);
    return set;
  }

  static ConstantSet MockNet(const Environment& environment) {
    ConstantSet set = MainNet();
    for (const Entry& entry : kMockNetChanges) Set(set, entry.name, entry.value);
    for (const Entry& entry : kMainNet) {
      const auto variable = environment.find(CamelToSnakeUpper(ToString(entry.name)));
      if (variable == environment.end() || variable->second.empty()) continue;
      const std::string_view text = variable->second;
      if (std::holds_alternative<int64_t>(entry.value)) {
        bool is_number = false;
        Set(set, entry.name, ParseInt64(text, &is_number));
      } else if (std::holds_alternative<bool>(entry.value)) {
        Set(set, entry.name, ParseBool(text));
      } else {
        Set(set, entry.name, text);
      }
    }
    set.environment_ = environment;
    return set;
  }
};

std::string_view ToString(ConstantName name) { return kNames[static_cast<size_t>(name)]; }

std::optional<ConstantName> GetConstantByName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ConstantName>(found - kNames.begin());
}

const ConstantSet& ConstantSet::MainNet() {
  static const ConstantSet kSet = ConstantSetBuilder::MainNet();
  return kSet;
}

const ConstantSet& ConstantSet::MockNet() {
  static const ConstantSet kSet = ConstantSetBuilder::MockNet({});
  return kSet;
}

ConstantSet ConstantSet::MockNetWith(const Environment& environment) {
  return ConstantSetBuilder::MockNet(environment);
}

std::optional<ConstantSet::MimirFallback> ConstantSet::GetMimirFallback(
    std::string_view key) const {
  if (environment_.empty()) return std::nullopt;
  std::string name = CamelToSnakeUpper(key);
  std::replace(name.begin(), name.end(), '-', '_');
  const auto variable = environment_.find(name);
  if (variable == environment_.end() || variable->second.empty()) return std::nullopt;
  MimirFallback fallback;
  fallback.value = ParseInt64(variable->second, &fallback.is_number);
  return fallback;
}

std::string CamelToSnakeUpper(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    // A word ends before a capital that follows a small letter or digit …
    if (i + 1 < text.size() && (IsLower(text[i]) || IsDigit(text[i])) && IsUpper(text[i + 1])) {
      result += text[i];
      result += '_';
      result += text[i + 1];
      i += 2;
      continue;
    }
    // … and before the last of several capitals if a small letter follows it.
    size_t end = i;
    while (end < text.size() && IsUpper(text[end])) ++end;
    if (end - i >= 2 && end < text.size() && IsLower(text[end])) {
      result += text.substr(i, end - 1 - i);
      result += '_';
      result += text.substr(end - 1, 2);
      i = end + 1;
      continue;
    }
    result += text[i++];
  }
  for (char& c : result) {
    if (IsLower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

}  // namespace blockreplay::keeper::thorchain
