#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace blockreplay::keeper::sdk {

struct Attribute {
  std::string key;
  std::string value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// As in a block's result. All attributes are indexed (the node's `index-events` is empty).
struct Event {
  std::string type;
  std::vector<Attribute> attributes;

  Event() = default;
  explicit Event(std::string event_type, std::vector<Attribute> event_attributes = {})
      : type(std::move(event_type)), attributes(std::move(event_attributes)) {}
  Event& Add(std::string_view key, std::string_view value) {
    attributes.push_back({std::string(key), std::string(value)});
    return *this;
  }
  friend bool operator==(const Event&, const Event&) = default;
};

using Events = std::vector<Event>;

// Collects the events of a context, in order.
class EventManager {
 public:
  void Emit(Event event) { events_.push_back(std::move(event)); }
  void Emit(Events events) {
    for (Event& event : events) events_.push_back(std::move(event));
  }
  const Events& events() const { return events_; }
  Events Take() { return std::exchange(events_, {}); }

 private:
  Events events_;
};

}  // namespace blockreplay::keeper::sdk
