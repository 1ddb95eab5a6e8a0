#include "keeper/gno/fields.h"

#include <optional>
#include <utility>

namespace blockreplay::keeper::gno {

bool ReadAddress(amino::FieldReader* reader, Address* address) {
  std::string_view text;
  if (!reader->Bytes(&text)) return false;
  const std::optional<Address> parsed = Address::FromField(text);
  if (!parsed.has_value()) return false;
  *address = *parsed;
  return true;
}

bool ReadCoins(amino::FieldReader* reader, Coins* coins) {
  std::string_view text;
  if (!reader->Bytes(&text)) return false;
  std::optional<Coins> parsed = Coins::Parse(text);
  if (!parsed.has_value()) return false;
  *coins = *std::move(parsed);
  return true;
}

}  // namespace blockreplay::keeper::gno
