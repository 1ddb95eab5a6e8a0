#include "keeper/thorchain/common/ip_address.h"

#include <arpa/inet.h>

namespace blockreplay::keeper::thorchain {

bool IsIpAddress(const std::string& text) {
  in6_addr address;
  return text.find('\0') == std::string::npos && (inet_pton(AF_INET, text.c_str(), &address) == 1 ||
                                                  inet_pton(AF_INET6, text.c_str(), &address) == 1);
}

}  // namespace blockreplay::keeper::thorchain
