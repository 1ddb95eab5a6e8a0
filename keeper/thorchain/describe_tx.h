#pragma once

#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// Types of a transaction's messages, joined by `+`; for deposits with the verb of the memo, for
// observations with their direction; `inject:` in front of what proposers inject; "?" for what
// can't be decoded.
std::string DescribeTx(std::string_view tx);

}  // namespace blockreplay::keeper::thorchain
