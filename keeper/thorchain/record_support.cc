#include "keeper/thorchain/record_support.h"

namespace blockreplay::keeper::thorchain {

bool FromWireText(std::string_view bytes, Uint* value) {
  absl::StatusOr<Uint> parsed = Uint::Unmarshal(bytes);
  if (!parsed.ok()) return false;
  *value = *parsed;
  return true;
}

bool FromWireText(std::string_view bytes, sdk::Int* value) {
  absl::StatusOr<sdk::Int> parsed = sdk::Int::Unmarshal(bytes);
  if (!parsed.ok()) return false;
  *value = *std::move(parsed);
  return true;
}

void EncodeFields(const sdk::Coin& m, sdk::WireWriter* w) {
  w->BytesFieldAlways(2, m.amount.ToString());
  w->BytesField(1, m.denom);
}

bool DecodeFields(std::string_view bytes, sdk::Coin* m) {
  sdk::WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    sdk::WireType type{};
    if (!r.Tag(&number, &type)) return false;
    const bool read = number == 1   ? ReadText(&r, type, &m->denom)
                      : number == 2 ? ReadText(&r, type, &m->amount)
                                    : r.Skip(number, type);
    if (!read) return false;
  }
  return true;
}

void EncodeFields(const sdk::Any& m, sdk::WireWriter* w) {
  w->BytesField(2, m.value);
  w->BytesField(1, m.type_url);
}

bool DecodeFields(std::string_view bytes, sdk::Any* m) {
  sdk::WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    sdk::WireType type{};
    if (!r.Tag(&number, &type)) return false;
    const bool read = number == 1   ? ReadText(&r, type, &m->type_url)
                      : number == 2 ? ReadText(&r, type, &m->value)
                                    : r.Skip(number, type);
    if (!read) return false;
  }
  return true;
}

}  // namespace blockreplay::keeper::thorchain
