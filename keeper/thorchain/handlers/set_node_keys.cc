#include "keeper/thorchain/handlers/set_node_keys.h"

#include "keeper/thorchain/handlers/node_auth.h"
#include "keeper/thorchain/state/node_accounts.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Neither the consensus key nor one of the others belongs to a node already. Reads all accounts.
Error CheckKeysUnused(const Keeper& k, const Context& ctx, const MsgSetNodeKeys& message) {
  if (IsBlank(message.validator_cons_pub_key)) {
    return Error::New("KVStore Error: Validator Consensus Key cannot be empty");
  }
  if (message.pub_key_set_set.IsEmpty())
    return Error::New("KVStore Error: PubKeySet cannot be empty");
  for (sdk::GasIterator it = k.kv(ctx).IteratePrefix(kNodeAccountPrefix); it.Valid(); it.Next()) {
    const SharedNodeAccount account = DecodeNodeAccount(it.value());
    if (account == nullptr) return Error::New("KVStore Error: Unmarshal: node account");
    if (account->validator_cons_pub_key == message.validator_cons_pub_key) {
      return Error::New(
          sdk::StrCat("KVStore Error: ", account->validator_cons_pub_key, " already exist"));
    }
    if (account->pub_key_set.Contains(message.pub_key_set_set.secp256k1) ||
        account->pub_key_set.Contains(message.pub_key_set_set.ed25519)) {
      return Error::New(
          sdk::StrCat("KVStore Error: ", message.pub_key_set_set.ToString(), " already exist"));
    }
  }
  return {};
}

Error CheckMaySetKeys(const Keeper& k, const Context& ctx, const AccAddress& signer) {
  const std::string text = signer.ToString(k.network());
  const Result<SharedNodeAccount> account = ReadNodeAccount(k, ctx, signer);
  if (!account.ok()) {
    return Error(sdk::kErrUnauthorized,
                 sdk::StrCat("fail to get node account(", text, "):", account.error().message()));
  }
  if ((*account)->node_address.IsEmpty() || (*account)->status == NodeStatus::Unknown) {
    return Error(sdk::kErrUnauthorized, sdk::StrCat("unauthorized account(", text, ")"));
  }
  if ((*account)->status == NodeStatus::Active) {
    return Error::New(sdk::StrCat("node ", text, " is active, so it can't update itself"));
  }
  if ((*account)->status == NodeStatus::Disabled) {
    return Error::New(sdk::StrCat("node ", text, " is disabled, so it can't update itself"));
  }
  if (!(*account)->pub_key_set.IsEmpty()) {
    return Error::New(sdk::StrCat("node ", text, " already has pubkey set assigned"));
  }
  return {};
}

class SetNodeKeysHandler : public Handler<MsgSetNodeKeys> {
 public:
  explicit SetNodeKeysHandler(Managers* managers) : Handler("/types.MsgSetNodeKeys", managers) {}

 protected:
  Error ValidateBasic(const MsgSetNodeKeys& message) const override {
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    if (const auto key = PubKey::DecodeConsensus(message.validator_cons_pub_key, k().network());
        !key.ok()) {
      return Error(sdk::kErrUnknownRequest, std::string(key.status().message()));
    }
    if (message.pub_key_set_set.IsEmpty())
      return Error(sdk::kErrUnknownRequest, "node pub keys cannot be empty");
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgSetNodeKeys& message) const override {
    return {message.signer};
  }
  Error Ante(const Context& ctx, const MsgSetNodeKeys& message) const override {
    KEEPER_RETURN_IF_ERROR(CheckMaySetKeys(k(), ctx, message.signer));
    return DeductNativeTxFeeFromBond(k(), ctx, message.signer);
  }
  Error Validate(const Context& ctx, const MsgSetNodeKeys& message) const override {
    KEEPER_RETURN_IF_ERROR(ValidateBasic(message));
    KEEPER_RETURN_IF_ERROR(CheckMaySetKeys(k(), ctx, message.signer));
    KEEPER_RETURN_IF_ERROR(CheckKeysUnused(k(), ctx, message));
    const auto address = message.pub_key_set_set.secp256k1.GetThorAddress(k().network());
    if (!address.ok()) return Error::New(std::string(address.status().message()));
    if (*address != message.signer) return Error::New("node address must match secp256k1 pubkey");
    return {};
  }
  Error Run(const Context& ctx, const MsgSetNodeKeys& message) const override {
    KEEPER_ASSIGN_OR_RETURN(NodeAccount account, GetNodeAccount(k(), ctx, message.signer));
    UpdateStatus(&account, NodeStatus::Standby, ctx.height());
    account.pub_key_set = message.pub_key_set_set;
    account.validator_cons_pub_key = message.validator_cons_pub_key;
    SetNodeAccount(k(), ctx, account);
    ctx.events().Emit(sdk::Event(
        "set_node_keys", {{"node_address", message.signer.ToString(k().network())},
                          {"node_secp256k1_pubkey", message.pub_key_set_set.secp256k1.ToString()},
                          {"node_ed25519_pubkey", message.pub_key_set_set.ed25519.ToString()},
                          {"validator_consensus_pub_key", message.validator_cons_pub_key}}));
    return {};
  }
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewSetNodeKeysHandler(Managers* managers) {
  return std::make_unique<SetNodeKeysHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
