#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cosmos/bank/v1beta1/bank.pb.h"
#include "google/protobuf/any.pb.h"
#include "keeper/sdk/error.h"
#include "keeper/sdk/tx.h"

namespace blockreplay::keeper::thorchain {

struct TextualSigner {
  std::string address;
  std::string chain_id;
  uint64_t account_number = 0;
  uint64_t sequence = 0;
  google::protobuf::Any pub_key;
};

// Metadata of a valid denomination; it reads the state.
using DenomMetadataReader =
    std::function<std::optional<cosmos::bank::v1beta1::Metadata>(const std::string& denom)>;

// What SIGN_MODE_TEXTUAL signs: the transaction as a person sees it on a device's screens, in CBOR.
// As cosmossdk.io/x/tx v0.14 makes it. Nothing where the original has an error.
std::optional<std::string> TextualSignDoc(const sdk::Tx& tx, const TextualSigner& signer,
                                          const DenomMetadataReader& metadata);

}  // namespace blockreplay::keeper::thorchain
