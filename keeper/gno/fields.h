#pragma once

#include "keeper/gno/address.h"
#include "keeper/gno/amino.h"
#include "keeper/gno/coins.h"

namespace blockreplay::keeper::gno {

// Values that are strings on the wire; false where amino refuses. `*coins` views the message.
bool ReadAddress(amino::FieldReader* reader, Address* address);
bool ReadCoins(amino::FieldReader* reader, Coins* coins);

}  // namespace blockreplay::keeper::gno
