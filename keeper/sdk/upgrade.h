#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "keeper/sdk/context.h"
#include "keeper/sdk/error.h"

namespace blockreplay::keeper::sdk {

// At which height the chain goes on with another version of its software.
struct UpgradePlan {
  std::string name;
  int64_t height = 0;
  std::string info;
};

// x/upgrade: reads and writes in the order of cosmossdk.io/x/upgrade v0.2.
class UpgradeKeeper {
 public:
  explicit constexpr UpgradeKeeper(StoreId store) : store_(store) {}

  // Nothing if none is scheduled.
  Result<std::optional<UpgradePlan>> GetPlan(const Context& context) const;
  // Takes the place of one that is scheduled. An error for heights that have passed, and for names
  // of upgrades that are done.
  Error Schedule(const Context& context, const UpgradePlan& plan) const;
  Error ClearPlan(const Context& context) const;

 private:
  bool IsDone(const Context& context, std::string_view name) const;
  void ClearIbcState(const Context& context, int64_t height) const;

  StoreId store_;
};

}  // namespace blockreplay::keeper::sdk
