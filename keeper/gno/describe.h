#pragma once

// Transactions, keys and values as people read them. None of these fails.

#include <string>
#include <string_view>

namespace blockreplay::keeper::gno {

// The types of its messages, each once, such as "/bank.MsgSend"; "?" for what doesn't decode.
std::string DescribeTx(std::string_view tx);
std::string DescribeStoredKey(std::string_view store, std::string_view key);
std::string DescribeStoredValue(std::string_view store, std::string_view key,
                                std::string_view value);

}  // namespace blockreplay::keeper::gno
