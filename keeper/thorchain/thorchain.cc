#include "keeper/thorchain/thorchain.h"

#include <set>
#include <string>
#include <utility>

#include "google/protobuf/any.pb.h"
#include "keeper/sdk/auth.h"
#include "keeper/sdk/bank.h"
#include "keeper/sdk/tx_runner.h"
#include "keeper/thorchain/ante.h"
#include "keeper/thorchain/bech32_addresses.h"
#include "keeper/thorchain/begin_block.h"
#include "keeper/thorchain/describe_tx.h"
#include "keeper/thorchain/handlers/register.h"
#include "keeper/thorchain/managers.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/state_schema.h"
#include "types/records.pb.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Modules don't take funds from other modules' payments to accounts, except these two.
std::set<std::string, std::less<>> BlockedAddresses(const sdk::AuthKeeper& auth) {
  std::set<std::string, std::less<>> blocked;
  for (const auto& [module, permissions] : ModulePermissions()) {
    if (module != kLendingModule && module != kTreasuryModule) {
      blocked.insert(auth.ModuleAddress(module));
    }
  }
  return blocked;
}

class Thorchain : public keeper::Chain, private sdk::TxApplication {
 public:
  Thorchain(Build build, std::string chain_id)
      : build_(std::move(build)),
        addresses_(build_.network),
        auth_(kAccStore, &addresses_, ModulePermissions()),
        bank_(kBankStore, &auth_, BlockedAddresses(auth_)),
        keeper_{&build_, &addresses_, &auth_, &bank_},
        runner_(this, &addresses_, kConsensusStore) {
    managers_.keeper = &keeper_;
    block_.chain_id = std::move(chain_id);
    RegisterHandlers(&managers_, &router_);
  }

  const std::vector<std::string>& store_names() const override { return StoreNames(); }

  absl::Status StartBlock(const tendermint::abci::RequestFinalizeBlock& request) override {
    block_.height = request.height();
    block_.time_seconds = request.time().seconds();
    block_.time_nanos = request.time().nanos();
    block_.request = &request;
    // The test build's clock in begin and end block.
    module_block_ = block_;
    if (build_.regtest) {
      module_block_.time_seconds = block_.height;
      module_block_.time_nanos = 0;
    }
    managers_.observers.clear();
    managers_.out_asset_gas.clear();
    managers_.gas_counts.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<PhaseResult> BeginBlock(sdk::MultiStore* state) override {
    return RunModules(state, "BeginBlock",
                      [this](const Context& ctx) { thorchain::BeginBlock(managers_, ctx); });
  }

  absl::StatusOr<PhaseResult> DeliverTx(int index, sdk::MultiStore* state) override {
    return Guard([&] { return runner_.Run(block_.request->txs(index), block_, state); });
  }

  absl::StatusOr<PhaseResult> EndBlock(sdk::MultiStore*) override {
    return absl::UnimplementedError("end blocks");
  }

  std::string DescribeTx(std::string_view tx) const override { return thorchain::DescribeTx(tx); }
  std::string DescribeKey(std::string_view store, std::string_view key) const override {
    return DescribeStoredKey(store, key);
  }
  std::string DescribeValue(std::string_view store, std::string_view key,
                            std::string_view value) const override {
    return DescribeStoredValue(store, key, value);
  }

 private:
  template <typename Run>
  static absl::StatusOr<PhaseResult> Guard(Run&& run) {
    try {
      return run();
    } catch (const sdk::NotNative& missing) {
      return absl::UnimplementedError(missing.what());
    } catch (const sdk::StorageFailure& failure) {
      return failure.status();
    }
  }

  // A panic in begin or end block would stop the node.
  template <typename Run>
  absl::StatusOr<PhaseResult> RunModules(sdk::MultiStore* state, std::string_view mode, Run&& run) {
    return Guard([&]() -> absl::StatusOr<PhaseResult> {
      sdk::GasMeter meter = sdk::GasMeter::Infinite();
      sdk::EventManager events;
      try {
        run(Context(&module_block_, state, &meter, &events));
      } catch (const sdk::Panic& panic) {
        return absl::InternalError(sdk::StrCat("height ", block_.height, ", ", mode,
                                               ": the state transition panics: ", panic.message()));
      }
      PhaseResult result;
      result.events = events.Take();
      for (sdk::Event& event : result.events) event.Add("mode", mode);
      return result;
    });
  }

  // sdk::TxApplication: the SDK's form, then the envelope of what proposers inject.
  sdk::Result<sdk::Tx> Decode(std::string_view bytes) const override {
    sdk::Result<sdk::Tx> tx = sdk::DecodeTx(bytes, router_);
    if (tx.ok()) return tx;
    // Unlike protobuf's library, the node's decoder refuses known fields of another wire type.
    InjectTx strict;
    if (!keeper::thorchain::Decode(bytes, &strict)) return tx;
    ::types::InjectTx envelope;
    if (!envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return tx;
    sdk::Tx injected;
    injected.injected = true;
    if (!sdk::UnpackMessages(envelope.messages(), router_, &injected)) return tx;
    return injected;
  }
  Error Ante(const sdk::Tx& tx, sdk::GasMeter* tx_meter, Context* context) const override {
    return RunAnte(keeper_, tx, tx_meter, context);
  }

  const Build build_;
  Bech32Addresses addresses_;
  sdk::AuthKeeper auth_;
  sdk::BankKeeper bank_;
  Keeper keeper_;
  Managers managers_;
  sdk::MessageRouter router_;
  sdk::TxRunner runner_;
  sdk::BlockInfo block_;
  sdk::BlockInfo module_block_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<keeper::Chain>> NewThorchain(const ChainSpec& spec) {
  absl::StatusOr<Build> build = Build::Make(spec.version, spec.build_tags, spec.constants_version,
                                            RegressionSuiteEnvironment(spec.suite));
  if (!build.ok()) return build.status();
  return std::make_unique<Thorchain>(*std::move(build), spec.chain_id);
}

}  // namespace blockreplay::keeper::thorchain
