#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "keeper/sdk/tx.h"
#include "keeper/thorchain/common/network.h"

namespace blockreplay::keeper::thorchain {

// What SIGN_MODE_LEGACY_AMINO_JSON signs: a JSON document with sorted keys, made as
// cosmossdk.io/x/tx v0.14 does with THORNode's own encodings of addresses, assets and keygen types.
// Nothing where the original makes none: unknown fields or extension options in the body, messages
// it can't read.
std::optional<std::string> AminoSignDoc(const sdk::Tx& tx, std::string_view chain_id,
                                        uint64_t account_number, uint64_t sequence,
                                        const Network& network);

// `text` as Go's encoding/json writes it, quotes included.
std::string JsonText(std::string_view text);

}  // namespace blockreplay::keeper::thorchain
