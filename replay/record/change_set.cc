#include "replay/record/change_set.h"

#include <algorithm>
#include <utility>

namespace blockreplay::replay {
namespace {

using cosmos::store::v1beta1::StoreKVPair;

// Bytes as std::string compares them: unsigned.
bool Before(const StoreKVPair& a, const StoreKVPair& b) {
  const int stores = a.store_key().compare(b.store_key());
  return stores != 0 ? stores < 0 : a.key() < b.key();
}

}  // namespace

void NormalizeChangeSet(google::protobuf::RepeatedPtrField<StoreKVPair>* writes) {
  const auto begin = writes->pointer_begin();
  const auto end = writes->pointer_end();
  const auto before = [](const StoreKVPair* a, const StoreKVPair* b) { return Before(*a, *b); };
  if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
  int kept = 0;
  for (int i = 0; i < writes->size(); ++i) {
    // The later of two writes to one key takes the place of the earlier.
    if (kept > 0 && !Before(writes->Get(kept - 1), writes->Get(i))) --kept;
    if (kept != i) writes->SwapElements(kept, i);
    ++kept;
  }
  writes->DeleteSubrange(kept, writes->size() - kept);
}

}  // namespace blockreplay::replay
