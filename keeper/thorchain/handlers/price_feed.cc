#include "keeper/thorchain/handlers/price_feed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "keeper/optimisations.h"
#include "keeper/thorchain/common/digest.h"
#include "keeper/thorchain/handlers/attestation.h"
#include "keeper/thorchain/majority.h"
#include "keeper/thorchain/state/oracle_prices.h"

namespace blockreplay::keeper::thorchain {
namespace {

// The node calculates with math/big's Float of 64 bits, rounding to nearest even. That is the x87
// format exactly, whose larger exponent range these magnitudes never leave.
using Price = long double;
static_assert(std::numeric_limits<Price>::digits == 64);

constexpr uint32_t kMostDecimals = 18;

Price ToPrice(const CommonOraclePrice& rate) {
  uint64_t divisor = 1;
  for (uint32_t i = 0; i < rate.decimals; ++i) divisor *= 10;
  return static_cast<Price>(rate.amount) / static_cast<Price>(divisor);
}

Price MedianPrice(std::vector<Price> prices) {
  const size_t middle = prices.size() / 2;
  std::sort(prices.begin(), prices.end());
  if (prices.size() % 2 == 1) return prices[middle];
  return (prices[middle - 1] + prices[middle]) / 2;
}

// The fewest digits that give the same 64 bits again, without exponent.
std::string PriceText(Price price) {
  std::array<char, 128> buffer;
  const std::to_chars_result end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), price, std::chars_format::fixed);
  return std::string(buffer.data(), end.ptr);
}

// What a node reports for a symbol, if anything. `rate` must outlive it.
class Report {
 public:
  Report() = default;
  explicit Report(const CommonOraclePrice& rate) : rate_(&rate) {
    if (IsOn(Optimisation::kOracleRates)) price_ = ToPrice(rate);
  }
  bool IsEmpty() const { return rate_ == nullptr; }
  Price price() const { return IsOn(Optimisation::kOracleRates) ? price_ : ToPrice(*rate_); }

 private:
  const CommonOraclePrice* rate_ = nullptr;
  Price price_ = 0;
};

// One per required symbol.
using Reports = std::vector<Report>;

class PriceFeedQuorumBatchHandler : public Handler<MsgPriceFeedQuorumBatch> {
 public:
  explicit PriceFeedQuorumBatchHandler(Managers* managers)
      : Handler("/types.MsgPriceFeedQuorumBatch", managers) {
    const std::string& required = k().constants().GetString(ConstantName::kRequiredPriceFeeds);
    for (std::string_view symbol : Split(required, ',')) symbols_.emplace_back(symbol);
    version_ = Sha256(required).substr(0, 8);
  }

 protected:
  Error ValidateBasic(const MsgPriceFeedQuorumBatch& message) const override {
    if (message.quo_price_feeds.empty()) {
      return Error(sdk::kErrUnknownRequest, "no price feeds provided");
    }
    for (const QuorumPriceFeed& quorum : message.quo_price_feeds) {
      if (!quorum.price_feed) return Error(sdk::kErrUnknownRequest, "nil price feed");
      if (quorum.price_feed->time <= 0) {
        return Error(sdk::kErrUnknownRequest, "block height is negative or zero");
      }
      if (quorum.price_feed->rates.empty()) {
        return Error(sdk::kErrUnknownRequest, "rates is empty");
      }
      if (quorum.attestations.empty()) {
        return Error(sdk::kErrUnknownRequest, "no attestations found");
      }
      if (quorum.attestations.size() > 1) {
        return Error(sdk::kErrUnknownRequest, "more than one attestations found");
      }
    }
    if (message.signer.IsEmpty()) return Error(sdk::kErrInvalidAddress);
    return {};
  }
  std::vector<AccAddress> GetSigners(const MsgPriceFeedQuorumBatch& message) const override {
    std::vector<AccAddress> signers;
    for (const QuorumPriceFeed& quorum : message.quo_price_feeds) {
      for (AccAddress& signer : SignersOf(k(), quorum.attestations)) {
        signers.push_back(std::move(signer));
      }
    }
    return signers;
  }
  Error Ante(const Context&, const MsgPriceFeedQuorumBatch&) const override { return {}; }
  Error Validate(const Context&, const MsgPriceFeedQuorumBatch& message) const override {
    return ValidateBasic(message);
  }

  Error Run(const Context& ctx, const MsgPriceFeedQuorumBatch& message) const override {
    // A second batch in a block could only reorder.
    if (k().kv(ctx).IteratePrefix(kOraclePricePrefix).Valid()) return {};
    KEEPER_ASSIGN_OR_RETURN(const ActiveNodes active, ActiveNodes::Read(k(), ctx));

    // By the reporting account, and of those that are nodes by their bond address: the last ones of
    // each.
    sdk::StringMap<Reports> by_account;
    sdk::StringMap<Reports> by_bond_address;
    const Reports none(symbols_.size());
    for (const QuorumPriceFeed& quorum : message.quo_price_feeds) {
      const std::optional<AccAddress> account = Verify(ctx, active, quorum);
      if (!account) continue;
      Reports& own = by_account.try_emplace(account->bytes(), none).first->second;
      Reports* bond = nullptr;
      if (const std::optional<size_t> node =
              active.IndexOf(k().addresses->ToText(account->bytes()))) {
        bond = &by_bond_address.try_emplace(active.accounts()[*node]->bond_address.ToString(), none)
                    .first->second;
      }
      for (size_t i = 0; i < symbols_.size(); ++i) {
        const CommonOraclePrice& rate = quorum.price_feed->rates[i];
        if (rate.amount == 0 || rate.decimals > kMostDecimals) continue;
        own[i] = Report(rate);
        if (bond != nullptr) (*bond)[i] = own[i];
      }
    }
    for (size_t i = 0; i < symbols_.size(); ++i) {
      SetPrice(ctx, active, i, by_account, by_bond_address);
    }
    return {};
  }

 private:
  std::optional<AccAddress> Verify(const Context& ctx, const ActiveNodes& active,
                                   const QuorumPriceFeed& quorum) const {
    const CommonPriceFeed& feed = *quorum.price_feed;
    if (feed.version != version_ || feed.rates.size() != symbols_.size() ||
        quorum.attestations.size() != 1 || IsBeforeBlock(ctx, feed.time)) {
      return std::nullopt;
    }
    return VerifyAttestation(k(), active, sdk::Sha256Of(Encode(feed)), quorum.attestations.front());
  }

  // `time` in milliseconds.
  static bool IsBeforeBlock(const Context& ctx, int64_t time) {
    const int64_t seconds = time / 1000;
    const int64_t nanos = time % 1000 * 1'000'000;
    return seconds < ctx.block().time_seconds ||
           (seconds == ctx.block().time_seconds && nanos < ctx.block().time_nanos);
  }

  void SetPrice(const Context& ctx, const ActiveNodes& active, size_t symbol,
                const sdk::StringMap<Reports>& by_account,
                const sdk::StringMap<Reports>& by_bond_address) const {
    // Accounts with a price, nodes or not, and nodes that get that of another node of their bond
    // address.
    size_t reporters = 0;
    for (const auto& [account, reports] : by_account) {
      if (!reports[symbol].IsEmpty()) ++reporters;
    }
    std::vector<Price> prices;
    for (const SharedNodeAccount& node : active.accounts()) {
      const auto own = by_account.find(node->node_address.bytes());
      if (own != by_account.end() && !own->second[symbol].IsEmpty()) {
        prices.push_back(own->second[symbol].price());
        continue;
      }
      const auto other = by_bond_address.find(node->bond_address.ToString());
      if (other == by_bond_address.end() || other->second[symbol].IsEmpty()) continue;
      ++reporters;
      prices.push_back(other->second[symbol].price());
    }
    if (!HasSuperMajority(reporters, active.size()) || prices.empty()) return;

    OraclePrice price;
    price.symbol = symbols_[symbol];
    price.price = PriceText(MedianPrice(std::move(prices)));
    SetOraclePrice(k(), ctx, price);
    ctx.events().Emit(
        sdk::Event("oracle_price", {{"symbol", price.symbol}, {"price", price.price}}));
  }

  std::vector<std::string> symbols_;
  std::string version_;
};

}  // namespace

std::unique_ptr<sdk::MessageHandler> NewPriceFeedQuorumBatchHandler(Managers* managers) {
  return std::make_unique<PriceFeedQuorumBatchHandler>(managers);
}

}  // namespace blockreplay::keeper::thorchain
