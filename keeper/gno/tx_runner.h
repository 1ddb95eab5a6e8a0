#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "keeper/gno/account.h"
#include "keeper/gno/check_memo.h"
#include "keeper/gno/context.h"
#include "keeper/gno/signature_verifier.h"
#include "keeper/gno/tx.h"

namespace blockreplay::keeper::gno {

enum class Mode : uint8_t {
  kDeliver,
  kCheck,     // also recheck, which the original treats alike
  kSimulate,  // verifies no signature, writes nothing
};

struct TxResult {
  Error error = Error::kNone;
  int64_t gas_wanted = 0;
  int64_t gas_used = 0;
  std::string log;  // for people, empty on success
  // A message is of a kind that has no native code; nothing else means anything then.
  bool not_native = false;
};

// Where and how a transaction runs.
struct TxEnvironment {
  Mode mode = Mode::kDeliver;
  std::string_view chain_id = {};
  int64_t height = 0;
  int64_t time = 0;  // seconds since the epoch
  // Consensus parameter; -1: unlimited.
  int64_t max_gas = -1;
  // EstimatedDepth of the state's tree.
  int64_t estimated_depth = 100;
  BlockState* state = nullptr;
  // kDeliver: what is left for the block.
  GasMeter* block_meter = nullptr;
  // kCheck, kSimulate: the meter that all transactions on this state share.
  GasMeter* shared_meter = nullptr;
  // kCheck; null: parameters are decoded for each transaction.
  CheckMemo* memo = nullptr;
  // With `memo`: also the fee collector's address comes from it. The original decodes the auth
  // parameters a second time for it.
  bool memo_fee_collector = false;
  // Null: VerifySignature.
  SignatureVerifier* signatures = nullptr;
};

struct TxRules {
  bool verify_genesis_signatures = true;
  // The recorder's stand-in for a governance call: a transaction whose memo is
  // `setparam <int64|string> <key> <value>` writes that parameter at its end (fixtures/gno/SPEC.md,
  // section 8).
  bool setparam_hook = false;
};

// Runs transactions as gno.land's application does (tm2/pkg/sdk, baseapp.go; gno.land/pkg/gnoland,
// app.go; tm2/pkg/sdk/auth, ante.go). Keeps its memory from one to the next, so that a steady
// stream of them allocates next to nothing. Not thread-safe.
class TxRunner {
 public:
  explicit TxRunner(TxRules rules);
  TxRunner(const TxRunner&) = delete;
  TxRunner& operator=(const TxRunner&) = delete;

  // Writes of the transaction go to the environment's state; of a failed one those of the ante
  // handler, if that passed.
  TxResult Run(std::string_view tx_bytes, const TxEnvironment& environment);

 private:
  Error RunStages();
  Error PrepareParams();
  void CreateGenesisSigners();
  Error Ante();
  Error CheckMempoolFee();
  Error CheckBasics();
  Error ResolveSigners();
  Error ChargeFee();
  Error VerifySigners();
  Error CheckSessions();
  void ConsumeSignatureGas(const PubKey& key, std::string_view signature);
  Error RunMsg(const Msg& msg);
  Error Send(const Msg& msg);
  void RunSetparamHook();

  // The session that signs for an address, null if it signs itself.
  Account* SessionOf(const Address& signer);

  const TxRules rules_;
  Scratch scratch_;
  TxState state_;
  Tx tx_;
  std::string sign_bytes_;
  std::string log_;

  // Of the transaction that runs.
  const TxEnvironment* environment_ = nullptr;
  std::string_view tx_bytes_;
  GasMeter outer_meter_ = GasMeter::Infinite();
  GasMeter tx_meter_ = GasMeter::Infinite();
  GasMeter* outer_ = nullptr;
  // The meter whose consumption is the result: the outer one until the ante handler has passed.
  GasMeter* current_ = nullptr;
  int64_t gas_wanted_ = 0;
  bool checkpointed_ = false;
  Context context_;
  AuthParams auth_;
  std::shared_ptr<const CheckMemo::Entry> memo_entry_;
  absl::InlinedVector<Address, 2> signers_;
  std::vector<Account> accounts_;                 // by signer
  std::vector<std::optional<Account>> sessions_;  // by signer
};

}  // namespace blockreplay::keeper::gno
