#pragma once

#include <cstdint>
#include <string_view>

namespace blockreplay::storage::bptree {

// CRC-32C (Castagnoli), as hash/crc32 of Go computes it.
uint32_t Crc32c(std::string_view bytes);

}  // namespace blockreplay::storage::bptree
