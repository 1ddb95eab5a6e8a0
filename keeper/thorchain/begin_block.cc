#include "keeper/thorchain/begin_block.h"

namespace blockreplay::keeper::thorchain {

void BeginBlock(Managers&, const Context&) { throw sdk::NotNative("begin blocks"); }

}  // namespace blockreplay::keeper::thorchain
