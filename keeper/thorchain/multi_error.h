#pragma once

// go-multierror's Append: several errors as one without a code. Its text reaches users as the
// reason of refunds.

#include <string_view>

#include "keeper/sdk/error.h"
#include "keeper/sdk/str_cat.h"
#include "keeper/thorchain/errors.h"

namespace blockreplay::keeper::thorchain {

inline sdk::Error MultiError(const sdk::Error& first, const sdk::Error& second) {
  return sdk::Error::New(
      sdk::StrCat("2 errors occurred:\n\t* ", first.message(), "\n\t* ", second.message(), "\n\n"));
}

// The node's ErrInternal; `cause` may be nil.
inline sdk::Error InternalError(const sdk::Error& cause, std::string_view message) {
  const sdk::Error internal{kErrInternal};
  if (cause) return MultiError(internal, cause).Wrap(message);
  return sdk::Error::New(
      sdk::StrCat(message, ": 1 error occurred:\n\t* ", internal.message(), "\n\n"));
}

}  // namespace blockreplay::keeper::thorchain
