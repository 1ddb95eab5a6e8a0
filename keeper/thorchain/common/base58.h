#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

enum class Base58Alphabet { kBitcoin, kXrp };

bool IsBase58Digit(char c, Base58Alphabet alphabet);

std::string EncodeBase58(std::string_view bytes,
                         Base58Alphabet alphabet = Base58Alphabet::kBitcoin);
// Nothing for a digit outside the alphabet, for empty text, and above 256 characters: nothing that
// long is an address, and the work grows with the square.
std::optional<std::string> DecodeBase58(std::string_view text,
                                        Base58Alphabet alphabet = Base58Alphabet::kBitcoin);

// With four bytes of double SHA-256 appended. At least one byte besides them, as a version.
std::string EncodeBase58Check(std::string_view bytes,
                              Base58Alphabet alphabet = Base58Alphabet::kBitcoin);
std::optional<std::string> DecodeBase58Check(std::string_view text,
                                             Base58Alphabet alphabet = Base58Alphabet::kBitcoin);

}  // namespace blockreplay::keeper::thorchain
