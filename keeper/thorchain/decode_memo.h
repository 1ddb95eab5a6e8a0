#pragma once

// Decoded records, remembered by their exact stored bytes. The store is read, and gas paid, as if
// nothing was remembered: only decoding is saved. What is written to the store has other bytes, so
// nothing has to be invalidated.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "keeper/optimisations.h"
#include "keeper/sdk/string_map.h"
#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {

// Null for malformed bytes. Shared by all who ask in this thread, so nobody can change it; those
// who want to, copy it.
template <Optimisation kOptimisation, size_t kMostRemembered, typename Record>
std::shared_ptr<const Record> DecodeShared(std::string_view bytes) {
  thread_local sdk::StringMap<std::shared_ptr<const Record>> remembered;
  const bool remember = IsOn(kOptimisation);
  if (remember) {
    const auto found = remembered.find(bytes);
    if (found != remembered.end()) return found->second;
  }
  auto record = std::make_shared<Record>();
  if (!Decode(bytes, record.get())) return nullptr;
  if (remember) {
    if (remembered.size() >= kMostRemembered) remembered.clear();
    remembered.emplace(std::string(bytes), record);
  }
  return record;
}

// As GetRecord; null if the key isn't there.
template <Optimisation kOptimisation, size_t kMostRemembered, typename Record>
Result<std::shared_ptr<const Record>> ReadShared(const Keeper& k, const Context& ctx,
                                                 std::string_view key) {
  const std::optional<std::string_view> bytes = k.kv(ctx).GetIfHas(key);
  if (!bytes) return std::shared_ptr<const Record>();
  std::shared_ptr<const Record> record =
      DecodeShared<kOptimisation, kMostRemembered, Record>(*bytes);
  if (record == nullptr) {
    return Error::New(sdk::StrCat("KVStore Error: Unmarshal kvstore: ", key));
  }
  return record;
}

}  // namespace blockreplay::keeper::thorchain
