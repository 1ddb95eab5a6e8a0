#include "keeper/gno/account.h"

#include <cstring>

#include "keeper/gno/amino.h"
#include "keeper/gno/fields.h"

namespace blockreplay::keeper::gno {
namespace {

using amino::FieldReader;
using amino::Writer;
using Type = Account::Type;

std::string_view UrlOf(Type type) {
  switch (type) {
    case Type::kGno:
      return "/gno.Account";
    case Type::kBase:
      return "/std.BaseAccount";
    case Type::kContinuousVesting:
      return "/std.ContinuousVestingAccount";
    case Type::kDelayedVesting:
      return "/std.DelayedVestingAccount";
    case Type::kSession:
      return "/gno.SessionAccount";
  }
  return {};
}

// Depth of interfaces: the account is one, its key another.
constexpr int kKeyDepth = 2;

bool DecodeBase(std::string_view bytes, Scratch* scratch, Account* account) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        if (!ReadAddress(&reader, &account->address)) return false;
        break;
      case 2:
        if (!ReadCoins(&reader, &account->coins)) return false;
        break;
      case 3: {
        std::string_view any;
        if (!reader.Bytes(&any)) return false;
        const std::optional<PubKey> key = PubKey::FromAny(any, kKeyDepth, scratch);
        if (!key.has_value()) return false;
        account->pub_key = *key;
        break;
      }
      case 4:
        if (!reader.Uvarint(&account->number)) return false;
        break;
      case 5:
        if (!reader.Uvarint(&account->sequence)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

bool DecodeGno(std::string_view bytes, Scratch* scratch, Account* account) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    std::string_view base;
    if (reader.field() == 1) {
      if (!reader.Bytes(&base) || !DecodeBase(base, scratch, account)) return false;
    } else if (reader.field() != 2 || !reader.Uvarint(&account->attributes)) {
      return false;
    }
  }
  return reader.ok();
}

bool DecodeSchedule(std::string_view bytes, Account* account) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        if (!ReadCoins(&reader, &account->original_vesting)) return false;
        break;
      case 2:
        if (!reader.Varint(&account->start_time)) return false;
        break;
      case 3:
        if (!reader.Varint(&account->end_time)) return false;
        break;
      case 4:
        if (!reader.Bytes(&account->schedule_type)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

bool DecodeVesting(std::string_view bytes, Scratch* scratch, Account* account) {
  FieldReader outer(bytes);
  std::string_view base_vesting;
  while (outer.Next()) {
    if (outer.field() != 1 || !outer.Bytes(&base_vesting)) return false;
  }
  if (!outer.ok()) return false;
  FieldReader reader(base_vesting);
  while (reader.Next()) {
    std::string_view message;
    if (reader.field() > 2 || !reader.Bytes(&message)) return false;
    if (reader.field() == 1 ? !DecodeBase(message, scratch, account)
                            : !DecodeSchedule(message, account)) {
      return false;
    }
  }
  return reader.ok();
}

bool DecodeBaseSession(std::string_view bytes, Scratch* scratch, Account* account) {
  FieldReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1: {
        std::string_view base;
        if (!reader.Bytes(&base) || !DecodeBase(base, scratch, account)) return false;
        break;
      }
      case 2:
        if (!ReadAddress(&reader, &account->master)) return false;
        break;
      case 3:
        if (!reader.Varint(&account->expires_at)) return false;
        break;
      case 4:
        if (!ReadCoins(&reader, &account->spend_limit)) return false;
        break;
      case 5:
        if (!reader.Varint(&account->spend_period)) return false;
        break;
      case 6:
        if (!ReadCoins(&reader, &account->spend_used)) return false;
        break;
      case 7:
        if (!reader.Varint(&account->spend_reset)) return false;
        break;
      default:
        return false;
    }
  }
  return reader.ok();
}

bool DecodeSession(std::string_view bytes, Scratch* scratch, Account* account) {
  FieldReader reader(bytes);
  while (reader.Next(1u << 2)) {
    std::string_view field;
    if (reader.field() > 2 || !reader.Bytes(&field)) return false;
    if (reader.field() == 2) {
      account->allow_paths.push_back(field);
    } else if (!DecodeBaseSession(field, scratch, account)) {
      return false;
    }
  }
  return reader.ok();
}

// Upper bound of a coin string: a few more bytes than it takes, since the writer of a number may
// look at more room than it uses.
size_t BaseSize(const Account& account) {
  return amino::BytesFieldSize(Address::kTextSize) +
         amino::BytesFieldSize(account.coins.TextSize()) +
         amino::BytesFieldSize(account.pub_key.any.size()) +
         amino::UvarintFieldSize(account.number) + amino::UvarintFieldSize(account.sequence);
}

void PutAddress(uint32_t field, const Address& address, Writer* writer) {
  writer->Tag(field, amino::WireType::kBytes);
  writer->Uvarint(Address::kTextSize);
  address.ToBech32(writer->position());
  writer->Skip(Address::kTextSize);
}

void PutCoins(uint32_t field, const Coins& coins, Writer* writer) {
  const size_t size = coins.TextSize();
  if (size == 0) return;
  writer->Tag(field, amino::WireType::kBytes);
  writer->Uvarint(size);
  coins.ToText(writer->position());
  writer->Skip(size);
}

void PutBase(const Account& account, Writer* writer) {
  PutAddress(1, account.address, writer);
  PutCoins(2, account.coins, writer);
  writer->BytesField(3, account.pub_key.any);
  writer->UvarintField(4, account.number);
  writer->UvarintField(5, account.sequence);
}

size_t ScheduleSize(const Account& account) {
  return amino::BytesFieldSize(account.original_vesting.TextSize()) +
         amino::VarintFieldSize(account.start_time) + amino::VarintFieldSize(account.end_time) +
         amino::BytesFieldSize(account.schedule_type.size());
}

size_t BaseSessionSize(const Account& account) {
  return amino::BytesFieldSize(BaseSize(account)) + amino::BytesFieldSize(Address::kTextSize) +
         amino::VarintFieldSize(account.expires_at) +
         amino::BytesFieldSize(account.spend_limit.TextSize()) +
         amino::VarintFieldSize(account.spend_period) +
         amino::BytesFieldSize(account.spend_used.TextSize()) +
         amino::VarintFieldSize(account.spend_reset);
}

}  // namespace

std::optional<Account> Account::Decode(std::string_view bytes, Scratch* scratch) {
  std::optional<Account> result;
  amino::Any any;
  if (!amino::DecodeAny(bytes, &any)) return result;
  Account& account = result.emplace();
  bool ok = false;
  if (any.name == "gno.Account") {
    account.type = Type::kGno;
    ok = DecodeGno(any.value, scratch, &account);
  } else if (any.name == "std.BaseAccount") {
    account.type = Type::kBase;
    ok = DecodeBase(any.value, scratch, &account);
  } else if (any.name == "std.ContinuousVestingAccount") {
    account.type = Type::kContinuousVesting;
    ok = DecodeVesting(any.value, scratch, &account);
  } else if (any.name == "std.DelayedVestingAccount") {
    account.type = Type::kDelayedVesting;
    ok = DecodeVesting(any.value, scratch, &account);
  } else if (any.name == "gno.SessionAccount") {
    account.type = Type::kSession;
    ok = DecodeSession(any.value, scratch, &account);
  }
  if (!ok) result.reset();
  return result;
}

std::string_view Account::Encode(Scratch* scratch) const {
  const size_t base_size = BaseSize(*this);
  size_t inner_size = 0;  // of the message in field 1 of the value, where there is one
  size_t value_size = 0;
  switch (type) {
    case Type::kBase:
      value_size = base_size;
      break;
    case Type::kGno:
      inner_size = base_size;
      value_size = amino::BytesFieldSize(inner_size) + amino::UvarintFieldSize(attributes);
      break;
    case Type::kContinuousVesting:
    case Type::kDelayedVesting:
      inner_size = amino::BytesFieldSize(base_size) + amino::BytesFieldSize(ScheduleSize(*this));
      value_size = amino::BytesFieldSize(inner_size);
      break;
    case Type::kSession:
      inner_size = BaseSessionSize(*this);
      value_size = amino::BytesFieldSize(inner_size);
      for (const std::string_view path : allow_paths)
        value_size += 1 + amino::UvarintSize(path.size()) + path.size();
      break;
  }
  const std::string_view url = UrlOf(type);
  Writer writer(
      scratch->Allocate(amino::BytesFieldSize(url.size()) + amino::BytesFieldSize(value_size)));
  const char* const begin = writer.position();
  writer.BytesField(1, url);
  writer.MessageField(2, value_size);
  switch (type) {
    case Type::kBase:
      PutBase(*this, &writer);
      break;
    case Type::kGno:
      writer.MessageField(1, inner_size);
      PutBase(*this, &writer);
      writer.UvarintField(2, attributes);
      break;
    case Type::kContinuousVesting:
    case Type::kDelayedVesting:
      writer.MessageField(1, inner_size);
      writer.MessageField(1, base_size);
      PutBase(*this, &writer);
      if (writer.MessageField(2, ScheduleSize(*this))) {
        PutCoins(1, original_vesting, &writer);
        writer.VarintField(2, start_time);
        writer.VarintField(3, end_time);
        writer.BytesField(4, schedule_type);
      }
      break;
    case Type::kSession:
      writer.MessageField(1, inner_size);
      writer.MessageField(1, base_size);
      PutBase(*this, &writer);
      PutAddress(2, master, &writer);
      writer.VarintField(3, expires_at);
      PutCoins(4, spend_limit, &writer);
      writer.VarintField(5, spend_period);
      PutCoins(6, spend_used, &writer);
      writer.VarintField(7, spend_reset);
      for (const std::string_view path : allow_paths) {
        writer.Tag(2, amino::WireType::kBytes);
        writer.Uvarint(path.size());
        writer.Raw(path);
      }
      break;
  }
  return {begin, writer.size()};
}

Coins Account::LockedCoins(int64_t time) const {
  Coins vested;
  if (type == Type::kDelayedVesting) {
    if (time >= end_time) vested = original_vesting;
  } else if (time >= end_time && time > start_time) {
    vested = original_vesting;
  } else if (time > start_time) {
    const __int128 elapsed = static_cast<__int128>(time) - start_time;
    const __int128 duration = static_cast<__int128>(end_time) - start_time;
    for (const Coin& coin : original_vesting) {
      const auto amount = static_cast<int64_t>(coin.amount * elapsed / duration);
      if (amount > 0) vested.Append({coin.denom, amount});
    }
  }
  return original_vesting.SubUnsafe(vested);
}

}  // namespace blockreplay::keeper::gno
