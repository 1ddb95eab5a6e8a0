#include "keeper/thorchain/keeper.h"

namespace blockreplay::keeper::thorchain {
namespace {

// Reads a message with one field. As in the original, a malformed value counts as found and leaves
// the default.
template <typename Record>
bool GetWrapped(const Keeper& k, const Context& ctx, std::string_view key, Record* record) {
  const Result<bool> found = GetRecord(k, ctx, key, record);
  if (!found.ok()) {
    *record = Record();
    return false;
  }
  return *found;
}

}  // namespace

void DeleteKey(const Keeper& k, const Context& ctx, std::string_view key) {
  const sdk::KVStore store = k.kv(ctx);
  if (store.Has(key)) store.Delete(key);
}

bool HasKey(const Keeper& k, const Context& ctx, std::string_view key) {
  return k.kv(ctx).Has(key);
}

bool GetInt64(const Keeper& k, const Context& ctx, std::string_view key, int64_t* value) {
  ProtoInt64 record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = record.value;
  return true;
}

void SetInt64(const Keeper& k, const Context& ctx, std::string_view key, int64_t value) {
  SetRecord(k, ctx, key, ProtoInt64{value});
}

bool GetUint64(const Keeper& k, const Context& ctx, std::string_view key, uint64_t* value) {
  ProtoUint64 record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = record.value;
  return true;
}

void SetUint64(const Keeper& k, const Context& ctx, std::string_view key, uint64_t value) {
  SetRecord(k, ctx, key, ProtoUint64{value});
}

bool GetUint(const Keeper& k, const Context& ctx, std::string_view key, Uint* value) {
  ProtoUint record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = record.value;
  return true;
}

void SetUint(const Keeper& k, const Context& ctx, std::string_view key, const Uint& value) {
  SetRecord(k, ctx, key, ProtoUint{value});
}

bool GetString(const Keeper& k, const Context& ctx, std::string_view key, std::string* value) {
  ProtoString record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = std::move(record.value);
  return true;
}

void SetString(const Keeper& k, const Context& ctx, std::string_view key,
               const std::string& value) {
  SetRecord(k, ctx, key, ProtoString{value});
}

bool GetStrings(const Keeper& k, const Context& ctx, std::string_view key,
                std::vector<std::string>* value) {
  ProtoStrings record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = std::move(record.value);
  return true;
}

void SetStrings(const Keeper& k, const Context& ctx, std::string_view key,
                const std::vector<std::string>& value) {
  if (value.empty()) {
    k.kv(ctx).Delete(key);
    return;
  }
  SetRecord(k, ctx, key, ProtoStrings{value});
}

bool GetAccAddresses(const Keeper& k, const Context& ctx, std::string_view key,
                     std::vector<AccAddress>* value) {
  ProtoAccAddresses record;
  if (!GetWrapped(k, ctx, key, &record)) return false;
  *value = std::move(record.value);
  return true;
}

void SetAccAddresses(const Keeper& k, const Context& ctx, std::string_view key,
                     const std::vector<AccAddress>& value) {
  SetRecord(k, ctx, key, ProtoAccAddresses{value});
}

}  // namespace blockreplay::keeper::thorchain
