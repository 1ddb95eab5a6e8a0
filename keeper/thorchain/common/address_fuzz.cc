#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "keeper/sdk/panic.h"
#include "keeper/thorchain/common/address.h"
#include "keeper/thorchain/common/pub_key.h"

namespace blockreplay::keeper::thorchain {
namespace {

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// The node panics at some texts, which its handlers' callers recover from: no finding.
template <typename Question>
void Ask(const Question& question) {
  try {
    question();
  } catch (const sdk::Panic&) {
  }
}

void Run(std::string_view text) {
  for (const Network* network : {&MainNet(), &MockNet()}) {
    const absl::StatusOr<Address> parsed = Address::Parse(text, *network);
    if (parsed.ok()) Check(parsed->ToString() == text, "an accepted address keeps its text");
    const Address address(text);
    for (const Chain& chain : AllChains()) {
      Ask([&] { (void)address.IsChain(chain); });
      Ask([&] { (void)address.GetNetwork(chain, *network); });
    }
    Ask([&] { (void)address.GetChain(); });
    Ask([&] { (void)address.ToTexAddress(*network); });
    const absl::StatusOr<AccAddress> account = address.ToAccAddress(*network);
    if (account.ok()) {
      const absl::StatusOr<AccAddress> again =
          AccAddress::FromBech32(account->ToString(*network), *network);
      Check(again.ok() && *again == *account, "an account's text is read again");
    }
    const absl::StatusOr<Address> new_bch = address.ToNewBCHFormat(*network);
    if (new_bch.ok())
      Check(new_bch->IsValidBCHAddress(), "a converted address is of the new format");
    const absl::StatusOr<PubKey> key = PubKey::Parse(text, *network);
    if (key.ok()) {
      for (const Chain& chain : AllChains()) (void)key->GetAddress(chain, *network);
    }
  }
}

}  // namespace
}  // namespace blockreplay::keeper::thorchain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  blockreplay::keeper::thorchain::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
