// Checks the parser against what THORNode 3.17.0's own parser makes of the same memos, built
// without tags and with mocknet: memos of the recordings and made-up ones. `memo` has the names and
// settings of FakeContext, `memo0` no state.

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "keeper/thorchain/common/status_text.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/common/vectors.h"
#include "keeper/thorchain/memo/go_number.h"
#include "keeper/thorchain/memo/memo.h"

namespace blockreplay::keeper::thorchain {
namespace {

using Json = nlohmann::json;

// What the vectors were made with; it also lists the reads in their order.
class FakeContext : public MemoContext {
 public:
  explicit FakeContext(const Network& network) : network_(network) {}

  bool THORNameExists(std::string_view name) override {
    calls.push_back(StrCat("exists ", name));
    return IsNamed(name) || name == "noowner" || name == "broken";
  }

  absl::StatusOr<THORName> GetTHORName(std::string_view name) override {
    calls.push_back(StrCat("get ", name));
    if (name == "broken") return Error("record is broken");
    const AccAddress owner("owner of the name 20");
    THORName record;
    record.name = name;
    record.expire_block_height = 1000;
    record.aliases.push_back({chains::kTHOR, Address(owner.ToString(network_))});
    if (IsNamed(name)) {
      record.owner = owner;
      record.aliases.push_back(
          {chains::kETH, Address("0x1b03d088612a00df0049634e9cc8684d622cada2")});
    }
    return record;
  }

  int64_t GetConfigInt64(ConstantName name) override {
    calls.push_back(StrCat("config ", ToString(name)));
    return 5;
  }

  std::vector<std::string> calls;

 private:
  static bool IsNamed(std::string_view name) {
    return name == "owned" || name == "test" || name == "te" || name == "tr6";
  }

  const Network& network_;
};

Json Texts(const std::vector<Uint>& values) {
  Json result = Json::array();
  for (const Uint& value : values) result.push_back(value.ToString());
  return result;
}

std::string NameOf(const std::optional<THORName>& name) { return name ? name->name : ""; }

// The fields of a memo in the form of the vectors.
class Describe {
 public:
  explicit Describe(const Memo& memo, const Network& network) : memo_(memo), network_(network) {}

  Json operator()(const std::monostate&) const { return {"none"}; }
  Json operator()(const AddLiquidityMemo& m) const {
    return {"add", m.address.ToString(), m.affiliate_address.ToString(),
            m.affiliate_basis_points.ToString()};
  }
  Json operator()(const WithdrawLiquidityMemo& m) const {
    return {"withdraw", m.basis_points.ToString(), m.withdrawal_asset.ToString()};
  }
  Json operator()(const SwapMemo& m) const {
    return {"swap",
            m.destination.ToString(),
            m.refund_address.ToString(),
            m.slip_limit.ToString(),
            static_cast<int>(m.swap_type),
            std::to_string(m.stream_interval),
            std::to_string(m.stream_quantity),
            m.affiliates,
            Texts(m.affiliates_basis_points),
            m.affiliate_address.ToString(),
            m.affiliate_basis_points.ToString(),
            NameOf(m.affiliate_name),
            m.dex_aggregator,
            m.dex_target_address,
            m.dex_target_limit ? m.dex_target_limit->ToString() : ""};
  }
  Json operator()(const ModifyLimitSwapMemo& m) const {
    return {"modify", m.source.ToString(), m.target.ToString(),
            m.modified_target_amount.ToString()};
  }
  Json operator()(const OutboundMemo& m) const { return {"outbound", m.tx_id.ToString()}; }
  Json operator()(const RefundMemo& m) const { return {"refund", m.tx_id.ToString()}; }
  Json operator()(const DonateMemo&) const { return {"donate"}; }
  Json operator()(const BondMemo& m) const {
    return {"bond", Text(m.node_address), Text(m.bond_provider_address),
            std::to_string(m.node_operator_fee)};
  }
  Json operator()(const UnbondMemo& m) const {
    return {"unbond", Text(m.node_address), m.amount.ToString(), Text(m.bond_provider_address)};
  }
  Json operator()(const RebondMemo& m) const {
    return {"rebond", Text(m.node_address), Text(m.new_bond_provider_address), m.amount.ToString()};
  }
  Json operator()(const LeaveMemo& m) const { return {"leave", Text(m.node_address)}; }
  Json operator()(const MaintMemo& m) const { return {"maint", Text(m.node_address)}; }
  Json operator()(const OperatorRotateMemo& m) const {
    return {"operator", Text(m.operator_address)};
  }
  Json operator()(const ReserveMemo&) const { return {"reserve"}; }
  Json operator()(const MigrateMemo& m) const {
    return {"migrate", std::to_string(m.block_height)};
  }
  Json operator()(const RagnarokMemo& m) const {
    return {"ragnarok", std::to_string(m.block_height)};
  }
  Json operator()(const NoOpMemo& m) const { return {"noop", EncodeBase64(m.action)}; }
  Json operator()(const ConsolidateMemo&) const { return {"consolidate"}; }
  Json operator()(const ManageTHORNameMemo& m) const {
    return {"name",
            EncodeBase64(m.name),
            m.chain.ToString(),
            m.address.ToString(),
            m.preferred_asset.ToString(),
            std::to_string(m.expire),
            Text(m.owner),
            std::to_string(m.preferred_asset_outbound_fee_multiplier)};
  }
  Json operator()(const TradeAccountDepositMemo& m) const { return {"trade+", Text(m.address)}; }
  Json operator()(const TradeAccountWithdrawalMemo& m) const {
    return {"trade-", m.address.ToString()};
  }
  Json operator()(const SecuredAssetDepositMemo& m) const { return {"secure+", Text(m.address)}; }
  Json operator()(const SecuredAssetWithdrawMemo& m) const {
    return {"secure-", m.address.ToString()};
  }
  Json operator()(const RunePoolDepositMemo&) const { return {"pool+"}; }
  Json operator()(const RunePoolWithdrawMemo& m) const {
    return {"pool-", m.basis_points.ToString(), m.affiliate_address.ToString(),
            m.affiliate_basis_points.ToString(), NameOf(m.affiliate_name)};
  }
  Json operator()(const ExecMemo& m) const {
    return {"exec", Text(m.contract_address), EncodeBase64(m.message)};
  }
  Json operator()(const SwitchMemo& m) const { return {"switch", Text(m.address)}; }
  Json operator()(const ReferenceWriteMemo& m) const {
    return {"reference", memo_.asset.ToString(), EncodeBase64(m.memo)};
  }
  Json operator()(const ReferenceReadMemo& m) const { return {"read", EncodeBase64(m.reference)}; }
  Json operator()(const TCYClaimMemo& m) const { return {"tcy", m.address.ToString()}; }
  Json operator()(const TCYStakeMemo&) const { return {"tcy+"}; }
  Json operator()(const TCYUnstakeMemo& m) const { return {"tcy-", m.basis_points.ToString()}; }

 private:
  std::string Text(const AccAddress& address) const { return address.ToString(network_); }

  const Memo& memo_;
  const Network& network_;
};

struct Case {
  const char* file;
  const Network& (*network)();
};

class MemoVectorsTest : public testing::TestWithParam<Case> {};

TEST_P(MemoVectorsTest, ParsesAsTheNodeDoes) {
  const Network& network = GetParam().network();
  int with_state = 0;
  int without_state = 0;
  for (const Json& vector :
       LoadVectors(std::string(THORCHAIN_MEMO_TESTDATA) + "/" + GetParam().file)) {
    const std::string text = FromBase64(vector.at("in").get<std::string>());
    const bool state = vector.at("op") == "memo";
    (state ? with_state : without_state) += 1;
    SCOPED_TRACE(vector.at("op").get<std::string>() + " " + Quote(text));

    FakeContext context(network);
    const MemoResult result =
        state ? ParseMemo(text, context, network) : ParseMemoWithoutState(text, network);
    EXPECT_EQ(Message(result.status), Base64Of(vector, "error"));
    EXPECT_EQ(static_cast<int>(result.memo.type), vector.at("type").get<int>());
    EXPECT_EQ(Json(context.calls), vector.at("calls"));
    const Json details = std::visit(Describe(result.memo, network), result.memo.details);
    EXPECT_EQ(details, vector.at("details"));
    EXPECT_EQ(result.memo.asset.ToString(), vector.at("asset").get<std::string>());
    if (vector.contains("text")) {
      EXPECT_EQ(result.memo.ToString(network), Base64Of(vector, "text"));
    }
    if (vector.contains("short")) {
      EXPECT_EQ(result.memo.ToShortString(network), Base64Of(vector, "short"));
    }
  }
  EXPECT_GT(with_state, 0);
  EXPECT_GT(without_state, 0);
}

INSTANTIATE_TEST_SUITE_P(Builds, MemoVectorsTest,
                         testing::Values(Case{"memos_mainnet.jsonl", &MainNet},
                                         Case{"memos_mocknet.jsonl", &MockNet}),
                         [](const auto& param) {
                           return param.index == 0 ? "MainNet" : "MockNet";
                         });

}  // namespace
}  // namespace blockreplay::keeper::thorchain
