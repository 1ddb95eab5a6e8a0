#include "replay/page/node_phases.h"

#include <algorithm>
#include <string_view>

namespace blockreplay::replay {
namespace {

using profiling::ProfileView;

struct Rule {
  std::string_view part;  // of a function's name
  std::string_view phase;
};

// The first rule that any function of a stack meets decides: what happens inside of a phase but is
// its own kind of cost (collecting garbage, hashing in a commit) comes before it.
constexpr Rule kRules[] = {
    {"runtime.gcBgMarkWorker", "gc"},
    {"runtime.gcAssistAlloc", "gc"},
    {"runtime.bgsweep", "gc"},
    {"runtime.bgscavenge", "gc"},
    {"leveldb.(*DB).memCompaction", "flush"},
    {"leveldb.(*DB).mCompaction", "flush"},
    {"leveldb.(*DB).tCompaction", "compaction"},
    {"leveldb.(*DB).tableCompaction", "compaction"},
    {"pebble.(*DB).flush", "flush"},
    {"pebble.(*DB).compact", "compaction"},
    {").WorkingHash", "hash"},
    {").workingHash", "hash"},
    {").hashWithCount", "hash"},
    {"iavl.(*MutableTree).SaveVersion", "commit"},
    {").Commit", "commit"},
    {").commitStores", "commit"},
    {").BeginBlock", "begin_block"},
    {").beginBlock", "begin_block"},
    {").preBlock", "begin_block"},
    {").EndBlock", "end_block"},
    {").endBlock", "end_block"},
    {").DeliverTx", "deliver_tx"},
    {").deliverTx", "deliver_tx"},
    {").runTx", "deliver_tx"},
};

constexpr size_t kRuleCount = sizeof(kRules) / sizeof(kRules[0]);

// The index of the first rule that a name meets, or kRuleCount.
size_t RuleOf(std::string_view function) {
  for (size_t i = 0; i < kRuleCount; ++i) {
    if (function.find(kRules[i].part) != std::string_view::npos) return i;
  }
  return kRuleCount;
}

std::string PhaseOfRule(size_t rule) {
  return rule == kRuleCount ? "other" : std::string(kRules[rule].phase);
}

}  // namespace

std::string NodePhaseOf(const std::vector<std::string>& functions) {
  size_t rule = kRuleCount;
  for (const std::string& function : functions) rule = std::min(rule, RuleOf(function));
  return PhaseOfRule(rule);
}

void LabelNodePhases(ProfileView* view) {
  for (const std::string& key : view->LabelKeys()) {
    if (key == "phase") return;
  }
  std::vector<size_t> rules;
  bool any = false;
  for (const std::string& function : view->functions()) {
    rules.push_back(RuleOf(function));
    any |= rules.back() != kRuleCount;
  }
  if (!any) return;
  view->SetLabel("phase", [&](const ProfileView::Sample& sample) {
    size_t rule = kRuleCount;
    for (const uint32_t function : sample.stack) rule = std::min(rule, rules[function]);
    return PhaseOfRule(rule);
  });
}

std::map<std::string, int64_t> SumByPhase(const ProfileView& view, size_t type) {
  std::map<std::string, int64_t> sums;
  for (const ProfileView::Sample& sample : view.samples()) {
    std::string_view phase = view.LabelOf(sample, "phase");
    if (phase.empty()) phase = view.LabelOf(sample, "thread_role");
    // Threads of the database have a role and no phase; those of no known role are the rest.
    if (phase.empty() || phase == "main") phase = "other";
    int64_t& sum = sums[std::string(phase)];
    sum = profiling::SaturatingAdd(sum, sample.values[type]);
  }
  return sums;
}

}  // namespace blockreplay::replay
