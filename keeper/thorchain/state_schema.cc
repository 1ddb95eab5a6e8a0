#include "keeper/thorchain/state_schema.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/message_codec.h"
#include "keeper/thorchain/records.h"

namespace blockreplay::keeper::thorchain {
namespace {

using sdk::StrCat;

constexpr ValueCodec kMessage = ValueCodec::kMessage;
constexpr std::string_view kInt64 = "types.ProtoInt64";
constexpr std::string_view kUint64 = "types.ProtoUint64";
constexpr std::string_view kStrings = "types.ProtoStrings";

// THORChain's own store: the prefix of its keys is the name.
struct Group {
  std::string_view prefix;
  std::string_view type;  // empty: text
};
constexpr std::array kThorchainGroups{
    Group{"affcol/", "types.AffiliateFeeCollector"},
    Group{"aq/", "types.MsgSwap"},
    Group{"aqlim/", kStrings},
    Group{"aqmark/", kStrings},
    Group{"aqttl/", kStrings},
    Group{"ban/", "types.BanVoter"},
    Group{"bond_providers/", "types.BondProviders"},
    Group{"chain_contract/", "types.ChainContract"},
    Group{"errata/", "types.ErrataTxVoter"},
    Group{"jail/", "types.Jail"},
    Group{"keygen/", "types.KeygenBlock"},
    Group{"last_chain_height/", kInt64},
    Group{"last_observe_height/", kInt64},
    Group{"last_signed_height/", kInt64},
    Group{"latest_tss_keysign_metric/", "types.TssKeysignMetric"},
    Group{"lp/", "types.LiquidityProvider"},
    Group{"luvi/", "common.ProtoUint"},
    Group{"mimir/", kInt64},
    Group{"minjoinlast/", "types.MinJoinLast"},
    Group{"network/", "types.Network"},
    Group{"network_fee/", "types.NetworkFee"},
    Group{"network_fee_voter/", "types.ObservedNetworkFeeVoter"},
    Group{"node_account/", "types.NodeAccount"},
    Group{"node_pause_chain/", kInt64},
    Group{"nodemimir/", "types.NodeMimirs"},
    Group{"ob_link/", kStrings},
    Group{"observed_tx_in/", "types.ObservedTxVoter"},
    Group{"observed_tx_out/", "types.ObservedTxVoter"},
    Group{"observing_addresses/", "types.ProtoAccAddresses"},
    Group{"oracle_price/", "types.OraclePrice"},
    Group{"outbound_fee_spent_rune/", kUint64},
    Group{"outbound_fee_withheld_rune/", kUint64},
    Group{"pol/", "types.ProtocolOwnedLiquidity"},
    Group{"pool/", "types.Pool"},
    Group{"pool_liquidity_fee/", kUint64},
    Group{"pool_swap_slip/", kInt64},
    Group{"pool_swap_slip_long/", kInt64},
    Group{"pool_swap_slip_ss/", kInt64},
    Group{"ragnarokHeight/", kInt64},
    Group{"ragnarokNth/", kInt64},
    Group{"ragnarokPending/", kInt64},
    Group{"ragnarokPool/", kInt64},
    Group{"ragnarokPosition/", "types.RagnarokWithdrawPosition"},
    Group{"refm/", "types.ReferenceMemo"},
    Group{"refmh/", "types.ProtoString"},
    Group{"refmi/", "types.ProtoString"},
    Group{"rolling_pool_liquidity_fee/", kUint64},
    Group{"rune_pool/", "types.RUNEPool"},
    Group{"rune_provider/", "types.RUNEProvider"},
    Group{"sa/", "types.SecuredAsset"},
    Group{"sclout/", "types.SwapperClout"},
    Group{"slash/", kInt64},
    Group{"solvency_voter/", "types.SolvencyVoter"},
    Group{"stream/", "types.StreamingSwap"},
    Group{"swapitem/", "types.MsgSwap"},
    Group{"tcy_claimer/", "types.TCYClaimer"},
    Group{"tcy_staker/", "types.TCYStaker"},
    Group{"thorname/", "types.THORName"},
    Group{"total_liquidity_fee/", kUint64},
    Group{"tr_acct/", "types.TradeAccount"},
    Group{"tr_unit/", "types.TradeUnit"},
    Group{"tss/", "types.TssVoter"},
    Group{"tssKeysignFailure/", "types.TssKeysignFailVoter"},
    Group{"tss_keygen_metric/", "types.TssKeygenMetric"},
    Group{"tss_keysign_metric/", "types.TssKeysignMetric"},
    Group{"txout/", "types.TxOut"},
    Group{"upgr_props/", "types.UpgradeProposal"},
    Group{"upgr_votes/", ""},
    Group{"vault/", "types.Vault"},
    Group{"vault_asgard_eddsa_index/", kStrings},
    Group{"vault_asgard_index/", kStrings},
    Group{"version/", ""},
    Group{"volume/", "types.Volume"},
    Group{"volume_bucket/", "types.VolumeBucket"},
};

constexpr std::string_view Byte(const char (&text)[2]) { return {text, 1}; }

constexpr std::array kOtherKinds{
    StoredKind{"acc", Byte("\x00"), "auth params", kMessage, "cosmos.auth.v1beta1.Params"},
    StoredKind{"acc", Byte("\x01"), "account", kMessage, "google.protobuf.Any"},
    StoredKind{"acc", Byte("\x02"), "next account number", ValueCodec::kBigEndian64, ""},
    StoredKind{"acc", "accountNumber", "account by number", ValueCodec::kBytes, ""},
    StoredKind{"bank", Byte("\x00"), "supply", ValueCodec::kNumberText, ""},
    StoredKind{"bank", Byte("\x01"), "denomination metadata", kMessage,
               "cosmos.bank.v1beta1.Metadata"},
    StoredKind{"bank", Byte("\x02"), "balance", ValueCodec::kNumberText, ""},
    StoredKind{"bank", Byte("\x03"), "owner by denomination", ValueCodec::kEmpty, ""},
    StoredKind{"bank", Byte("\x04"), "send enabled", kMessage, "google.protobuf.BoolValue"},
    StoredKind{"bank", Byte("\x05"), "bank params", kMessage, "cosmos.bank.v1beta1.Params"},
    StoredKind{"consensus", "Consensus", "consensus params", kMessage,
               "tendermint.types.ConsensusParams"},
    StoredKind{"denom", Byte("\x00"), "denomination admin", ValueCodec::kBytes, ""},
    StoredKind{"scheduler", Byte("\x00"), "schedule", kMessage, "thorchain.scheduler.v1.Schedule"},
    StoredKind{"scheduler", Byte("\x01"), "schedule by sender", ValueCodec::kEmpty, ""},
    StoredKind{"upgrade", Byte("\x00"), "upgrade plan", kMessage, "cosmos.upgrade.v1beta1.Plan"},
    StoredKind{"upgrade", Byte("\x01"), "upgrade done", ValueCodec::kBigEndian64, ""},
    StoredKind{"upgrade", Byte("\x02"), "module version", ValueCodec::kBigEndian64, ""},
    StoredKind{"upgrade", Byte("\x03"), "protocol version", ValueCodec::kBigEndian64, ""},
    StoredKind{"wasm", Byte("\x01"), "code", kMessage, "cosmwasm.wasm.v1.CodeInfo"},
    StoredKind{"wasm", Byte("\x02"), "contract", kMessage, "cosmwasm.wasm.v1.ContractInfo"},
    StoredKind{"wasm", Byte("\x03"), "contract data", ValueCodec::kBytes, ""},
    StoredKind{"wasm", Byte("\x04"), "sequence", ValueCodec::kBigEndian64, ""},
    StoredKind{"wasm", Byte("\x05"), "contract history", kMessage,
               "cosmwasm.wasm.v1.ContractCodeHistoryEntry"},
    StoredKind{"wasm", Byte("\x06"), "contract by code", ValueCodec::kBytes, ""},
    StoredKind{"wasm", Byte("\x07"), "pinned code", ValueCodec::kBytes, ""},
    StoredKind{"wasm", Byte("\x08"), "transaction counter", ValueCodec::kTxCounter, ""},
    StoredKind{"wasm", Byte("\x09"), "contract by creator", ValueCodec::kBytes, ""},
    StoredKind{"wasm", Byte("\x10"), "wasm params", kMessage, "cosmwasm.wasm.v1.Params"},
};

const std::array<StoredKind, kThorchainGroups.size()>& ThorchainKinds() {
  static const auto* const kinds = [] {
    auto* made = new std::array<StoredKind, kThorchainGroups.size()>;
    for (size_t i = 0; i < kThorchainGroups.size(); ++i) {
      const Group& group = kThorchainGroups[i];
      (*made)[i] = {"thorchain", group.prefix, group.prefix.substr(0, group.prefix.size() - 1),
                    group.type.empty() ? ValueCodec::kText : kMessage, group.type};
    }
    return made;
  }();
  return *kinds;
}

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c < 0x80 && std::isprint(c) != 0; });
}

bool IsNumberText(std::string_view text) {
  if (text.empty() || text.size() > 80) return false;
  if (text.front() == '-') text.remove_prefix(1);
  return !text.empty() && (text == "0" || text.front() != '0') &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string TextOrHex(std::string_view bytes) {
  return IsPrintable(bytes) ? std::string(bytes) : "0x" + LowerHex(bytes);
}

}  // namespace

std::vector<const StoredKind*> AllStoredKinds() {
  std::vector<const StoredKind*> all;
  for (const StoredKind& kind : ThorchainKinds()) all.push_back(&kind);
  for (const StoredKind& kind : kOtherKinds) all.push_back(&kind);
  return all;
}

const StoredKind* FindStoredKind(std::string_view store, std::string_view key) {
  if (store == "thorchain") {
    const size_t slash = key.find('/');
    if (slash == key.npos) return nullptr;
    const std::string_view prefix = key.substr(0, slash + 1);
    for (const StoredKind& kind : ThorchainKinds()) {
      if (kind.prefix == prefix) return &kind;
    }
    return nullptr;
  }
  for (const StoredKind& kind : kOtherKinds) {
    if (kind.store == store && key.starts_with(kind.prefix)) return &kind;
  }
  return nullptr;
}

std::optional<std::string> ReencodeValue(const StoredKind& kind, std::string_view value) {
  switch (kind.codec) {
    case ValueCodec::kMessage: {
      bool ok = false;
      std::optional<std::string> typed = Reencode(kind.type, value, &ok);
      if (typed) return ok ? typed : std::nullopt;
      return ReencodeMessage(kind.type, value);
    }
    case ValueCodec::kText:
    case ValueCodec::kBytes:
      return std::string(value);
    case ValueCodec::kNumberText: {
      absl::StatusOr<sdk::Int> number = sdk::Int::Unmarshal(value);
      if (!number.ok()) return std::nullopt;
      return number->ToString();
    }
    case ValueCodec::kBigEndian64:
      if (value.size() != 8) return std::nullopt;
      return std::string(value);
    case ValueCodec::kEmpty:
      if (!value.empty()) return std::nullopt;
      return std::string();
    case ValueCodec::kTxCounter:
      if (value.size() != 12) return std::nullopt;
      return std::string(value);
    case ValueCodec::kTimestamp:
      return std::string(value);
  }
  return std::nullopt;
}

std::string DescribeStoredKey(std::string_view store, std::string_view key) {
  const StoredKind* kind = FindStoredKind(store, key);
  if (kind == nullptr) return TextOrHex(key);
  std::string_view rest = key.substr(kind->prefix.size());
  if (store == "thorchain" && rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return std::string(kind->name);
  if (kind->name == "balance") {
    const auto size = static_cast<size_t>(static_cast<uint8_t>(rest.front()));
    if (size < 0x80 && rest.size() > size) {
      return StrCat("balance ", LowerHex(rest.substr(1, size)), " ", rest.substr(1 + size));
    }
  }
  if (kind->name == "account by number" && rest.size() == 8) {
    return StrCat(kind->name, " ", BigEndian(rest));
  }
  return StrCat(kind->name, " ", TextOrHex(rest));
}

std::string DescribeStoredValue(std::string_view store, std::string_view key,
                                std::string_view value) {
  const StoredKind* kind = FindStoredKind(store, key);
  if (kind == nullptr) return TextOrHex(value);
  switch (kind->codec) {
    case ValueCodec::kMessage:
      return DescribeMessage(kind->type, value);
    case ValueCodec::kBigEndian64:
      if (value.size() == 8) return StrCat(BigEndian(value));
      break;
    case ValueCodec::kTxCounter:
      if (value.size() == 12) {
        return StrCat("height ", BigEndian(value.substr(0, 8)), ", ", BigEndian(value.substr(8)));
      }
      break;
    case ValueCodec::kEmpty:
      if (value.empty()) return "(empty)";
      break;
    case ValueCodec::kNumberText:
      if (IsNumberText(value)) return std::string(value);
      break;
    default:
      break;
  }
  return TextOrHex(value);
}

}  // namespace blockreplay::keeper::thorchain
