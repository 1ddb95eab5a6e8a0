#include "keeper/thorchain/ante.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "absl/strings/escaping.h"
#include "keeper/sdk/int.h"
#include "keeper/sdk/pub_key.h"
#include "keeper/thorchain/amino_json.h"
#include "keeper/thorchain/modules.h"
#include "keeper/thorchain/textual.h"

namespace blockreplay::keeper::thorchain {
namespace {

using cosmos::crypto::multisig::v1beta1::CompactBitArray;
using cosmos::tx::signing::v1beta1::SignMode;
using cosmos::tx::v1beta1::ModeInfo;
using sdk::PubKey;

constexpr std::array<std::string_view, 5> kInjectedOnly{
    "/types.MsgObservedTxQuorum", "/types.MsgNetworkFeeQuorum", "/types.MsgSolvencyQuorum",
    "/types.MsgErrataTxQuorum", "/types.MsgPriceFeedQuorumBatch"};

bool IsInjectedOnly(std::string_view type_url) {
  return std::find(kInjectedOnly.begin(), kInjectedOnly.end(), type_url) != kInjectedOnly.end();
}

std::string BigEndian(uint64_t value, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = size; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value);
  return bytes;
}

// The position of the transaction in its block, which CosmWasm shows to contracts: height and next
// position.
void CountTransaction(const Context& ctx) {
  constexpr std::string_view kKey = "\x08";
  const sdk::KVStore store = ctx.kv(kWasmStore);
  const std::string height = BigEndian(static_cast<uint64_t>(ctx.height()), 8);
  uint64_t count = 0;
  if (const std::optional<std::string_view> bytes = store.Get(kKey)) {
    if (bytes->size() < 12) throw sdk::Panic("runtime error: slice bounds out of range");
    if (bytes->substr(0, 8) == height) {
      for (const char c : bytes->substr(8, 4)) count = count << 8 | static_cast<uint8_t>(c);
    }
  }
  store.Set(kKey, height + BigEndian(count + 1, 4));
}

// A signature as the SDK unpacks it from its mode and raw bytes.
struct Signature {
  // kNone: one of several without a mode.
  enum class Kind : uint8_t { kNone, kSingle, kMulti };

  Kind kind = Kind::kNone;
  SignMode mode{};                        // single
  std::string bytes;                      // single
  const CompactBitArray* bits = nullptr;  // multi: which keys signed
  std::vector<Signature> parts;           // multi
};

// Nothing where the SDK returns an error.
std::optional<std::vector<std::string>> DecodeMultiSignature(std::string_view bytes) {
  std::vector<std::string> signatures;
  sdk::WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    sdk::WireType type{};
    // Unknown fields are rejected.
    if (!r.Tag(&number, &type) || number != 1 || !ReadRepeatedText(&r, type, &signatures)) {
      return std::nullopt;
    }
  }
  return signatures;
}

std::optional<Signature> UnpackSignature(const ModeInfo& mode, std::string_view bytes, int depth) {
  constexpr int kDeepest = 16;
  Signature signature;
  if (mode.has_single()) {
    signature.kind = Signature::Kind::kSingle;
    signature.mode = mode.single().mode();
    signature.bytes = bytes;
    return signature;
  }
  if (!mode.has_multi() || depth > kDeepest) throw sdk::Panic("unexpected ModeInfo data type");
  signature.kind = Signature::Kind::kMulti;
  signature.bits = &mode.multi().bitarray();
  const std::optional<std::vector<std::string>> parts = DecodeMultiSignature(bytes);
  if (!parts) return std::nullopt;
  if (static_cast<size_t>(mode.multi().mode_infos_size()) > parts->size()) {
    throw sdk::Panic("runtime error: index out of range");
  }
  for (int i = 0; i < mode.multi().mode_infos_size(); ++i) {
    std::optional<Signature> part =
        UnpackSignature(mode.multi().mode_infos(i), (*parts)[static_cast<size_t>(i)], depth + 1);
    if (!part) return std::nullopt;
    signature.parts.push_back(*std::move(part));
  }
  signature.parts.resize(parts->size());
  return signature;
}

// Bits that the array says it has. It may say anything.
int64_t BitCount(const CompactBitArray& bits) {
  const auto elements = static_cast<int64_t>(bits.elems().size());
  if (bits.extra_bits_stored() == 0) return elements * 8;
  return (elements - 1) * 8 + int64_t{bits.extra_bits_stored()};
}

bool BitAt(const CompactBitArray& bits, int64_t i) {
  if (i < 0 || i >= BitCount(bits)) return false;
  if (static_cast<size_t>(i) / 8 >= bits.elems().size()) {
    throw sdk::Panic("runtime error: index out of range");
  }
  const auto byte = static_cast<uint8_t>(bits.elems()[static_cast<size_t>(i) / 8]);
  return (byte >> (7 - i % 8) & 1) != 0;
}

// As far as there are elements.
size_t CountSetBits(const CompactBitArray& bits) {
  const int64_t count = BitCount(bits);
  size_t set = 0;
  for (size_t i = 0; i < bits.elems().size() * 8 && static_cast<int64_t>(i) < count; ++i) {
    set += BitAt(bits, static_cast<int64_t>(i)) ? 1 : 0;
  }
  return set;
}

// All single signatures; behind those of a multisignature, its aggregate.
Error AppendRawSignatures(const Signature& signature, std::vector<std::string>* out) {
  if (signature.kind == Signature::Kind::kNone) return Error::New("got empty SignatureData");
  if (signature.kind == Signature::Kind::kSingle) {
    out->push_back(signature.bytes);
    return {};
  }
  std::vector<std::string> parts;
  for (const Signature& part : signature.parts) {
    KEEPER_RETURN_IF_ERROR(AppendRawSignatures(part, &parts));
  }
  sdk::WireWriter w;
  for (size_t i = parts.size(); i-- > 0;) w.BytesFieldAlways(1, parts[i]);
  for (std::string& part : parts) out->push_back(std::move(part));
  out->push_back(std::string(w.bytes()));
  return {};
}

class SignatureChecks {
 public:
  SignatureChecks(const Keeper& k, const sdk::Tx& tx, const Context& ctx)
      : k_(k), tx_(tx), ctx_(ctx) {}

  Error Prepare() {
    KEEPER_ASSIGN_OR_RETURN(signers_, tx_.Signers(k_.addresses));
    for (const auto& info : tx_.auth_info.signer_infos()) {
      std::optional<PubKey> key;
      if (info.has_public_key()) {
        KEEPER_ASSIGN_OR_RETURN(
            key, PubKey::FromAny({info.public_key().type_url(), info.public_key().value()}));
      }
      keys_.push_back(std::move(key));
    }
    if (tx_.signatures.size() != signers_.size()) {
      return Error(sdk::kErrUnauthorized,
                   sdk::StrCat("wrong number of signers; expected ", signers_.size(), ", got ",
                               tx_.signatures.size()));
    }
    return {};
  }

  // Unpacked where the SDK first asks for them.
  Error UnpackSignatures() {
    signatures_.clear();
    const int count = tx_.auth_info.signer_infos_size();
    for (int i = 0; i < count; ++i) {
      const auto& info = tx_.auth_info.signer_infos(i);
      if (!info.has_mode_info()) {
        signatures_.emplace_back();
        continue;
      }
      if (static_cast<size_t>(i) >= tx_.signatures.size()) {
        throw sdk::Panic("runtime error: index out of range");
      }
      std::optional<Signature> signature =
          UnpackSignature(info.mode_info(), tx_.signatures[static_cast<size_t>(i)], 0);
      if (!signature) return Error::New("rejecting unrecognized fields found in MultiSignature");
      signatures_.push_back(*std::move(signature));
    }
    return {};
  }

  Error RejectSecp256r1() const {
    for (const std::optional<PubKey>& key : keys_) {
      if (!key) continue;
      bool found = key->type == PubKey::Type::kSecp256r1;
      if (key->type == PubKey::Type::kMultisig) {
        for (const PubKey& member : key->members) {
          found = found || member.type == PubKey::Type::kSecp256r1;
        }
      }
      if (found) return Error(sdk::kErrUnknownRequest, "secp256r1 keys not allowed");
    }
    return {};
  }

  // Accounts get the key they sign with; events for indexers.
  Error SetPubKeys() {
    std::vector<std::string> names(signers_.size());
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (i >= signers_.size()) throw sdk::Panic("runtime error: index out of range");
      names[i] = k_.addresses->ToText(signers_[i]);
      if (!keys_[i]) continue;
      if (keys_[i]->Address() != signers_[i]) {
        return Error(sdk::kErrInvalidPubKey, sdk::StrCat("pubKey does not match signer address ",
                                                         names[i], " with signer index: ", i));
      }
      KEEPER_ASSIGN_OR_RETURN(sdk::Account account, SignerAccount(i));
      if (account.pub_key) continue;
      account.pub_key = keys_[i]->ToAny();
      k_.auth->SetAccount(ctx_, signers_[i], account);
    }
    KEEPER_RETURN_IF_ERROR(UnpackSignatures());
    sdk::Events events;
    for (size_t i = 0; i < signatures_.size(); ++i) {
      const auto& info = tx_.auth_info.signer_infos(static_cast<int>(i));
      if (!tx_.body.unordered()) {
        events.emplace_back(
            "tx", std::vector<sdk::Attribute>{
                      {"acc_seq",
                       sdk::StrCat(names[i], "/", info.has_mode_info() ? info.sequence() : 0)}});
      }
      std::vector<std::string> raw;
      KEEPER_RETURN_IF_ERROR(AppendRawSignatures(signatures_[i], &raw));
      for (const std::string& signature : raw) {
        events.emplace_back(
            "tx", std::vector<sdk::Attribute>{{"signature", absl::Base64Escape(signature)}});
      }
    }
    ctx_.events().Emit(std::move(events));
    return {};
  }

  Error CountKeys() const {
    const sdk::AuthParams params = k_.auth->GetParams(ctx_);
    uint64_t count = 0;
    for (const std::optional<PubKey>& key : keys_) {
      if (!key) continue;
      count += static_cast<uint64_t>(key->CountSubKeys());
      if (count > params.tx_sig_limit) {
        return Error(sdk::kErrTooManySignatures,
                     sdk::StrCat("signatures: ", count, ", limit: ", params.tx_sig_limit));
      }
    }
    return {};
  }

  Error ConsumeGas() {
    const sdk::AuthParams params = k_.auth->GetParams(ctx_);
    for (size_t i = 0; i < signatures_.size(); ++i) {
      KEEPER_ASSIGN_OR_RETURN(const sdk::Account account, SignerAccount(i));
      if (!account.pub_key) {
        return Error(sdk::kErrInvalidPubKey, "unrecognized public key type: <nil>");
      }
      KEEPER_ASSIGN_OR_RETURN(const PubKey key, PubKey::FromAny(*account.pub_key));
      KEEPER_RETURN_IF_ERROR(ConsumeFor(key, signatures_[i], params));
    }
    return {};
  }

  Error Verify() {
    if (tx_.body.unordered()) {
      return Error(kErrNotSupported, "unordered transactions are not enabled");
    }
    if (signatures_.size() != signers_.size()) {
      return Error(sdk::kErrUnauthorized,
                   sdk::StrCat("invalid number of signer;  expected: ", signers_.size(), ", got ",
                               signatures_.size()));
    }
    for (size_t i = 0; i < signatures_.size(); ++i) {
      const auto& info = tx_.auth_info.signer_infos(static_cast<int>(i));
      KEEPER_ASSIGN_OR_RETURN(const sdk::Account account, SignerAccount(i));
      if (!account.pub_key) {
        return Error(sdk::kErrInvalidPubKey, "pubkey on account is not set");
      }
      if (info.sequence() != account.sequence) {
        return Error(sdk::kErrWrongSequence,
                     sdk::StrCat("account sequence mismatch, expected ", account.sequence, ", got ",
                                 info.sequence()));
      }
      CheckSigningData();
      KEEPER_ASSIGN_OR_RETURN(const PubKey key, PubKey::FromAny(*account.pub_key));
      if (!VerifyOne(key, signatures_[i], SignerData{signers_[i], account, info.sequence()})) {
        return Error(
            sdk::kErrUnauthorized,
            sdk::StrCat("signature verification failed; please verify account number (",
                        account.account_number, ") and chain-id (", ctx_.block().chain_id, ")"));
      }
    }
    return {};
  }

  void IncrementSequences() {
    for (const std::string& signer : signers_) {
      std::optional<sdk::Account> account = k_.auth->GetAccount(ctx_, signer);
      if (!account) {
        throw sdk::Panic("runtime error: invalid memory address or nil pointer dereference");
      }
      ++account->sequence;
      k_.auth->SetAccount(ctx_, signer, *account);
    }
  }

 private:
  static constexpr sdk::ErrorCode kErrNotSupported{"sdk", 37, "feature not supported"};

  // The SDK copies the transaction for its sign modes, and follows these pointers.
  void CheckSigningData() const {
    for (const auto& info : tx_.auth_info.signer_infos()) {
      if (!info.has_public_key() || LacksBits(info.mode_info())) {
        throw sdk::Panic("runtime error: invalid memory address or nil pointer dereference");
      }
    }
  }
  static bool LacksBits(const ModeInfo& mode) {
    if (!mode.has_multi()) return false;
    const auto& parts = mode.multi().mode_infos();
    return !mode.multi().has_bitarray() || std::any_of(parts.begin(), parts.end(), LacksBits);
  }

  Result<sdk::Account> SignerAccount(size_t i) const {
    if (i >= signers_.size()) throw sdk::Panic("runtime error: index out of range");
    std::optional<sdk::Account> account = k_.auth->GetAccount(ctx_, signers_[i]);
    if (!account) {
      return Error(sdk::kErrUnknownAddress,
                   sdk::StrCat("account ", k_.addresses->ToText(signers_[i]), " does not exist"));
    }
    return *std::move(account);
  }

  Error ConsumeFor(const PubKey& key, const Signature& signature, const sdk::AuthParams& params) {
    switch (key.type) {
      case PubKey::Type::kEd25519:
        ctx_.gas_meter().Consume(params.sig_verify_cost_ed25519, "ante verify: ed25519");
        return {};
      case PubKey::Type::kSecp256k1:
        ctx_.gas_meter().Consume(params.sig_verify_cost_secp256k1, "ante verify: secp256k1");
        return {};
      case PubKey::Type::kSecp256r1:
        ctx_.gas_meter().Consume(params.sig_verify_cost_secp256k1 / 2, "ante verify: secp256r1");
        return {};
      case PubKey::Type::kMultisig:
        break;
    }
    if (signature.kind != Signature::Kind::kMulti) {
      return Error::New("expected multisignature data");
    }
    size_t next = 0;
    const int64_t count = BitCount(*signature.bits);
    for (int64_t i = 0; i < count; ++i) {
      if (!BitAt(*signature.bits, i)) continue;
      if (static_cast<size_t>(i) >= key.members.size() || next >= signature.parts.size()) {
        throw sdk::Panic("runtime error: index out of range");
      }
      KEEPER_RETURN_IF_ERROR(
          ConsumeFor(key.members[static_cast<size_t>(i)], signature.parts[next], params));
      ++next;
    }
    return {};
  }

  struct SignerData {
    const std::string& address;
    const sdk::Account& account;
    uint64_t sequence;
  };

  // Bytes that a signature of this mode signs; nothing where the original has an error.
  std::optional<std::string> SignBytes(SignMode mode, const SignerData& signer) const {
    const sdk::Account& account = signer.account;
    const std::string& chain_id = ctx_.block().chain_id;
    sdk::WireWriter w;
    switch (mode) {
      case SignMode::SIGN_MODE_DIRECT:
        w.VarintField(4, account.account_number);
        w.BytesField(3, chain_id);
        w.BytesField(2, tx_.auth_info_bytes);
        w.BytesField(1, tx_.body_bytes);
        return std::string(w.bytes());
      case SignMode::SIGN_MODE_DIRECT_AUX: {
        // Not for who pays the fee: the payer, or the first to sign.
        const auto& fee = tx_.auth_info.fee();
        if (fee.payer().empty() ? signers_.front() == signer.address
                                : fee.payer() == k_.addresses->ToText(signer.address)) {
          return std::nullopt;
        }
        w.VarintField(5, signer.sequence);
        w.VarintField(4, account.account_number);
        w.BytesField(3, chain_id);
        const size_t mark = w.size();
        w.BytesField(2, account.pub_key->value);
        w.BytesField(1, account.pub_key->type_url);
        w.EndMessage(2, mark);
        w.BytesField(1, tx_.body_bytes);
        return std::string(w.bytes());
      }
      case SignMode::SIGN_MODE_LEGACY_AMINO_JSON:
        return AminoSignDoc(tx_, chain_id, account.account_number, signer.sequence, k_.network());
      case SignMode::SIGN_MODE_TEXTUAL:
        return TextualBytes(signer);
      default:
        return std::nullopt;
    }
  }

  std::optional<std::string> TextualBytes(const SignerData& signer) const {
    TextualSigner shown;
    shown.address = k_.addresses->ToText(signer.address);
    shown.chain_id = ctx_.block().chain_id;
    shown.account_number = signer.account.account_number;
    shown.sequence = signer.sequence;
    shown.pub_key.set_type_url(signer.account.pub_key->type_url);
    shown.pub_key.set_value(signer.account.pub_key->value);
    return TextualSignDoc(
        tx_, shown,
        [&](const std::string& denom) -> std::optional<cosmos::bank::v1beta1::Metadata> {
          constexpr char kMetadataPrefix = '\x01';
          const std::optional<std::string_view> bytes =
              ctx_.kv(kBankStore).Get(kMetadataPrefix + denom);
          cosmos::bank::v1beta1::Metadata metadata;
          if (!bytes || !metadata.ParseFromString(std::string(*bytes))) return std::nullopt;
          return metadata;
        });
  }

  bool VerifyOne(const PubKey& key, const Signature& signature, const SignerData& signer) const {
    switch (signature.kind) {
      case Signature::Kind::kNone:
        return false;
      case Signature::Kind::kSingle:
        return VerifySingle(key, signature, signer);
      case Signature::Kind::kMulti:
        break;
    }
    if (key.type != PubKey::Type::kMultisig) return false;
    const int64_t size = BitCount(*signature.bits);
    if (static_cast<int64_t>(key.members.size()) != size ||
        signature.parts.size() < key.threshold || signature.parts.size() > key.members.size() ||
        CountSetBits(*signature.bits) < key.threshold) {
      return false;
    }
    size_t next = 0;
    for (int64_t i = 0; i < size; ++i) {
      if (!BitAt(*signature.bits, i)) continue;
      if (next >= signature.parts.size()) throw sdk::Panic("runtime error: index out of range");
      if (!VerifyOne(key.members[static_cast<size_t>(i)], signature.parts[next], signer)) {
        return false;
      }
      ++next;
    }
    return true;
  }

  bool VerifySingle(const PubKey& key, const Signature& signature, const SignerData& signer) const {
    const std::optional<std::string> message = SignBytes(signature.mode, signer);
    if (!message) return false;
    switch (key.type) {
      case PubKey::Type::kSecp256k1:
        return sdk::VerifySecp256k1(key.key, *message, signature.bytes);
      case PubKey::Type::kEd25519:
        return sdk::VerifyEd25519(key.key, *message, signature.bytes);
      case PubKey::Type::kSecp256r1:
        throw sdk::NotNative("secp256r1 signatures");
      case PubKey::Type::kMultisig:
        break;
    }
    throw sdk::Panic("not implemented");
  }

  const Keeper& k_;
  const sdk::Tx& tx_;
  const Context& ctx_;
  std::vector<std::string> signers_;
  std::vector<std::optional<PubKey>> keys_;
  std::vector<Signature> signatures_;
};

// Tx.ValidateBasic.
Error ValidateTx(const Keeper& k, const sdk::Tx& tx) {
  const auto& auth_info = tx.auth_info;
  if (!auth_info.has_fee()) return Error::New("missing fee");
  const auto& fee = auth_info.fee();
  if (fee.gas_limit() > uint64_t{INT64_MAX}) {
    return Error(sdk::kErrInvalidRequest, "invalid gas supplied");
  }
  for (const auto& coin : fee.amount()) {
    const absl::StatusOr<sdk::Int> amount = sdk::Int::Unmarshal(coin.amount());
    if (coin.amount().empty() || !amount.ok() || amount->IsNegative()) {
      return Error(sdk::kErrInsufficientFee, "invalid fee provided");
    }
  }
  if (!fee.payer().empty() && !k.addresses->ToBytes(fee.payer()).ok()) {
    return Error(sdk::kErrInvalidAddress, "Invalid fee payer address");
  }
  return tx.signatures.empty() ? Error(sdk::kErrNoSignatures) : Error();
}

// One deposit for each transaction.
Error CheckMessages(const sdk::Tx& tx) {
  for (size_t i = 0; i < tx.messages.size(); ++i) {
    const std::string_view group = tx.messages[i].handler->ExclusiveGroup(*tx.messages[i].message);
    if (group.empty()) continue;
    for (size_t j = 0; j < i; ++j) {
      if (tx.messages[j].handler->ExclusiveGroup(*tx.messages[j].message) == group) {
        return Error(sdk::kErrUnknownRequest, sdk::StrCat("only one ", group, " per tx"));
      }
    }
  }
  return {};
}

}  // namespace

Error RunAnte(const Keeper& k, const sdk::Tx& tx, sdk::GasMeter* tx_meter, Context* ctx) {
  if (tx.injected) {
    if (tx.messages.size() != 1) {
      return Error(sdk::kErrUnauthorized, "inject txs only allowed with 1 msg");
    }
    if (!IsInjectedOnly(tx.messages.front().type_url)) {
      return Error(sdk::kErrUnauthorized,
                   sdk::StrCat("invalid inject tx message type: ", tx.messages.front().type_url));
    }
    return {};
  }
  for (const sdk::TxMessage& message : tx.messages) {
    if (IsInjectedOnly(message.type_url)) {
      return Error(sdk::kErrUnauthorized,
                   sdk::StrCat("msg only allowed via proposal inject tx: ", message.type_url));
    }
  }

  // The limit of the fee is set and at once replaced by a meter without one.
  if (!tx.auth_info.has_fee()) {
    throw sdk::Panic("runtime error: invalid memory address or nil pointer dereference");
  }
  *tx_meter = sdk::GasMeter::Infinite();
  *ctx = ctx->WithGasMeter(tx_meter);

  CountTransaction(*ctx);

  // None is taken; those that are not critical are not asked for.
  if (tx.body.extension_options_size() > 0) {
    return Error(sdk::kErrUnknownExtensionOptions);
  }
  KEEPER_RETURN_IF_ERROR(ValidateTx(k, tx));
  SignatureChecks signatures(k, tx, *ctx);
  KEEPER_RETURN_IF_ERROR(signatures.Prepare());

  if (tx.body.timeout_height() > 0 &&
      static_cast<uint64_t>(ctx->height()) > tx.body.timeout_height()) {
    return Error(sdk::kErrTxTimeoutHeight,
                 sdk::StrCat("block height: ", ctx->height(),
                             ", timeout height: ", tx.body.timeout_height()));
  }
  // The epoch, and Go's zero time, stand for none.
  constexpr int64_t kZeroTime = -62135596800;
  const auto& timeout = tx.body.timeout_timestamp();
  if (timeout.seconds() != 0 && (timeout.seconds() != kZeroTime || timeout.nanos() != 0)) {
    const sdk::BlockInfo& block = ctx->block();
    if (timeout.seconds() < block.time_seconds ||
        (timeout.seconds() == block.time_seconds && timeout.nanos() < block.time_nanos)) {
      return Error(sdk::ErrorCode{"sdk", 42, "tx timeout"}, "timeout timestamp");
    }
  }

  const std::string& memo = tx.body.memo();
  if (!memo.empty()) {
    const sdk::AuthParams params = k.auth->GetParams(*ctx);
    if (memo.size() > params.max_memo_characters) {
      return Error(sdk::kErrMemoTooLarge,
                   sdk::StrCat("maximum number of characters is ", params.max_memo_characters,
                               " but received ", memo.size(), " characters"));
    }
  }
  ctx->gas_meter().Consume(k.auth->GetParams(*ctx).tx_size_cost_per_byte * ctx->tx_bytes().size(),
                           "txSize");

  // THORChain's own step: what a message costs, who may send it.
  KEEPER_RETURN_IF_ERROR(CheckMessages(tx));
  KEEPER_RETURN_IF_ERROR(signatures.UnpackSignatures());
  KEEPER_RETURN_IF_ERROR(signatures.RejectSecp256r1());
  *ctx = ctx->WithTxMemo(&memo);
  constexpr std::string_view kVersionKey = "version//";
  (void)k.kv(*ctx).Get(kVersionKey);
  for (const sdk::TxMessage& message : tx.messages) {
    KEEPER_RETURN_IF_ERROR(message.handler->Ante(*ctx, *message.message));
  }

  KEEPER_RETURN_IF_ERROR(signatures.SetPubKeys());
  KEEPER_RETURN_IF_ERROR(signatures.CountKeys());
  KEEPER_RETURN_IF_ERROR(signatures.ConsumeGas());
  KEEPER_RETURN_IF_ERROR(signatures.Verify());
  signatures.IncrementSequences();
  return {};
}

}  // namespace blockreplay::keeper::thorchain
