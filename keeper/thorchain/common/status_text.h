#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "keeper/sdk/str_cat.h"

namespace blockreplay::keeper::thorchain {

using sdk::StrCat;

// An error with the node's text for it, which reaches logs and events unchanged.
template <typename... Pieces>
absl::Status Error(const Pieces&... pieces) {
  return absl::InvalidArgumentError(StrCat(pieces...));
}

// Debian's Abseil has a string_view of its own.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

template <typename StatusOr>
std::string_view ErrorText(const StatusOr& result) {
  return Message(result.status());
}

}  // namespace blockreplay::keeper::thorchain
