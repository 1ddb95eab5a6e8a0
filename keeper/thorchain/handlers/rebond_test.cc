#include "keeper/thorchain/handlers/rebond.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "keeper/thorchain/empty_state_test_base.h"
#include "keeper/thorchain/state/bond_providers.h"
#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

using ::testing::HasSubstr;

// No recording has a successful one. The amounts are those that THORNode 3.17.0's regression suite
// node/rebond finds on the real node.
class RebondTest : public ::testing::Test, protected EmptyStateTestBase {
 protected:
  RebondTest() {
    SetBond(5'000'000'000'000);
    BondProviders providers;
    providers.node_address = operator_;
    AddProvider(&providers, operator_, 4'500'000'000'000);
    AddProvider(&providers, old_, 500'000'000'000);
    AddProvider(&providers, new_, 0);
    SetBondProviders(keeper_, context_, providers);
  }

  static void AddProvider(BondProviders* providers, const AccAddress& address, uint64_t bond) {
    BondProvider& provider = providers->providers.emplace_back();
    provider.bond_address = address;
    provider.bond = bond;
  }
  void SetBond(uint64_t bond) {
    NodeAccount node;
    node.node_address = operator_;
    node.status = NodeStatus::Standby;
    node.bond_address = Address(operator_.ToString(MockNet()));
    node.bond = bond;
    SetNodeAccount(keeper_, context_, node);
  }
  Error Rebond(const AccAddress& from, uint64_t amount) {
    MsgReBond message;
    message.tx_in.id = TxID(kBlankTxID);
    message.tx_in.from_address = Address(from.ToString(MockNet()));
    message.node_address = operator_;
    message.new_bond_provider_address = new_;
    message.amount = amount;
    message.signer = from;
    return HandleInternal(managers_, context_, message);
  }
  // In order; operator first.
  std::vector<uint64_t> Bonds() {
    const Result<BondProviders> providers = GetBondProviders(keeper_, context_, operator_);
    std::vector<uint64_t> bonds;
    for (const BondProvider& provider : providers->providers) {
      bonds.push_back(provider.bond.ToUint64());
    }
    return bonds;
  }

  const AccAddress operator_{std::string(20, 'd')};
  const AccAddress old_{std::string(20, 'f')};
  const AccAddress new_{std::string(20, 'g')};
  const AccAddress stranger_{std::string(20, 'w')};

  Managers managers_ = [this] {
    Managers managers;
    managers.keeper = &keeper_;
    return managers;
  }();
};

TEST_F(RebondTest, MovesAPart) {
  EXPECT_TRUE(Rebond(old_, 100'000'000'000).ok());
  EXPECT_EQ(Bonds(), (std::vector<uint64_t>{4'500'000'000'000, 400'000'000'000, 100'000'000'000}));
  ASSERT_EQ(events_.events().size(), 1U);
  EXPECT_EQ(events_.events()[0].type, "rebond");
}

TEST_F(RebondTest, RemovesWhoHasNothingLeft) {
  ASSERT_TRUE(Rebond(old_, 100'000'000'000).ok());
  // Fees came out of the bond in between.
  SetBond(4'999'996'000'000);
  EXPECT_TRUE(Rebond(old_, 0).ok());
  EXPECT_EQ(Bonds(), (std::vector<uint64_t>{4'499'996'400'000, 499'999'600'000}));
}

TEST_F(RebondTest, RefusesStrangersAndTheOperator) {
  EXPECT_THAT(Rebond(stranger_, 100'000'000'000).message(), HasSubstr("is not bonded with"));
  EXPECT_THAT(Rebond(operator_, 0).message(), HasSubstr("node account is not allowed to rebond"));
}

TEST_F(RebondTest, RefusesWhileHalted) {
  SetMimir(keeper_, context_, "HALTREBOND", 1);
  EXPECT_THAT(Rebond(old_, 0).message(), HasSubstr("has been disabled by mimir"));
  SetMimir(keeper_, context_, "HALTREBOND", 0);
  EXPECT_TRUE(Rebond(old_, 0).ok());
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain
