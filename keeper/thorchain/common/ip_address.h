#pragma once

#include <string>

namespace blockreplay::keeper::thorchain {

// Go's net.ParseIP takes it: dotted decimal without leading zeros, or IPv6 without a zone.
bool IsIpAddress(const std::string& text);

}  // namespace blockreplay::keeper::thorchain
