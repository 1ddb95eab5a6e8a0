#include "keeper/sdk/authz.h"

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr char kGrantPrefix = '\x01';
constexpr char kQueuePrefix = '\x02';

// The SDK's sortable form, "2006-01-02T15:04:05.000000000".
std::string TimeText(int64_t seconds, int32_t nanos) {
  const std::time_t time = seconds;
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[96];
  const int size =
      std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09d", utc.tm_year + 1900,
                    utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, nanos);
  return {text, static_cast<size_t>(size)};
}

// What stands at the front of `*bytes`, with a byte for its length before it. Keeps that byte.
std::string_view TakeLengthPrefixed(std::string_view* bytes) {
  if (bytes->empty() || bytes->size() <= static_cast<uint8_t>(bytes->front())) {
    throw Panic("unexpected length of a key in the grant queue");
  }
  const std::string_view taken = bytes->substr(0, size_t{1} + static_cast<uint8_t>(bytes->front()));
  bytes->remove_prefix(taken.size());
  return taken;
}

}  // namespace

void DeleteExpiredGrants(const Context& context, StoreId store) {
  const KVStore kv = context.kv(store);
  const std::string now = TimeText(context.block().time_seconds, context.block().time_nanos);
  storage::KeyRange range;
  range.start = kQueuePrefix;
  // Inclusive of keys that are the time itself only: what the node does.
  range.end = kQueuePrefix + now + '\0';
  for (GasIterator it = kv.Iterate(range); it.Valid(); it.Next()) {
    std::string_view rest = it.key();
    if (rest.size() < 1 + now.size()) throw Panic("unexpected length of a key in the grant queue");
    rest.remove_prefix(1 + now.size());
    const std::string_view granter = TakeLengthPrefixed(&rest);
    const std::string_view grantee = TakeLengthPrefixed(&rest);
    std::string grant(1, kGrantPrefix);
    grant.append(granter).append(grantee);
    kv.Delete(it.key());
    // GrantQueueItem: msg_type_urls 1.
    WireReader r(it.value());
    while (!r.AtEnd()) {
      uint32_t number = 0;
      WireType type{};
      std::string_view type_url;
      if (!r.Tag(&number, &type)) throw Panic("cannot decode an entry of the grant queue");
      if (number == 1 && type == WireType::kBytes) {
        if (!r.Bytes(&type_url)) throw Panic("cannot decode an entry of the grant queue");
        kv.Delete(grant + std::string(type_url));
      } else if (!r.Skip(number, type)) {
        throw Panic("cannot decode an entry of the grant queue");
      }
    }
  }
}

}  // namespace blockreplay::keeper::sdk
