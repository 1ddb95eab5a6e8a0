#include "keeper/thorchain/state/tx_outs.h"

#include "keeper/thorchain/decode_memo.h"
#include "keeper/thorchain/modules.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr std::string_view kTxOutPrefix = "txout/";
constexpr size_t kMostRemembered = 1 << 12;

}  // namespace

std::string TxOutKey(int64_t height) { return StoreKey(kTxOutPrefix, std::to_string(height)); }

SharedTxOut DecodeTxOut(std::string_view bytes) {
  return DecodeShared<Optimisation::kTxOutDecodes, kMostRemembered, TxOut>(bytes);
}

const SharedTxOut& NoTxOut() {
  static const SharedTxOut none = std::make_shared<const TxOut>();
  return none;
}

Result<SharedTxOut> ReadTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  Result<SharedTxOut> tx_out =
      ReadShared<Optimisation::kTxOutDecodes, kMostRemembered, TxOut>(k, ctx, TxOutKey(height));
  if (tx_out.ok() && *tx_out == nullptr) return NoTxOut();
  return tx_out;
}

Result<TxOut> GetTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  TxOut tx_out;
  const Result<bool> found = GetRecord(k, ctx, TxOutKey(height), &tx_out);
  if (!found.ok()) return found.error();
  if (!*found) tx_out.height = height;
  return tx_out;
}

void SetTxOut(const Keeper& k, const Context& ctx, const TxOut& tx_out) {
  if (tx_out.tx_array.empty()) return;
  SetRecord(k, ctx, TxOutKey(tx_out.height), tx_out);
}

Error AppendTxOut(const Keeper& k, const Context& ctx, int64_t height, const TxOutItem& item) {
  KEEPER_ASSIGN_OR_RETURN(TxOut tx_out, GetTxOut(k, ctx, height));
  tx_out.tx_array.push_back(item);
  SetTxOut(k, ctx, tx_out);
  return {};
}

void ClearTxOut(const Keeper& k, const Context& ctx, int64_t height) {
  DeleteKey(k, ctx, TxOutKey(height));
}

std::string_view GetModuleName(const TxOutItem& item) {
  return item.module_name.empty() ? kAsgardModule : std::string_view(item.module_name);
}

}  // namespace blockreplay::keeper::thorchain
