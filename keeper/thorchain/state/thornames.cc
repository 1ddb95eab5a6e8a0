#include "keeper/thorchain/state/thornames.h"

#include <openssl/evp.h>

#include <string>

namespace blockreplay::keeper::thorchain {
namespace {

std::string ToBase64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

// Upper-cased like all keys, although it is Base64.
std::string Key(std::string_view name) {
  return StoreKey(kTHORNamePrefix, ToBase64(ToLower(name)));
}

}  // namespace

bool THORNameExists(const Keeper& k, const Context& ctx, std::string_view name) {
  if (!HasKey(k, ctx, Key(name))) return false;
  const Result<THORName> record = GetTHORName(k, ctx, name);
  return record.ok() && record->expire_block_height >= ctx.height();
}

Result<THORName> GetTHORName(const Keeper& k, const Context& ctx, std::string_view name) {
  THORName record;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, Key(name), &record));
  if (!found) return Error::New(sdk::StrCat("THORName doesn't exist: ", name));
  if (record.expire_block_height < ctx.height()) {
    record = THORName();
    record.name = name;
  }
  return record;
}

void SetTHORName(const Keeper& k, const Context& ctx, const THORName& name) {
  SetRecord(k, ctx, Key(name.name), name);
}

void DeleteTHORName(const Keeper& k, const Context& ctx, std::string_view name) {
  DeleteKey(k, ctx, Key(name));
}

Address GetAlias(const THORName& name, const Chain& chain) {
  for (const THORNameAlias& alias : name.aliases) {
    if (alias.chain == chain) return alias.address;
  }
  return Address();
}

void SetAlias(THORName* name, const Chain& chain, const Address& address) {
  for (THORNameAlias& alias : name->aliases) {
    if (alias.chain == chain) {
      alias.address = address;
      return;
    }
  }
  THORNameAlias alias;
  alias.chain = chain;
  alias.address = address;
  name->aliases.push_back(std::move(alias));
}

}  // namespace blockreplay::keeper::thorchain
