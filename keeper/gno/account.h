#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "keeper/gno/address.h"
#include "keeper/gno/coins.h"
#include "keeper/gno/pub_key.h"
#include "keeper/gno/scratch.h"

namespace blockreplay::keeper::gno {

// An account as it is stored: one of the concrete types of std.Account that a gno.land state holds.
// Views are of the bytes that it was decoded from, or of the scratch memory.
struct Account {
  enum class Type : uint8_t {
    kGno,                // /gno.Account
    kBase,               // /std.BaseAccount
    kContinuousVesting,  // /std.ContinuousVestingAccount
    kDelayedVesting,     // /std.DelayedVestingAccount
    kSession,            // /gno.SessionAccount
  };

  Type type = Type::kGno;

  Address address;
  Coins coins;  // denominations of the account tier only
  PubKey pub_key;
  uint64_t number = 0;
  uint64_t sequence = 0;

  // kGno.
  uint64_t attributes = 0;

  // Vesting.
  Coins original_vesting;
  int64_t start_time = 0;  // seconds since the epoch
  int64_t end_time = 0;
  std::string_view schedule_type;

  // kSession.
  Address master;
  int64_t expires_at = 0;  // seconds since the epoch; 0: never
  Coins spend_limit;
  int64_t spend_period = 0;  // seconds; 0: one limit for its whole life
  Coins spend_used;
  int64_t spend_reset = 0;
  absl::InlinedVector<std::string_view, 2> allow_paths;

  // Nothing where amino refuses, and for types that no gno.land state holds.
  static std::optional<Account> Decode(std::string_view bytes, Scratch* scratch);
  std::string_view Encode(Scratch* scratch) const;

  bool is_vesting() const {
    return type == Type::kContinuousVesting || type == Type::kDelayedVesting;
  }
  bool transfer_lock_whitelisted() const { return type == Type::kGno && (attributes & 1) != 0; }
  // What the schedule still locks at a time; requires is_vesting().
  Coins LockedCoins(int64_t time) const;
};

}  // namespace blockreplay::keeper::gno
