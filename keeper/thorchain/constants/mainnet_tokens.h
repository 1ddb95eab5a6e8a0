#pragma once

#include <span>
#include <string_view>

namespace blockreplay::keeper::thorchain {

// The tokens of a chain that swaps may name by the end of their address; none for other chains.
std::span<const std::string_view> MainNetTokens(std::string_view chain);

}  // namespace blockreplay::keeper::thorchain
