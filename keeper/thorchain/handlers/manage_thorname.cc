#include "keeper/thorchain/handlers/manage_thorname.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "keeper/thorchain/state/mimir.h"
#include "keeper/thorchain/state/pools.h"
#include "keeper/thorchain/state/pub_keys.h"
#include "keeper/thorchain/state/thornames.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

Error ValidateName(std::string_view name) {
  if (name.size() > 30) return Error::New("THORName cannot exceed 30 characters");
  const bool valid = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '_' || c == '-';
  });
  return valid ? Error() : Error::New("invalid THORName");
}

// One of the fees of names: in dollars where fees are, else the constant, which no mimir changes.
Uint NameFee(const Keeper& k, const Context& ctx, ConstantName in_dollars, ConstantName in_rune) {
  if (GetMimir(k, ctx, ToString(ConstantName::kEnableUSDFees)) > 0) {
    return DollarConfigInRune(k, ctx, in_dollars);
  }
  return Uint(static_cast<uint64_t>(k.constants().GetInt64(in_rune)));
}
Uint RegisterFee(const Keeper& k, const Context& ctx) {
  return NameFee(k, ctx, ConstantName::kTNSRegisterFeeUSD, ConstantName::kTNSRegisterFee);
}
Uint FeePerBlock(const Keeper& k, const Context& ctx) {
  return NameFee(k, ctx, ConstantName::kTNSFeePerBlockUSD, ConstantName::kTNSFeePerBlock);
}

Error CheckPreferredAsset(const Keeper& k, const Context& ctx, const Asset& asset) {
  if (!PoolExists(k, ctx, asset)) {
    return Error::New(sdk::StrCat("pool ", asset.ToString(), " does not exist"));
  }
  KEEPER_ASSIGN_OR_RETURN(const Pool pool, GetPool(k, ctx, asset));
  if (!IsAvailable(pool)) {
    return Error::New(sdk::StrCat("pool ", asset.ToString(), " is not available"));
  }
  return {};
}

Error Validate(const Keeper& k, const Context& ctx, const MsgManageTHORName& m) {
  KEEPER_RETURN_IF_ERROR(ValidateBasic(k, m));
  if (!SoftEquals(k.network().kind, m.address.GetNetwork(m.address.GetChain(), k.network()))) {
    return Error::New(sdk::StrCat("address(", m.address.ToString(), ") is not same network"));
  }
  if (!THORNameExists(k, ctx, m.name)) {
    KEEPER_RETURN_IF_ERROR(ValidateName(m.name));
    if (m.coin.amount <= RegisterFee(k, ctx)) return Error::New("not enough funds");
  } else {
    KEEPER_ASSIGN_OR_RETURN(const THORName name, GetTHORName(k, ctx, m.name));
    if (name.owner != m.signer && ctx.height() <= name.expire_block_height) {
      return Error::New(sdk::StrCat("no authorization: owned by ", ToText(k, name.owner)));
    }
    if (name.expire_block_height < m.expire_block_height) {
      return Error::New("cannot artificially inflate expire block height");
    }
  }
  // RUNE stands for no preference.
  if (m.preferred_asset.IsEmpty() || m.preferred_asset.IsRune()) return {};
  return CheckPreferredAsset(k, ctx, m.preferred_asset);
}

struct Payment {
  Uint registration;
  Uint fund;
};

// Prolongs the name by what the amount pays for.
Result<Payment> Prolong(const Keeper& k, const Context& ctx, Uint amount, bool is_new,
                        THORName* name) {
  Payment payment;
  int64_t blocks = 0;
  if (is_new) {
    payment.registration = RegisterFee(k, ctx);
    amount = SafeSub(amount, payment.registration);
    blocks = k.constants().GetInt64(ConstantName::kBlocksPerYear);
  }
  const Uint per_block = FeePerBlock(k, ctx);
  if (per_block.IsZero()) return Error::New("per block fee cannot be zero");
  payment.fund = amount;
  const Uint most(static_cast<uint64_t>(kMaxInt64));
  if (amount > most) return Error::New("coin amount exceeds maximum allowed value");
  if (per_block > most) return Error::New("per block fee exceeds maximum allowed value");
  const auto funded = static_cast<int64_t>(amount.ToUint64() / per_block.ToUint64());
  if (blocks > 0 && funded > kMaxInt64 - blocks) {
    return Error::New("block calculation overflow: addBlocks");
  }
  blocks += funded;
  const int64_t base = std::max(name->expire_block_height, ctx.height());
  if (blocks > 0 && base > kMaxInt64 - blocks) {
    return Error::New("block calculation overflow: expire block height");
  }
  name->expire_block_height = base + blocks;
  return payment;
}

}  // namespace

Error ValidateBasic(const Keeper&, const MsgManageTHORName& m) {
  if (m.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress, "");
  if (m.chain.IsEmpty()) return Error(sdk::kErrUnknownRequest, "chain can't be empty");
  if (m.address.IsEmpty()) return Error(sdk::kErrUnknownRequest, "address can't be empty");
  if (!m.address.IsChain(m.chain)) {
    return Error(sdk::kErrUnknownRequest, "address and chain must match");
  }
  if (!m.coin.IsRune()) return Error(sdk::kErrUnknownRequest, "coin must be native rune");
  if (m.preferred_asset_outbound_fee_multiplier < -1) {
    return Error(sdk::kErrUnknownRequest,
                 "preferred asset outbound fee multiplier cannot be less than -1");
  }
  if (m.preferred_asset_outbound_fee_multiplier > 10000) {
    return Error(sdk::kErrUnknownRequest,
                 "preferred asset outbound fee multiplier cannot exceed 10000");
  }
  return {};
}

Error HandleInternal(Managers& mgr, const Context& ctx, const MsgManageTHORName& message) {
  const Keeper& k = *mgr.keeper;
  KEEPER_RETURN_IF_ERROR(Validate(k, ctx, message));
  if (GetMimir(k, ctx, "THORNames") == 0) {
    return Error::New("THORNames are currently disabled");
  }
  THORName name;
  name.name = message.name;
  name.owner = message.signer;
  const bool is_new = !THORNameExists(k, ctx, message.name);
  if (!is_new) {
    KEEPER_ASSIGN_OR_RETURN(name, GetTHORName(k, ctx, message.name));
  }
  Payment payment;
  if (!message.coin.amount.IsZero()) {
    // A name that can't be registered can't be prolonged either.
    KEEPER_RETURN_IF_ERROR(ValidateName(message.name));
    KEEPER_ASSIGN_OR_RETURN(payment, Prolong(k, ctx, message.coin.amount, is_new, &name));
  }
  if (message.expire_block_height > 0) {
    name.expire_block_height = std::min(name.expire_block_height, message.expire_block_height);
  }
  if (message.preferred_asset.IsRune()) {
    name.preferred_asset = Asset();
  } else if (!message.preferred_asset.IsEmpty() &&
             !(name.preferred_asset == message.preferred_asset)) {
    name.preferred_asset = message.preferred_asset;
  }
  // -1 where the memo has none.
  if (message.preferred_asset_outbound_fee_multiplier >= 0) {
    name.preferred_asset_outbound_fee_multiplier = message.preferred_asset_outbound_fee_multiplier;
  }
  SetAlias(&name, message.chain, message.address);
  // A new owner starts afresh.
  if (!message.owner.IsEmpty() && message.owner != name.owner) {
    name.owner = message.owner;
    name.preferred_asset = Asset();
    name.preferred_asset_outbound_fee_multiplier = 0;
    name.aliases.clear();
  }
  SetTHORName(k, ctx, name);
  ctx.events().Emit(sdk::Event("thorname", {{"name", ToLower(name.name)},
                                            {"chain", message.chain.ToString()},
                                            {"address", message.address.ToString()},
                                            {"registration_fee", payment.registration.ToString()},
                                            {"fund_amount", payment.fund.ToString()},
                                            {"expire", std::to_string(name.expire_block_height)},
                                            {"owner", ToText(k, name.owner)}}));
  return {};
}

}  // namespace blockreplay::keeper::thorchain
