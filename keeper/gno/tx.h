#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "keeper/gno/address.h"
#include "keeper/gno/coins.h"
#include "keeper/gno/pub_key.h"
#include "keeper/gno/scratch.h"

namespace blockreplay::keeper::gno {

// A message of a transaction. Which fields mean something depends on the type.
struct Msg {
  enum class Type : uint8_t {
    kNil,                // an empty Any
    kSend,               // /bank.MsgSend
    kCreateSession,      // /auth.m_create_session
    kRevokeSession,      // /auth.m_revoke_session
    kRevokeAllSessions,  // /auth.m_revoke_all_sessions
    kVm,                 // /vm.m_call, /vm.m_run, /vm.m_addpkg: not decoded
  };

  Type type = Type::kNil;
  Address signer;  // sender or creator
  Address to;
  Coins coins;  // amount or spend limit
  PubKey session_key;
  int64_t expires_at = 0;
  absl::InlinedVector<std::string_view, 2> allow_paths;
  int64_t spend_period = 0;

  std::string_view route() const;
  // Type within the route, as in allow paths.
  std::string_view action() const;
};

struct Signature {
  PubKey pub_key;
  std::string_view signature;
  Address session;  // zero: signed by the account itself
};

// std.Tx of tm2. Views are of the transaction's bytes and of the scratch memory.
struct Tx {
  std::vector<Msg> msgs;
  int64_t gas_wanted = 0;
  Coin gas_fee;
  std::vector<Signature> signatures;
  std::string_view memo;

  // Replaces the content; false where amino refuses the bytes.
  bool Decode(std::string_view bytes, Scratch* scratch);

  // Replaces `*out` with what is signed: canonical JSON. Requires that no message is kNil or kVm.
  void SignBytes(std::string_view chain_id, uint64_t account_number, uint64_t sequence,
                 std::string* out) const;
};

// As Go's encoding/json writes a string, quotes included, after it has read it: bytes that are not
// UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace blockreplay::keeper::gno
