// Decodes arbitrary bytes as each kind of stored value; an account that is accepted encodes to
// bytes that decode alike.

#include <cstdint>
#include <string>
#include <string_view>

#include "keeper/gno/account.h"
#include "keeper/gno/consensus_params.h"
#include "keeper/gno/describe.h"
#include "keeper/gno/header.h"
#include "keeper/sdk/panic.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using blockreplay::keeper::gno::Account;
  blockreplay::keeper::gno::Scratch scratch;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::optional<Account> account = Account::Decode(bytes, &scratch);
  using blockreplay::keeper::gno::DescribeStoredKey;
  using blockreplay::keeper::gno::DescribeStoredValue;
  DescribeStoredKey("main", bytes);
  for (const char* key : {"/a/", "/b/", "/pv/", "gasPrice", "globalAccountNumber"}) {
    DescribeStoredValue("main", key, bytes);
  }
  blockreplay::keeper::gno::MaxGasOf(bytes);
  blockreplay::keeper::gno::HeaderHash(bytes);
  blockreplay::keeper::gno::ParseHeader(bytes);
  if (!account.has_value()) return 0;
  const std::string encoded(account->Encode(&scratch));
  const std::optional<Account> again = Account::Decode(encoded, &scratch);
  if (!again.has_value() || again->Encode(&scratch) != encoded) __builtin_trap();
  if (account->is_vesting()) {
    try {
      account->LockedCoins(1);
      account->LockedCoins(INT64_MAX);
    } catch (const blockreplay::keeper::sdk::Panic&) {
    }
  }
  return 0;
}
