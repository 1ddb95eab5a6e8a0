#include "keeper/thorchain/state/keygens.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keeper/thorchain/common/digest.h"

namespace blockreplay::keeper::thorchain {
namespace {

std::string Key(int64_t height) { return StoreKey("keygen/", std::to_string(height)); }

}  // namespace

Result<KeygenBlock> GetKeygenBlock(const Keeper& k, const Context& ctx, int64_t height) {
  KeygenBlock block;
  KEEPER_ASSIGN_OR_RETURN(const bool found, GetRecord(k, ctx, Key(height), &block));
  if (!found) block.height = height;
  return block;
}

void SetKeygenBlock(const Keeper& k, const Context& ctx, const KeygenBlock& block) {
  SetRecord(k, ctx, Key(block.height), block);
}

Keygen MakeKeygen(int64_t height, std::vector<std::string> members, KeygenType type) {
  std::sort(members.begin(), members.end());
  std::string text = sdk::StrCat(height, Name(type));
  for (const std::string& member : members) text += member;
  return {.id = TxID(LowerHex(Sha256(text))), .type = type, .members = std::move(members)};
}

bool Contains(const KeygenBlock& block, const Keygen& keygen) {
  return std::any_of(block.keygens.begin(), block.keygens.end(),
                     [&](const Keygen& item) { return item.id == keygen.id; });
}

}  // namespace blockreplay::keeper::thorchain
