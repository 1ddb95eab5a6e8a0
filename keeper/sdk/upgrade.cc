#include "keeper/sdk/upgrade.h"

#include <string_view>

#include "keeper/sdk/str_cat.h"
#include "keeper/sdk/wire.h"

namespace blockreplay::keeper::sdk {
namespace {

constexpr std::string_view kPlanKey("\0", 1);
constexpr std::string_view kDonePrefix = "\x01";

// Plan: name 1, time 2 (deprecated: the zero time, but always there), height 3, info 4.
constexpr uint32_t kName = 1;
constexpr uint32_t kTime = 2;
constexpr uint32_t kHeight = 3;
constexpr uint32_t kInfo = 4;

bool DecodePlan(std::string_view bytes, UpgradePlan* plan) {
  WireReader r(bytes);
  while (!r.AtEnd()) {
    uint32_t number = 0;
    WireType type{};
    if (!r.Tag(&number, &type)) return false;
    std::string_view text;
    uint64_t height = 0;
    if (number == kName && type == WireType::kBytes) {
      if (!r.Bytes(&text)) return false;
      plan->name = text;
    } else if (number == kInfo && type == WireType::kBytes) {
      if (!r.Bytes(&text)) return false;
      plan->info = text;
    } else if (number == kHeight && type == WireType::kVarint) {
      if (!r.Varint(&height)) return false;
      plan->height = static_cast<int64_t>(height);
    } else if (!r.Skip(number, type)) {
      return false;
    }
  }
  return true;
}

std::string EncodePlan(const UpgradePlan& plan) {
  // Seconds of Go's zero time, the first of January of the year 1.
  constexpr int64_t kZeroTime = -62135596800;
  WireWriter w;
  w.BytesField(kInfo, plan.info);
  w.VarintField(kHeight, static_cast<uint64_t>(plan.height));
  const size_t mark = w.size();
  w.VarintField(1, static_cast<uint64_t>(kZeroTime));
  w.EndMessage(kTime, mark);
  w.BytesField(kName, plan.name);
  return std::string(w.bytes());
}

}  // namespace

Result<std::optional<UpgradePlan>> UpgradeKeeper::GetPlan(const Context& context) const {
  const std::optional<std::string_view> bytes = context.kv(store_).Get(kPlanKey);
  if (!bytes) return std::optional<UpgradePlan>();
  UpgradePlan plan;
  if (!DecodePlan(*bytes, &plan)) return Error::New("cannot decode the upgrade plan");
  return std::optional<UpgradePlan>(std::move(plan));
}

Error UpgradeKeeper::Schedule(const Context& context, const UpgradePlan& plan) const {
  if (plan.name.empty()) return Error(kErrInvalidRequest, "name cannot be empty");
  if (plan.height <= 0) return Error(kErrInvalidRequest, "height must be greater than 0");
  if (plan.height < context.height()) {
    return Error(kErrInvalidRequest, "upgrade cannot be scheduled in the past");
  }
  if (IsDone(context, plan.name)) {
    return Error(kErrInvalidRequest,
                 StrCat("upgrade with name ", plan.name, " has already been completed"));
  }
  KEEPER_ASSIGN_OR_RETURN(const std::optional<UpgradePlan> old, GetPlan(context));
  if (old) ClearIbcState(context, old->height);
  context.kv(store_).Set(kPlanKey, EncodePlan(plan));
  return {};
}

Error UpgradeKeeper::ClearPlan(const Context& context) const {
  KEEPER_ASSIGN_OR_RETURN(const std::optional<UpgradePlan> plan, GetPlan(context));
  if (!plan) return {};
  ClearIbcState(context, plan->height);
  context.kv(store_).Delete(kPlanKey);
  return {};
}

bool UpgradeKeeper::IsDone(const Context& context, std::string_view name) const {
  // The prefix, eight bytes of the height, the name.
  constexpr size_t kNameStart = 9;
  for (GasIterator it = context.kv(store_).IteratePrefix(kDonePrefix); it.Valid(); it.Next()) {
    if (it.key().size() <= kNameStart) throw Panic("expected key of length at least 10");
    if (it.key().substr(kNameStart) == name) return true;
  }
  return false;
}

void UpgradeKeeper::ClearIbcState(const Context& context, int64_t height) const {
  const std::string prefix = StrCat("upgradedIBCState/", height, "/");
  context.kv(store_).Delete(prefix + "upgradedClient");
  context.kv(store_).Delete(prefix + "upgradedConsState");
}

}  // namespace blockreplay::keeper::sdk
