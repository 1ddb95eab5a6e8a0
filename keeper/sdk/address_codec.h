#pragma once

#include <string>
#include <string_view>

#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

// Addresses of accounts as text. Implementations may remember results; not thread-safe.
class AddressCodec {
 public:
  virtual ~AddressCodec() = default;
  // Empty text for an empty address. The reference is valid until the next call.
  virtual const std::string& ToText(std::string_view bytes) = 0;
  virtual Result<std::string> ToBytes(std::string_view text) = 0;
};

}  // namespace blockreplay::keeper::sdk
