#include "keeper/gno/tx_runner.h"

#include <algorithm>
#include <charconv>

#include "keeper/gno/auth.h"
#include "keeper/gno/bank.h"
#include "keeper/gno/session.h"
#include "keeper/sdk/panic.h"

namespace blockreplay::keeper::gno {
namespace {

constexpr int64_t kMaxGasWanted = (int64_t{1} << 60) - 1;
constexpr int64_t kGenesisSignerFunding = 10'000'000'000;
constexpr size_t kMaxAllowPaths = 8;

// What a message says about itself, without the state.
Error ValidateMsg(const Msg& msg, const Context& context) {
  switch (msg.type) {
    case Msg::Type::kNil:
      throw sdk::Panic("invalid memory address or nil pointer dereference");
    case Msg::Type::kSend:
      if (msg.signer.is_zero())
        return context.Fail(Error::kInvalidAddress, "missing sender address");
      if (msg.to.is_zero())
        return context.Fail(Error::kInvalidAddress, "missing recipient address");
      if (!msg.coins.IsValid()) return context.Fail(Error::kInvalidCoins, "invalid amount");
      if (!msg.coins.IsAllPositive())
        return context.Fail(Error::kInsufficientCoins, "send amount must be positive");
      return Error::kNone;
    case Msg::Type::kCreateSession:
    case Msg::Type::kRevokeSession:
    case Msg::Type::kRevokeAllSessions:
      if (msg.signer.is_zero())
        return context.Fail(Error::kInvalidAddress, "missing creator address");
      if (msg.type != Msg::Type::kRevokeAllSessions && msg.session_key.is_none())
        return context.Fail(Error::kInvalidPubKey, "missing session key");
      if (msg.type != Msg::Type::kCreateSession) return Error::kNone;
      if (msg.expires_at < 0)
        return context.Fail(Error::kUnauthorized, "expires_at must be non-negative");
      if (msg.spend_period < 0)
        return context.Fail(Error::kUnauthorized, "spend_period must be non-negative");
      if (msg.allow_paths.size() > kMaxAllowPaths)
        return context.Fail(Error::kUnauthorized, "too many allow_paths");
      if (!msg.coins.IsValid())
        return context.Fail(Error::kInvalidCoins, "invalid spend_limit coins");
      return Error::kNone;
    case Msg::Type::kVm:
      break;
  }
  return Error::kNone;
}

}  // namespace

TxRunner::TxRunner(TxRules rules) : rules_(rules), state_(&scratch_) {}

TxResult TxRunner::Run(std::string_view tx_bytes, const TxEnvironment& environment) {
  TxResult result;
  environment_ = &environment;
  tx_bytes_ = tx_bytes;
  const bool deliver = environment.mode == Mode::kDeliver;
  if (deliver) {
    if (environment.block_meter->IsOutOfGas()) {
      result.error = Error::kOutOfGas;
      result.log = "no block gas left to run tx";
      return result;
    }
    outer_meter_ = GasMeter::Limited(environment.block_meter->remaining());
    outer_ = &outer_meter_;
  } else {
    outer_ = environment.shared_meter;
  }
  current_ = outer_;
  gas_wanted_ = 0;
  checkpointed_ = false;
  log_.clear();
  scratch_.Reset();
  state_.Reset(environment.state);
  context_ = {.state = &state_,
              .scratch = &scratch_,
              .payer = {},
              .chain_id = environment.chain_id,
              .height = environment.height,
              .time = environment.time,
              .log = &log_};

  const auto guarded = [&](auto&& step) {
    try {
      return step();
    } catch (const sdk::OutOfGas& out_of_gas) {
      return context_.Fail(Error::kOutOfGas, out_of_gas.message());
    } catch (const sdk::Panic& panic) {
      return context_.Fail(Error::kInternal, panic.message());
    }
  };
  result.error = guarded([&] { return RunStages(); });
  if (std::any_of(tx_.msgs.begin(), tx_.msgs.end(),
                  [](const Msg& msg) { return msg.type == Msg::Type::kVm; }) &&
      result.error != Error::kTxDecode) {
    result.not_native = true;
    return result;
  }
  // Of a transaction that failed after its ante handler, fee and sequence stay.
  if (checkpointed_ && result.error != Error::kNone) {
    state_.RevertToCheckpoint();
    if (deliver) state_.Flush();
  }
  if (deliver) {
    const Error over = guarded([&] {
      environment.block_meter->Consume(current_->consumed_to_limit(), "block gas meter");
      return Error::kNone;
    });
    // Writes stay all the same.
    if (over != Error::kNone) result.error = over;
  }
  result.gas_wanted = gas_wanted_;
  result.gas_used = current_->consumed();
  if (result.error != Error::kNone) result.log = log_;
  return result;
}

Error TxRunner::RunStages() {
  if (!tx_.Decode(tx_bytes_, &scratch_)) {
    tx_.msgs.clear();
    return context_.Fail(Error::kTxDecode, "transaction is not what amino encodes");
  }
  if (tx_.msgs.empty()) return context_.Fail(Error::kUnknownRequest, "no messages");
  for (const Msg& msg : tx_.msgs) {
    if (msg.type == Msg::Type::kVm) return Error::kUnknownRequest;  // reported as not native
    const Error error = ValidateMsg(msg, context_);
    if (error != Error::kNone) return error;
  }

  if (const Error error = PrepareParams(); error != Error::kNone) return error;
  if (const Error error = Ante(); error != Error::kNone) return error;
  // Until here everything counts on the outer meter; what the ante handler used is not reported
  // unless it passes.
  current_ = &tx_meter_;
  gas_wanted_ = tx_.gas_wanted;
  if (environment_->mode == Mode::kCheck) {
    state_.Flush();
    return Error::kNone;
  }

  state_.Checkpoint();
  checkpointed_ = true;
  for (const Msg& msg : tx_.msgs) {
    const Error error = RunMsg(msg);
    if (error != Error::kNone) return error;
  }
  if (environment_->mode == Mode::kDeliver) {
    RunSetparamHook();
    state_.Flush();
  }
  return Error::kNone;
}

Error TxRunner::PrepareParams() {
  memo_entry_.reset();
  CheckMemo* const memo = environment_->mode == Mode::kCheck ? environment_->memo : nullptr;
  if (memo != nullptr) memo_entry_ = memo->Find(environment_->height);
  if (memo_entry_ != nullptr) {
    auth_ = memo_entry_->auth;
    context_.payer.costs = memo_entry_->costs;
    outer_->Consume(memo_entry_->vm_params_gas, "DepthReadFlat");
  } else {
    auth_ = ReadAuthParams(&state_);
    const int64_t before = outer_->consumed();
    const DepthParams depths = ReadVmParams(
        &state_, {outer_, StoreCosts::From(DepthParams(), environment_->estimated_depth)});
    context_.payer.costs = StoreCosts::From(depths, environment_->estimated_depth);
    if (memo != nullptr) {
      memo->Store({environment_->height, auth_, context_.payer.costs, outer_->consumed() - before});
    }
  }
  signers_.clear();
  for (const Msg& msg : tx_.msgs) {
    if (std::find(signers_.begin(), signers_.end(), msg.signer) == signers_.end())
      signers_.push_back(msg.signer);
  }
  context_.payer.meter = outer_;
  if (environment_->height == 0) CreateGenesisSigners();
  return Error::kNone;
}

// So that packages whose creator has no account can be deployed at genesis.
void TxRunner::CreateGenesisSigners() {
  for (const Address& signer : signers_) {
    if (LoadAccount(context_, signer).has_value()) continue;
    StoreAccount(context_, NewAccount(context_, signer));
    MintCoins(context_, signer, {kNativeDenom, kGenesisSignerFunding});
  }
}

Error TxRunner::Ante() {
  if (environment_->max_gas != -1 && environment_->max_gas < tx_.gas_wanted)
    return context_.Fail(Error::kInvalidGasWanted, "invalid gas-wanted");
  if (environment_->mode == Mode::kCheck) {
    if (const Error error = CheckMempoolFee(); error != Error::kNone) return error;
  }
  tx_meter_ = environment_->height == 0 ? GasMeter::Infinite() : GasMeter::Limited(tx_.gas_wanted);
  context_.payer.meter = &tx_meter_;
  if (const Error error = CheckBasics(); error != Error::kNone) return error;
  if (const Error error = ResolveSigners(); error != Error::kNone) return error;
  if (const Error error = ChargeFee(); error != Error::kNone) return error;
  if (const Error error = VerifySigners(); error != Error::kNone) return error;
  return CheckSessions();
}

// The fee per gas against the price of the last block. Not part of consensus.
Error TxRunner::CheckMempoolFee() {
  const std::optional<std::string_view> bytes = state_.Get(kGasPriceKey, Payer());
  if (!bytes.has_value()) return Error::kNone;
  const std::optional<GasPrice> price = GasPrice::Decode(*bytes);
  if (!price.has_value()) throw sdk::Panic("stored gas price is malformed");
  const Coin required{price->denom, price->amount};
  if (!required.IsValid() || required.amount == 0) return Error::kNone;
  if (tx_.gas_fee.denom != required.denom)
    return context_.Fail(Error::kInsufficientFee, "fee is not in the denomination of the price");
  if (tx_.gas_wanted == 0 || price->gas == 0)
    return context_.Fail(Error::kInsufficientFee, "gas of a gas price cannot be zero");
  const __int128 paid = static_cast<__int128>(tx_.gas_fee.amount) * price->gas;
  const __int128 asked = static_cast<__int128>(tx_.gas_wanted) * required.amount;
  if (paid < asked)
    return context_.Fail(Error::kInsufficientFee, "fee is below the gas price of the last block");
  return Error::kNone;
}

Error TxRunner::CheckBasics() {
  int64_t signature_count = 0;
  for (const Signature& signature : tx_.signatures) {
    signature_count += signature.pub_key.CountSubKeys();
    if (signature_count > auth_.tx_sig_limit)
      return context_.Fail(Error::kTooManySignatures, "too many signatures");
  }
  if (tx_.gas_wanted > kMaxGasWanted)
    return context_.Fail(Error::kGasOverflow, "invalid gas supplied");
  if (!tx_.gas_fee.IsValid())
    return context_.Fail(Error::kInsufficientFee, "invalid fee amount provided");
  if (tx_.signatures.empty()) return context_.Fail(Error::kNoSignatures, "no signers");
  if (tx_.signatures.size() != signers_.size())
    return context_.Fail(Error::kUnauthorized, "wrong number of signers");
  // Wraps as the original's multiplication does.
  tx_meter_.Consume(
      static_cast<int64_t>(static_cast<uint64_t>(auth_.tx_size_cost_per_byte) * tx_bytes_.size()),
      "txSize");
  if (static_cast<int64_t>(tx_.memo.size()) > auth_.max_memo_bytes)
    return context_.Fail(Error::kMemoTooLarge, "memo is too large");
  return Error::kNone;
}

Error TxRunner::ResolveSigners() {
  accounts_.clear();
  sessions_.clear();
  for (size_t i = 0; i < signers_.size(); ++i) {
    std::optional<Account> account = LoadAccount(context_, signers_[i]);
    if (!account.has_value())
      return context_.Fail(Error::kUnknownAddress, "account does not exist");
    accounts_.push_back(*std::move(account));
    std::optional<Account>& session = sessions_.emplace_back();
    if (tx_.signatures[i].session.is_zero()) continue;
    session = LoadSession(context_, signers_[i], tx_.signatures[i].session);
    if (!session.has_value()) return context_.Fail(Error::kUnauthorized, "unknown session");
    if (session->expires_at > 0 && environment_->time >= session->expires_at)
      return context_.Fail(Error::kSessionExpired, "session expired");
  }
  return Error::kNone;
}

Account* TxRunner::SessionOf(const Address& signer) {
  for (size_t i = 0; i < signers_.size(); ++i) {
    if (signers_[i] == signer) return sessions_[i].has_value() ? &*sessions_[i] : nullptr;
  }
  return nullptr;
}

Error TxRunner::ChargeFee() {
  const bool has_fee = tx_.gas_fee.amount != 0;
  if (sessions_[0].has_value()) {
    // All that the transaction declares must fit before anything is taken, so that a session can't
    // burn its account's fees with transactions that are bound to fail.
    Coins total;
    if (has_fee) total = total.Add(Coins(tx_.gas_fee));
    for (const Msg& msg : tx_.msgs) {
      if (msg.type == Msg::Type::kSend && msg.signer == signers_[0]) total = total.Add(msg.coins);
    }
    if (const Error error = CheckSpend(context_, *sessions_[0], total); error != Error::kNone)
      return error;
  }
  if (!has_fee) return Error::kNone;
  const Coins fee(tx_.gas_fee);
  if (sessions_[0].has_value()) {
    if (const Error error = DeductSpend(context_, &*sessions_[0], fee); error != Error::kNone)
      return error;
  }
  Address collector = auth_.fee_collector;
  if (environment_->mode == Mode::kCheck &&
      (memo_entry_ == nullptr || !environment_->memo_fee_collector)) {
    collector = ReadFeeCollector(&state_);
  }
  if (collector.is_zero()) throw sdk::Panic("empty `fee_collector` param value");
  if (!fee.IsValid()) return context_.Fail(Error::kInsufficientFee, "invalid fee amount");
  if (BalanceOf(context_, signers_[0], tx_.gas_fee.denom) < tx_.gas_fee.amount)
    return context_.Fail(Error::kInsufficientFunds, "insufficient funds to pay for fees");
  // The payer as stored after the fee was taken.
  std::optional<Account> payer;
  if (const Error error = SubtractCoins(context_, signers_[0], fee, Vesting::kIgnored, &payer);
      error != Error::kNone) {
    return error;
  }
  AddCoins(context_, collector, fee);
  if (collector == signers_[0]) payer = LoadAccount(context_, signers_[0]);
  accounts_[0] = *std::move(payer);
  return Error::kNone;
}

Error TxRunner::VerifySigners() {
  const bool genesis = environment_->height == 0;
  if (genesis && !rules_.verify_genesis_signatures) return Error::kNone;
  for (size_t i = 0; i < signers_.size(); ++i) {
    const Signature& signature = tx_.signatures[i];
    Account& account = sessions_[i].has_value() ? *sessions_[i] : accounts_[i];
    if (!signature.pub_key.is_none()) {
      if (account.pub_key.is_none()) {
        // The address of a session was made from its key when it was created.
        if (!sessions_[i].has_value() && signature.pub_key.ToAddress() != account.address)
          return context_.Fail(Error::kInvalidPubKey, "public key does not match signer address");
        account.pub_key = signature.pub_key;
      } else if (signature.pub_key.any != account.pub_key.any) {
        return context_.Fail(Error::kUnauthorized, "public key is not the account's");
      }
    }
    if (account.pub_key.is_none())
      return context_.Fail(Error::kInvalidPubKey, "public key not found");
    tx_.SignBytes(environment_->chain_id, genesis ? 0 : account.number,
                  genesis ? 0 : account.sequence, &sign_bytes_);
    if (account.pub_key.kind == PubKey::Kind::kMock)
      return context_.Fail(Error::kInvalidPubKey, "unrecognized public key type");
    ConsumeSignatureGas(account.pub_key, signature.signature);
    if (environment_->mode != Mode::kSimulate) {
      const bool valid =
          environment_->signatures != nullptr
              ? environment_->signatures->Verify(account.pub_key, sign_bytes_, signature.signature)
              : VerifySignature(account.pub_key, sign_bytes_, signature.signature);
      if (!valid) return context_.Fail(Error::kUnauthorized, "signature verification failed");
    }
    ++account.sequence;
    if (sessions_[i].has_value()) {
      StoreSession(context_, signers_[i], account);
    } else {
      StoreAccount(context_, account);
    }
  }
  return Error::kNone;
}

// A multisig pays for each member that signed. What is no key that can sign costs nothing here.
void TxRunner::ConsumeSignatureGas(const PubKey& key, std::string_view signature) {
  switch (key.kind) {
    case PubKey::Kind::kEd25519:
      tx_meter_.Consume(auth_.sig_verify_cost_ed25519, "ante verify: ed25519");
      break;
    case PubKey::Kind::kSecp256k1:
      tx_meter_.Consume(auth_.sig_verify_cost_secp256k1, "ante verify: secp256k1");
      break;
    case PubKey::Kind::kMultisig: {
      const std::optional<Multisignature> parsed = Multisignature::Parse(signature);
      if (!parsed.has_value()) throw sdk::Panic("multisignature is malformed");
      const MultisigKey multisig = MultisigKey::From(key);
      size_t next = 0;
      for (int64_t i = 0; i < parsed->size(); ++i) {
        if (!parsed->Has(i)) continue;
        if (next >= parsed->signatures.size() ||
            static_cast<size_t>(i) >= multisig.members.size()) {
          throw sdk::Panic("index out of range");
        }
        ConsumeSignatureGas(multisig.members[static_cast<size_t>(i)], parsed->signatures[next]);
        ++next;
      }
      break;
    }
    case PubKey::Kind::kMock:
    case PubKey::Kind::kNone:
      break;
  }
}

Error TxRunner::CheckSessions() {
  for (const Msg& msg : tx_.msgs) {
    const Account* const session = SessionOf(msg.signer);
    if (session == nullptr) continue;
    if (const Error error = CheckAllowed(context_, *session, msg); error != Error::kNone)
      return error;
  }
  return Error::kNone;
}

Error TxRunner::RunMsg(const Msg& msg) {
  switch (msg.type) {
    case Msg::Type::kSend:
      return Send(msg);
    case Msg::Type::kCreateSession:
      return CreateSession(context_, msg);
    case Msg::Type::kRevokeSession:
      return RevokeSession(context_, msg);
    case Msg::Type::kRevokeAllSessions:
      return RevokeAllSessions(context_, msg);
    case Msg::Type::kVm:
    case Msg::Type::kNil:
      break;
  }
  return Error::kUnknownRequest;
}

Error TxRunner::Send(const Msg& msg) {
  if (IsRestricted(context_, msg.signer, msg.coins))
    return context_.Fail(Error::kRestrictedTransfer, "restricted token transfer");
  if (Account* const session = SessionOf(msg.signer); session != nullptr) {
    if (const Error error = DeductSpend(context_, session, msg.coins); error != Error::kNone)
      return error;
    StoreSession(context_, msg.signer, *session);
  }
  if (const Error error =
          SubtractCoins(context_, msg.signer, msg.coins, Vesting::kEnforced, nullptr);
      error != Error::kNone) {
    return error;
  }
  AddCoins(context_, msg.to, msg.coins);
  return Error::kNone;
}

void TxRunner::RunSetparamHook() {
  constexpr std::string_view kVerb = "setparam ";
  if (!rules_.setparam_hook || tx_.memo.substr(0, kVerb.size()) != kVerb) return;
  std::string_view rest = tx_.memo.substr(kVerb.size());
  std::string_view words[2];
  for (std::string_view& word : words) {
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) return;
    word = rest.substr(0, space);
    rest.remove_prefix(space + 1);
  }
  std::string json;
  if (words[0] == "int64") {
    json.append("\"").append(rest).append("\"");
  } else {
    AppendJsonString(rest, &json);
  }
  const std::string key = ParamKey(words[1]);
  state_.Set(key, scratch_.Copy(json), Payer());
}

}  // namespace blockreplay::keeper::gno
