#pragma once

#include <google/protobuf/repeated_ptr_field.h>

#include "cosmos/store/v1beta1/listening.pb.h"

namespace blockreplay::replay {

// Brings the writes that a listener saw into the order of a recording's change set: stores by name,
// keys ascending, the last write per key. The SDK sorts by store only
// (rootmulti.Store.PopStateCache) and keeps the order of execution within: that of one flush of a
// block's branch, keys ascending, and behind it whatever the application writes past that branch.
void NormalizeChangeSet(
    google::protobuf::RepeatedPtrField<cosmos::store::v1beta1::StoreKVPair>* writes);

}  // namespace blockreplay::replay
