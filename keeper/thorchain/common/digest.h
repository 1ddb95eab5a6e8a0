#pragma once

#include <string>
#include <string_view>

// Digests of identifiers and addresses. All results are raw bytes.
namespace blockreplay::keeper::thorchain {

std::string Sha256(std::string_view data);
std::string Ripemd160(std::string_view data);
// The original Keccak padding, as Ethereum uses it, not SHA3-256.
std::string Keccak256(std::string_view data);
std::string Blake2b256(std::string_view data);
// The first four bytes of SHA-256 applied twice.
std::string Checksum4(std::string_view data);

std::string UpperHex(std::string_view bytes);
std::string LowerHex(std::string_view bytes);
// Digits of either case.
bool IsHex(std::string_view text);
// An even number of digits; the caller has checked them.
std::string HexToBytes(std::string_view digits);

}  // namespace blockreplay::keeper::thorchain
