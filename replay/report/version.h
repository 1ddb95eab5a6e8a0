#pragma once

#include <string>

namespace blockreplay::replay {

// "0.1.0"
std::string ToolVersion();
// The git revision that the program was built from, with "-dirty" if files were changed; "unknown"
// outside a checkout.
std::string ToolRevision();

}  // namespace blockreplay::replay
