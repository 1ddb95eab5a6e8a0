#include "keeper/thorchain/constants/build.h"

#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/constants/mainnet_tokens.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr DexAggregator kMainNetAggregators[] = {
    {"ETH", "0x35CF22003c90126528fbe95b21bB3ADB2ca8c53D", 400'000},
    {"AVAX", "0x5505BE604dFA8A1ad402A71f8A357fba47F9bf5a", 400'000},
    {"ETH", "0xd31f7e39afECEc4855fecc51b693F9A0Cec49fd2", 400'000},
    {"ETH", "0x2a7813412b8da8d18Ce56FE763B9eb264D8e28a8", 400'000},
    {"ETH", "0xbB8De86F3b041B3C084431dcf3159fE4827c5F0D", 400'000},
    {"AVAX", "0x7a68c37D8AFA3078f3Ad51D98eA23Fe57a8Ae21a", 400'000},
    {"ETH", "0x86904eb2b3c743400d03f929f2246efa80b91215", 400'000},
    {"ETH", "0xbf365e79aa44a2164da135100c57fdb6635ae870", 400'000},
    {"ETH", "0xbd68cbe6c247e2c3a0e36b8f0e24964914f26ee8", 400'000},
    {"ETH", "0xe4ddca21881bac219af7f217703db0475d2a9f02", 400'000},
    {"ETH", "0x11733abf0cdb43298f7e949c930188451a9a9ef2", 400'000},
    {"ETH", "0xb33874810e5395eb49d8bd7e912631db115d5a03", 400'000},
    {"AVAX", "0x942c6dA485FD6cEf255853ef83a149d43A73F18a", 400'000},
    {"AVAX", "0x3b7DbdD635B99cEa39D3d95Dbd0217F05e55B212", 400'000},
    {"AVAX", "0x7C38b8B2efF28511ECc14a621e263857Fb5771d3", 400'000},
    {"ETH", "0x53E4DD4072A9a8ed56289e048f5BD5AA51c9Bf6E", 400'000},
    {"ETH", "0xeEe520b0DA1F8a9e4a0480F92CC4c5f6C027ef1E", 400'000},
    {"AVAX", "0xd0269244A876F7Bc600D1f38B03a9916864b73C6", 400'000},
    {"AVAX", "0x4ab34123A077aE294A39844f3e8df418d2A3D8c4", 400'000},
    {"ETH", "0x88100E08e5287bA3445F95d448ABfF3113d82a4C", 400'000},
    {"ETH", "0xC1faA12981160945903E0725888828E2d6a15821", 400'000},
    {"ETH", "0x7E019988299cd8038091D8d7fe38f7a1dd3f90F1", 400'000},
    {"ETH", "0x95B6b888a9fCc5BCA4A3004Df5E9498B63195F48", 400'000},
    {"BSC", "0xB6fA6f1DcD686F4A573Fd243a6FABb4ba36Ba98c", 400'000},
    {"BSC", "0x30912B38618D3D37De3191A4FFE982C65a9aEC2E", 400'000},
    {"ETH", "0x1204b5Bf0D6d48E718B1d9753A4166A7258B8432", 800'000},
    {"ETH", "0xe93685f3bBA03016F02bD1828BaDD6195988D950", 800'000},
    {"AVAX", "0xe93685f3bBA03016F02bD1828BaDD6195988D950", 800'000},
    {"BSC", "0xe93685f3bBA03016F02bD1828BaDD6195988D950", 800'000},
    {"ETH", "0xB81C7C2D2d078205D7FA515DDB2dEA3d896F4016", 500'000},
    {"ETH", "0x4fd39C9E151e50580779bd04B1f7eCc310079fd3", 800'000},
    {"ETH", "0x48f68ff093b3b3A80D2FC97488EaD97E16b86283", 800'000},
    {"ETH", "0x0fA226e8BCf45ec2f3c3163D2d7ba0d2aAD2eBcF", 800'000},
    {"ETH", "0x69460570c93f9DE5E2edbC3052bf10125f0Ca22d", 400'000},
    {"BSC", "0x69460570c93f9DE5E2edbC3052bf10125f0Ca22d", 400'000},
    {"AVAX", "0x69460570c93f9DE5E2edbC3052bf10125f0Ca22d", 400'000},
    {"ETH", "0x70F75937546fB26c6FD3956eBBfb285f41526186", 400'000},
    {"ETH", "0xd1687354CBA0e56facd0c44eD0F69D97F5734Dc1", 400'000},
    {"ETH", "0xaFa4cBA6db85515f66E3ed7d6784e8cf5b689E2D", 400'000},
    {"ETH", "0x0964347B0019eb227c901220ce7d66BB01479220", 400'000},
    {"ETH", "0x6f281993AB68216F8898c593C4578C8a4a76F063", 400'000},
    {"BSC", "0xd0d7A5374ed70D5cB9E9034871F1d89F79De07Dd", 400'000},
    {"BSC", "0x5bCAC8ac5f65623f8e151d676605EdE52E0Db532", 400'000},
    {"BSC", "0x36C29dC30E6728BC5524806EeA8897F6d8b9edE3", 400'000},
    {"BSC", "0xd1127EB3bc10a00434FfaD4fBA534212F1ba1165", 400'000},
    {"AVAX", "0x892Fb7C2A23772f4A2FFC3DC82419147dC22021C", 400'000},
    {"AVAX", "0xBd039a45e656221E28594d2761DDed8F6712AE46", 400'000},
    {"ETH", "0xFc99f58A8974A4bc36e60E2d490Bb8D72899ee9f", 800'000},
    {"BSC", "0xFc99f58A8974A4bc36e60E2d490Bb8D72899ee9f", 800'000},
    {"AVAX", "0xf956D9FA19656D8e5219fd6fa8bA6cb198094138", 800'000},
    {"ETH", "0x5523985926Aa12BA58DC5Ad00DDca99678D7227E", 800'000},
    {"AVAX", "0x292fC50e4eB66C3f6514b9E402dBc25961824D62", 800'000},
    {"ETH", "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE", 800'000},
    {"BSC", "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE", 800'000},
    {"AVAX", "0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE", 800'000},
    {"ETH", "0xbEbCDb5093B47Cd7add8211E4c77B6826aF7bc5F", 800'000},
    {"BSC", "0xbEbCDb5093B47Cd7add8211E4c77B6826aF7bc5F", 800'000},
    {"AVAX", "0xbEbCDb5093B47Cd7add8211E4c77B6826aF7bc5F", 800'000},
    {"ETH", "0x5e006856AA4Ee2E0158A1Fe2158df5b37378fB40", 600'000},
    {"ETH", "0x94B7F2145C328DaB2EC56aB982CaB95F00941aE7", 400'000},
    {"ETH", "0x7E1B771bBA8f017E0988F068C320b8852F4A3265", 600'000},
    {"AVAX", "0x80Ae06757C1E467425fD25Bb85d8B51D977F50Bf", 600'000},
    {"BSC", "0x05b93F074549839C8079F37dC16D7D9A1c5E6Aa5", 600'000},
    {"ETH", "0x34ba1f1753818d935d185e1abc9162e561b05d91", 800'000},
    {"ETH", "0x9E9b95b22bA7A1A875D3f93C2Ec54C015C14Aa9c", 800'000},
    {"AVAX", "0xF02f7A22Ed0E9a1469c81f2d8419508a5910b0Af", 400'000},
    {"BSC", "0x25Bdf9b9064f34Ad943677d510Ba5E2499F69E72", 400'000},
    {"ETH", "0xDd40F17b848cE3a30b4F71652535E744F45fA5A3", 400'000},
    {"ETH", "0xd917c32cfa50b0fca692a208118afe4d1d06f1f1", 250'000},
    {"BASE", "0xD46ee26b56F28E8a4a83ED853C47b51935dc48Ef", 400'000},
    {"BASE", "0x542f4FFb7EBBc194cCbFd72ea92199a7f77573d7", 400'000},
    {"BASE", "0x8772B3a6c87dC23bf6Ab93c5f04E3F87da0e9606", 400'000},
};

constexpr DexAggregator kMockNetAggregators[] = {
    {"ETH", "0x69800327b38A4CeF30367Dec3f64c2f2386f3848", 400'000},
    {"AVAX", "0x1429859428C0aBc9C2C47C8Ee9FBaf82cFA0F20f", 400'000},
    {"ETH", "0xd31f7e39afECEc4855fecc51b693F9A0Cec49fd2", 400'000},
    {"ETH", "0x3660dE6C56cFD31998397652941ECe42118375DA", 400'000},
    {"ETH", "0x2a7813412b8da8d18Ce56FE763B9eb264D8e28a8", 400'000},
    {"ETH", "0xbB8De86F3b041B3C084431dcf3159fE4827c5F0D", 400'000},
    {"AVAX", "0x7a68c37D8AFA3078f3Ad51D98eA23Fe57a8Ae21a", 400'000},
    {"ETH", "0x86904eb2b3c743400d03f929f2246efa80b91215", 400'000},
    {"ETH", "0xbf365e79aa44a2164da135100c57fdb6635ae870", 400'000},
    {"ETH", "0xbd68cbe6c247e2c3a0e36b8f0e24964914f26ee8", 400'000},
    {"ETH", "0xe4ddca21881bac219af7f217703db0475d2a9f02", 400'000},
    {"ETH", "0x11733abf0cdb43298f7e949c930188451a9a9ef2", 400'000},
    {"ETH", "0xb33874810e5395eb49d8bd7e912631db115d5a03", 400'000},
    {"AVAX", "0x942c6dA485FD6cEf255853ef83a149d43A73F18a", 400'000},
    {"AVAX", "0x3b7DbdD635B99cEa39D3d95Dbd0217F05e55B212", 400'000},
    {"AVAX", "0x7C38b8B2efF28511ECc14a621e263857Fb5771d3", 400'000},
    {"ETH", "0x53E4DD4072A9a8ed56289e048f5BD5AA51c9Bf6E", 400'000},
    {"ETH", "0xeEe520b0DA1F8a9e4a0480F92CC4c5f6C027ef1E", 400'000},
    {"AVAX", "0xd0269244A876F7Bc600D1f38B03a9916864b73C6", 400'000},
    {"AVAX", "0x4ab34123A077aE294A39844f3e8df418d2A3D8c4", 400'000},
    {"ETH", "0x88100E08e5287bA3445F95d448ABfF3113d82a4C", 400'000},
    {"ETH", "0xC1faA12981160945903E0725888828E2d6a15821", 400'000},
    {"ETH", "0x7E019988299cd8038091D8d7fe38f7a1dd3f90F1", 400'000},
    {"ETH", "0x95B6b888a9fCc5BCA4A3004Df5E9498B63195F48", 400'000},
};

constexpr RouterUpgrade kMainNetRouters[] = {
    {"ETH", "0xD37BbE5744D730a1d98d8DC97c42F0Ca46aD7146",
     "0x00dc6100103BC402d490aEE3F9a5560cBd91f1d4"},
    {"AVAX", "0x8F66c4AE756BEbC49Ec8B81966DD8bba9f127549",
     "0x00dc6100103BC402d490aEE3F9a5560cBd91f1d4"},
    {"BSC", "0xb30ec53f98ff5947ede720d32ac2da7e52a5f56b",
     "0x00dc6100103BC402d490aEE3F9a5560cBd91f1d4"},
    {"BASE", "0x68208d99746b805a1ae41421950a47b711e35681",
     "0x00dc6100103BC402d490aEE3F9a5560cBd91f1d4"},
};

constexpr RouterUpgrade kMockNetRouters[] = {
    {"ETH", "0xE65e9d372F8cAcc7b6dfcd4af6507851Ed31bb44",
     "0x98e94fED7380e71AA75fc69503Ce6814804630A6"},
    {"AVAX", "0xcbEAF3BDe82155F56486Fb5a1072cb8baAf547cc",
     "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25"},
    {"BSC", "", ""},
    {"BASE", "", ""},
};

constexpr std::string_view kMainNetTcyContracts[] = {
    "thor1z7ejlk5wk2pxh9nfwjzkkdnrq4p2f5rjcpudltv0gh282dwfz6nq9g2cr0",
    "thor1mlphkryw5g54yfkrp6xpqzlpv4f8wh6hyw27yyg4z2els8a9gxpqhfhekt",
    "thor1h0hr0rm3dawkedh44hlrmgvya6plsryehcr46yda2vj0wfwgq5xqrs86px",
    "thor1yqf5spdv8c4088zmvqsg32eq63fzepsjvntahdk0ek0yjnkt3qdqftp3lc",
};

constexpr std::string_view kMockNetTcyContracts[] = {
    "tthor1hjpct8pd9d48vyqltaqunltwx9twm57l4h2dac",
};

constexpr WasmPermission kMainNetStore[] = {
    {"thor1e0lmk5juawc46jwjwd0xfz587njej7ay5fh6cd", true},
    {"thor1hmfsqvr4cyh02z6le3wej0v4y7l605zlxjw022", true},
    {"thor1pnad3hhgktqde00jl6wvyuuspatle000wl9pehgqxmehl7974e4szc4zpn", true},
};

constexpr WasmPermission kMainNetInstantiate[] = {
    {"thor1e0lmk5juawc46jwjwd0xfz587njej7ay5fh6cd", true},
    {"thor1hmfsqvr4cyh02z6le3wej0v4y7l605zlxjw022", true},
    {"thor1pnad3hhgktqde00jl6wvyuuspatle000wl9pehgqxmehl7974e4szc4zpn", true},
    {"thor1gg2hk8nnap6u6axlkv0rjfghd2vjlwkyshhe8s", true},
    {"thor1440jp0ukj8ew3z2fd4zmdqgxhn5ghd7ghg2kmr", true},
    {"thor1zjwanvezcjp6hefgt6vqfnrrdm8yj9za3s8ss0", true},
    {"thor1lt2r7uwly4gwx7kdmdp86md3zzdrqlt3dgr0ag", true},
    {"thor17dxtxrne37gguxdeun4n36vqd5jmxxku5tr6gkuhhsh4lz9e8gksck4ygu", true},
    {"thor1j95vmsmkevynmenkkxhlu5at9exgtsuck6nhh79f0x4zx85r5ajqnpnhj2", true},
    {"thor1e69r4z9fgx5ghz2l4dfqv0zqw2yhsqf946tgfvpyzsnah2lg7aesfel69y", true},
    {"thor15qymde6pkjxl2c068lk2gq0c7rcps4mckd3ngzwgy5n2mx6ms6mq3xntrt", true},
};

constexpr WasmPermission kMockNetStoreAndInstantiate[] = {
    {"tthor1jgnk2mg88m57csrmrlrd6c3qe4lag3e33y2f3k", true},
    {"tthor1tdfqy34uptx207scymqsy4k5uzfmry5sf7z3dw", false},
    {"tthor1khtl8ch2zgay00c47ukvulam3a4faw2500g7lu", true},
};

constexpr std::string_view kMockNetEthTokens[] = {
    "0x8E3f9E9b5B26AAaE9d31364d2a8e8a9dd2BE3B82", "0xd601c6A3a36721320573885A8d8420746dA3d7A0",
    "0x4d704dda8099305ee9803f02343129bf6ba55ff1", "0xA3910454bF2Cb59b8B3a401589A3bAcC5cA42306",
    "0x6f67873ebc41ed88B08A9265Bd16480f819e4348", "0x6cA13a4ab78dd7D657226b155873A04DB929A3A4",
    "0x8626DB1a4f9f3e1002EEB9a4f3c6d391436Ffc23", "0x3b7FA4dd21c6f9BA3ca375217EAD7CAb9D6bF483",
    "0x52C84043CD9c865236f11d9Fc9F56aa003c1f922", "0x983e2cC84Bb8eA7b75685F285A28Bde2b4D5aCDA",
    "0xe247EFF2915Cb56Ec7a4DB3aE7b923326752E92C", "0x73d6e26896981798526b6ead48d0fab76e205974",
    "0x0a44986b70527154e9F4290eC14e5f0D1C861823", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599",
};

constexpr std::string_view kMockNetAvaxTokens[] = {
    "0x52C84043CD9c865236f11d9Fc9F56aa003c1f922",
    "0x333c3310824b7c685133F2BeDb2CA4b8b4DF633d",
    "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25",
    "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E",
};

constexpr std::string_view kMockNetBscTokens[] = {
    "0x52C84043CD9c865236f11d9Fc9F56aa003c1f922",
    "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25",
    "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
};

constexpr std::string_view kMockNetBaseTokens[] = {
    "0x52C84043CD9c865236f11d9Fc9F56aa003c1f922",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
    "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25",
};

constexpr std::string_view kMockNetPolTokens[] = {
    "0x52C84043CD9c865236f11d9Fc9F56aa003c1f922",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf",
    "0x17aB05351fC94a1a67Bf3f56DdbB941aE6c63E25",
};

std::span<const std::string_view> MockNetTokens(std::string_view chain) {
  if (chain == "ETH") return kMockNetEthTokens;
  if (chain == "AVAX") return kMockNetAvaxTokens;
  if (chain == "BSC") return kMockNetBscTokens;
  if (chain == "BASE") return kMockNetBaseTokens;
  if (chain == "POL") return kMockNetPolTokens;
  return {};
}

struct SuiteVariable {
  std::string_view suite;
  std::string_view name;
  std::string_view value;
};

// THORNode 3.17.0's test/regression/suites.
constexpr SuiteVariable kSuiteVariables[] = {
    {"adv-swap-queue/limit-swap-custom-ttl.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/mainnet-limit-swap-usdc-gusd.yaml", "SECURED_ASSET_SLIP_MIN_BPS", "5"},
    {"adv-swap-queue/mainnet-limit-swap-usdc-gusd.yaml", "SECUREDASSETSLIPMINBPS", "5"},
    {"adv-swap-queue/mainnet-limit-swap-usdc-gusd.yaml", "L1SLIPMINBPS", "5"},
    {"adv-swap-queue/mainnet-limit-swap-usdc-gusd.yaml", "TRADEACCOUNTSSLIPMINBPS", "5"},
    {"adv-swap-queue/rapid-swap-direction.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-asset-types.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-asset-types.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-exit-assertions.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-exit-conditions.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-failed-market-skip.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-market-only-iterations.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-matrix-asset-classes.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-matrix-asset-classes.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-overlap-extended.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-overlap-extended.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-overlap-matrix.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/rapid-swaps-secured-assets.yaml", "SECURED_ASSET_SLIP_MIN_BPS", "5"},
    {"adv-swap-queue/rapid-swaps-secured-assets.yaml", "SECUREDASSETSLIPMINBPS", "5"},
    {"adv-swap-queue/rapid-swaps-secured-assets.yaml", "L1SLIPMINBPS", "5"},
    {"adv-swap-queue/rapid-swaps-streaming-constraints.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/secured-asset-limit-swaps.yaml", "SECURED_ASSET_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/streaming-limit-swaps.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"adv-swap-queue/trade-asset-limit-swaps.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"ban/ban.yaml", "EMISSION_CURVE", "1000000000000"},
    {"core/vault-frozen.yaml", "SIGNING_TRANSACTION_PERIOD", "3"},
    {"refunds/inactive-vault-retry.yaml", "SIGNING_TRANSACTION_PERIOD", "3"},
    {"refunds/tvl-cap.yaml", "STRICT_BOND_LIQUIDITY_RATIO", "true"},
    {"refunds/unrefundable-streaming-output.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"reschedule/coalesce-height.yaml", "SIGNING_TRANSACTION_PERIOD", "3"},
    {"savers/savers.yaml", "SYNTH_SLIP_MIN_BPS", "50"},
    {"savers/savers.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"savers/streaming.yaml", "SYNTH_SLIP_MIN_BPS", "50"},
    {"savers/streaming.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"secured-assets/secured-swaps.yaml", "SLIP_MIN_BPS_MAX", "1000"},
    {"secured-assets/secured-swaps.yaml", "SECURED_ASSET_SLIP_MIN_BPS", "50"},
    {"secured-assets/secured-swaps.yaml", "VIRTUAL_MULT_SYNTHS_BASIS_POINTS", "10000"},
    {"secured-assets/secured.yaml", "SECURED_ASSET_SLIP_MIN_BPS", "50"},
    {"slash-points/observations.yaml", "OBSERVATION_DELAY_FLEXIBILITY", "1"},
    {"swaps/multiple-affiliates.yaml", "TNS_REGISTER_FEE", "100000000"},
    {"swaps/preferred-asset-streaming-swaps.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"swaps/streaming-postponed-synths-mint.yaml", "SYNTH_SLIP_MIN_BPS", "50"},
    {"swaps/streaming-swaps.yaml", "L1_SLIP_MIN_BPS", "50"},
    {"swaps/streaming-swaps.yaml", "SYNTH_SLIP_MIN_BPS", "50"},
    {"swaps/swaps-min-fee-synth.yaml", "SLIP_MIN_BPS_MAX", "1000"},
    {"swaps/swaps-min-fee.yaml", "SLIP_MIN_BPS_MAX", "1000"},
    {"tcy/tcy-claiming-swap.yaml", "TCY_CLAIMING_SWAP_HALT", "0"},
    {"tcy/tcy-claiming-swap.yaml", "BLOCKS_PER_YEAR", "1825"},
    {"tcy/tcy-distribution.yaml", "BLOCKS_PER_YEAR", "1825"},
    {"tcy/tcy-distribution.yaml", "MIN_TCY_FOR_TCY_STAKE_DISTRIBUTION", "210000000000001"},
    {"tcy/tcy-distribution.yaml", "TCY_STAKE_DISTRIBUTION_HALT", "0"},
    {"tcy/tcy-fund-fees.yaml", "EMISSION_CURVE", "100000000"},
    {"tcy/tcy-fund-fees.yaml", "TCY_STAKE_SYSTEM_INCOME_BPS", "1000"},
    {"tcy/tcy-msg.yaml", "TCY_CLAIMING_HALT", "0"},
    {"tcy/tcy-msg.yaml", "TCY_STAKING_HALT", "0"},
    {"tcy/tcy-msg.yaml", "TCY_UNSTAKING_HALT", "0"},
    {"tcy/tcy-msg.yaml", "TCY_STAKE_SYSTEM_INCOME_BPS", "1000"},
    {"trade-accounts/trade-swaps.yaml", "SLIP_MIN_BPS_MAX", "1000"},
    {"trade-accounts/trade-swaps.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"trade-accounts/trade-swaps.yaml", "VIRTUAL_MULT_SYNTHS_BASIS_POINTS", "10000"},
    {"trade-accounts/trade.yaml", "TRADE_ACCOUNTS_SLIP_MIN_BPS", "50"},
    {"tss/tss-check-signature.yaml", "CHURN_INTERVAL", "2"},
    {"tss/tss-check-signature.yaml", "CHURN_RETRY_INTERVAL", "2"},
};

Build MainNetBuild(std::string software_version) {
  return Build{.network = &MainNet(),
               .constants = ConstantSet::MainNet(),
               .software_version = std::move(software_version),
               .regtest = false,
               .scheduled_migration_sets_mimir = false,
               .dex_aggregators = kMainNetAggregators,
               .router_upgrades = kMainNetRouters,
               .tcy_contracts = kMainNetTcyContracts,
               .wasm_store = kMainNetStore,
               .wasm_instantiate = kMainNetInstantiate,
               .token_addresses = &MainNetTokens};
}

Build MockNetBuild(std::string software_version, bool regtest, const Environment& environment) {
  return Build{.network = &MockNet(),
               .constants = ConstantSet::MockNetWith(environment),
               .software_version = std::move(software_version),
               .regtest = regtest,
               .scheduled_migration_sets_mimir = true,
               .dex_aggregators = kMockNetAggregators,
               .router_upgrades = kMockNetRouters,
               .tcy_contracts = kMockNetTcyContracts,
               .wasm_store = kMockNetStoreAndInstantiate,
               .wasm_instantiate = kMockNetStoreAndInstantiate,
               .token_addresses = &MockNetTokens};
}

}  // namespace

absl::StatusOr<Build> Build::Make(std::string_view version, std::string_view build_tags,
                                  std::string_view constants_version,
                                  const Environment& environment) {
  bool mocknet = false;
  bool regtest = false;
  for (const std::string_view tag : Split(build_tags, ',')) {
    if (tag == "mocknet") {
      mocknet = true;
    } else if (tag == "regtest") {
      regtest = true;
    } else if (tag != "mainnet" && !tag.empty()) {
      return Error("build tag ", tag, " is not known: use a recording of a mainnet or a regtest,",
                   "mocknet build");
    }
  }
  if (version != "3.17.0") {
    return Error("THORNode ", version, " is not known: native execution covers 3.17.0");
  }
  if (regtest && !mocknet) return Error("build tags ", build_tags, ": regtest without mocknet");
  std::string software_version(constants_version.empty() ? version : constants_version);
  if (mocknet) return MockNetBuild(std::move(software_version), regtest, environment);
  return MainNetBuild(std::move(software_version));
}

Environment RegressionSuiteEnvironment(std::string_view suite) {
  Environment environment;
  for (const SuiteVariable& variable : kSuiteVariables) {
    if (variable.suite == suite) environment.emplace(variable.name, variable.value);
  }
  return environment;
}

absl::StatusOr<DexAggregator> FindDexAggregator(const Build& build, std::string_view chain,
                                                std::string_view suffix) {
  for (const DexAggregator& aggregator : build.dex_aggregators) {
    if (EqualFold(aggregator.chain, chain) && aggregator.address.ends_with(suffix)) {
      return aggregator;
    }
  }
  return Error(suffix, " aggregator not found");
}

}  // namespace blockreplay::keeper::thorchain
