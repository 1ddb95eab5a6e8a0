#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace blockreplay::keeper::thorchain {

enum class Base58Alphabet { kBitcoin, kXrp };

// Some of the node's decoders, those of Bitcoin and of XRP addresses, look digits up by characters,
// ten bytes at a time, in a table of 256. They panic at those beyond, as which they also take what
// is no UTF-8, or no longer as its bytes are in two tens; if they haven't come upon a character
// that is no digit before.
void PanicAtWideCharacter(std::string_view text, Base58Alphabet alphabet);

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
