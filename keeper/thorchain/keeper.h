#pragma once

// What all state access of THORChain stands on. Typed access to each group of keys is in state/:
// free functions that take the Keeper and the context, such as `GetPool(k, ctx, asset)`. Every one
// reads and writes exactly what the original does, in its order: gas shows each access.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "keeper/sdk/auth.h"
#include "keeper/sdk/bank.h"
#include "keeper/sdk/context.h"
#include "keeper/sdk/error.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/common/text.h"
#include "keeper/thorchain/constants/build.h"
#include "keeper/thorchain/constants/constants.h"
#include "keeper/thorchain/record_support.h"
#include "keeper/thorchain/records.h"
#include "keeper/thorchain/stores.h"

namespace blockreplay::keeper::thorchain {

using sdk::Context;
using sdk::Error;
using sdk::Result;

// Lives as long as the chain. The rules of the build, and the keepers of the SDK's modules.
struct Keeper {
  const Build* build;
  sdk::AddressCodec* addresses;
  sdk::AuthKeeper* auth;
  sdk::BankKeeper* bank;

  const Network& network() const { return *build->network; }
  const ConstantSet& constants() const { return build->constants; }
  // THORChain's own store.
  sdk::KVStore kv(const Context& ctx) const { return ctx.kv(kThorchainStore); }
};

// `prefix` (with its slash), another slash, and the rest in upper case: the form of all keys.
template <typename... Parts>
std::string StoreKey(std::string_view prefix, const Parts&... parts) {
  std::string key;
  key.reserve(prefix.size() + 1 + (std::string_view(parts).size() + ... + size_t{0}));
  key.append(prefix);
  key.push_back('/');
  (AppendUpper(parts, &key), ...);
  return key;
}

// ---- Records. Reading takes a Has and, if the key is there, a Get. ----

// True and `*record` replaced if the key is there. Decodes on top of an empty record; a malformed
// value is an error.
template <typename Record>
Result<bool> GetRecord(const Keeper& k, const Context& ctx, std::string_view key, Record* record) {
  const std::optional<std::string_view> bytes = k.kv(ctx).GetIfHas(key);
  if (!bytes) return false;
  if (!Decode(*bytes, record)) {
    return Error::New(sdk::StrCat("KVStore Error: Unmarshal kvstore: ", key));
  }
  return true;
}
template <typename Record>
void SetRecord(const Keeper& k, const Context& ctx, std::string_view key, const Record& record) {
  thread_local sdk::WireWriter writer;
  writer.Clear();
  EncodeFields(record, &writer);
  k.kv(ctx).Set(key, writer.bytes());
}
// Takes a Has, and a Delete if the key is there.
void DeleteKey(const Keeper& k, const Context& ctx, std::string_view key);
bool HasKey(const Keeper& k, const Context& ctx, std::string_view key);

// ---- Plain values, each in a message of its own. Reading returns false and leaves `*value` if the
// key isn't there. ----

bool GetInt64(const Keeper& k, const Context& ctx, std::string_view key, int64_t* value);
void SetInt64(const Keeper& k, const Context& ctx, std::string_view key, int64_t value);
bool GetUint64(const Keeper& k, const Context& ctx, std::string_view key, uint64_t* value);
void SetUint64(const Keeper& k, const Context& ctx, std::string_view key, uint64_t value);
bool GetUint(const Keeper& k, const Context& ctx, std::string_view key, Uint* value);
void SetUint(const Keeper& k, const Context& ctx, std::string_view key, const Uint& value);
bool GetString(const Keeper& k, const Context& ctx, std::string_view key, std::string* value);
void SetString(const Keeper& k, const Context& ctx, std::string_view key, const std::string& value);
bool GetStrings(const Keeper& k, const Context& ctx, std::string_view key,
                std::vector<std::string>* value);
// An empty list deletes the key.
void SetStrings(const Keeper& k, const Context& ctx, std::string_view key,
                const std::vector<std::string>& value);
bool GetAccAddresses(const Keeper& k, const Context& ctx, std::string_view key,
                     std::vector<AccAddress>* value);
void SetAccAddresses(const Keeper& k, const Context& ctx, std::string_view key,
                     const std::vector<AccAddress>& value);

}  // namespace blockreplay::keeper::thorchain
