#include "replay/page/profile_data.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "replay/page/node_phases.h"

namespace blockreplay::replay {

using nlohmann::json;

json ProfileToJson(const std::string& name, const profiling::ProfileView& view) {
  json types = json::array();
  for (const auto& type : view.types()) types.push_back({{"type", type.type}, {"unit", type.unit}});
  json labels = json::array();
  for (const auto& set : view.label_sets()) {
    json& object = labels.emplace_back(json::object());
    for (const auto& [key, value] : set) object[key] = value;
  }

  json nodes = json::array();
  json samples = json::array();
  absl::flat_hash_map<std::pair<int64_t, uint32_t>, int64_t> node_ids;
  for (const profiling::ProfileView::Sample& sample : view.samples()) {
    int64_t node = -1;
    for (const uint32_t function : sample.stack) {
      const auto [it, added] =
          node_ids.try_emplace({node, function}, static_cast<int64_t>(node_ids.size()));
      if (added) {
        nodes.push_back(node);
        nodes.push_back(function);
      }
      node = it->second;
    }
    samples.push_back(node);
    samples.push_back(sample.labels);
    for (const int64_t value : sample.values) samples.push_back(value);
  }
  const size_t default_type = view.TypeNamed("").value_or(0);
  json result = {{"name", name},
                 {"types", std::move(types)},
                 {"default", default_type},
                 {"functions", view.functions()},
                 {"nodes", std::move(nodes)},
                 {"labels", std::move(labels)},
                 {"samples", std::move(samples)}};
  // What stands beside a node's.
  json& phases = result["phases"] = json::object();
  for (const char* type : {"cpu", "alloc_space"}) {
    if (const auto index = view.TypeNamed(type); index.ok())
      phases[type] = SumByPhase(view, *index);
  }
  return result;
}

}  // namespace blockreplay::replay
