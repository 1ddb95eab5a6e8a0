#include "keeper/thorchain/state/pub_keys.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "keeper/optimisations.h"
#include "keeper/sdk/string_map.h"

namespace blockreplay::keeper::thorchain {
namespace {

constexpr size_t kMostRemembered = 1 << 14;

// Of several networks in one process each has its own.
template <typename Value>
using Remembered = sdk::StringMap<Value>;

template <typename Value>
Remembered<Value>& MemoryOf(const Network& network) {
  thread_local absl::flat_hash_map<const Network*, Remembered<Value>> memories;
  Remembered<Value>& memory = memories[&network];
  if (memory.size() >= kMostRemembered) memory.clear();
  return memory;
}

}  // namespace

bool IsValidPubKey(const Keeper& k, std::string_view text) {
  if (!IsOn(Optimisation::kBech32Texts)) return PubKey::Parse(text, k.network()).ok();
  Remembered<bool>& memory = MemoryOf<bool>(k.network());
  const auto found = memory.find(text);
  if (found != memory.end()) return found->second;
  const bool valid = PubKey::Parse(text, k.network()).ok();
  memory.emplace(std::string(text), valid);
  return valid;
}

Result<AccAddress> ThorAddress(const Keeper& k, const PubKey& key) {
  const bool remember = IsOn(Optimisation::kBech32Texts);
  Remembered<AccAddress>& memory = MemoryOf<AccAddress>(k.network());
  const auto found = memory.find(key.ToString());
  if (found != memory.end() && remember) return found->second;
  const absl::StatusOr<AccAddress> address = key.GetThorAddress(k.network());
  if (!address.ok()) return Error::New(std::string(address.status().message()));
  if (remember) memory.emplace(key.ToString(), *address);
  return *address;
}

std::vector<PubKey> ToPubKeys(const Keeper& k, const std::vector<std::string>& texts) {
  std::vector<PubKey> keys;
  keys.reserve(texts.size());
  for (const std::string& text : texts) {
    if (IsValidPubKey(k, text)) keys.emplace_back(text);
  }
  return keys;
}

}  // namespace blockreplay::keeper::thorchain
