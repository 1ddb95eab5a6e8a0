#include "keeper/thorchain/bech32_addresses.h"

#include <utility>

#include "keeper/optimisations.h"
#include "keeper/thorchain/common/acc_address.h"
#include "keeper/thorchain/common/bech32.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMostRemembered = 1 << 16;

}  // namespace

const std::string& Bech32Addresses::ToText(std::string_view bytes) {
  const bool remember = IsOn(Optimisation::kBech32Texts);
  const auto found = text_.find(bytes);
  if (found != text_.end() && remember) return found->second;
  std::string text = AccAddress(std::string(bytes)).ToString(*network_);
  // Texts that were given out stay where they are.
  if (found != text_.end()) return found->second;
  if (text_.size() >= kMostRemembered) text_.clear();
  return text_.emplace(std::string(bytes), std::move(text)).first->second;
}

sdk::Result<std::string> Bech32Addresses::ToBytes(std::string_view text) {
  const bool remember = IsOn(Optimisation::kBech32Texts);
  const auto found = bytes_.find(text);
  if (found != bytes_.end() && remember) return found->second;
  const absl::StatusOr<AccAddress> address = AccAddress::FromBech32(text, *network_);
  if (!address.ok()) return Reason(text, std::string(address.status().message()));
  if (!remember) return address->bytes();
  if (bytes_.size() >= kMostRemembered) bytes_.clear();
  bytes_.emplace(std::string(text), address->bytes());
  return address->bytes();
}

sdk::Error Bech32Addresses::Reason(std::string_view text, std::string message) const {
  const absl::StatusOr<CosmosBech32> decoded = DecodeCosmosBech32(text);
  if (!decoded.ok()) return sdk::Error::New(std::move(message));
  return decoded->prefix == network_->account_prefix ? sdk::Error(sdk::kErrInvalidAddress)
                                                     : sdk::Error(sdk::kErrLogic, message);
}

}  // namespace blockreplay::keeper::thorchain
