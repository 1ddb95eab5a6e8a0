#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "perftools/profiles/profile.pb.h"

namespace blockreplay::profiling {

// Builds profiles from names, for tests: each function has a location of its own in one mapping, at
// an address that depends on its name only.
class TestProfile {
 public:
  struct Options {
    std::vector<std::pair<std::string, std::string>> types = {{"samples", "count"},
                                                              {"cpu", "nanoseconds"}};
    uint64_t load_address = 0x1000;
    std::string build_id = "abc";
  };
  TestProfile() : TestProfile(Options()) {}
  explicit TestProfile(const Options& options) : load_address_(options.load_address) {
    String("");
    for (const auto& [type, unit] : options.types) {
      auto* added = profile_.add_sample_type();
      added->set_type(String(type));
      added->set_unit(String(unit));
    }
    auto* mapping = profile_.add_mapping();
    mapping->set_id(7);
    mapping->set_memory_start(load_address_);
    mapping->set_memory_limit(load_address_ + 0x1000);
    mapping->set_filename(String("/usr/bin/program"));
    mapping->set_build_id(String(options.build_id));
  }

  // Leaf first; "a+b" is one location where a is inlined into b, "?" one that nothing is known of.
  TestProfile& Add(const std::vector<std::string>& stack, const std::vector<int64_t>& values,
                   const std::map<std::string, std::string>& labels = {}) {
    auto* sample = profile_.add_sample();
    for (const std::string& frame : stack) sample->add_location_id(Location(frame));
    for (const int64_t value : values) sample->add_value(value);
    for (const auto& [key, value] : labels) {
      auto* label = sample->add_label();
      label->set_key(String(key));
      label->set_str(String(value));
    }
    return *this;
  }

  int64_t String(const std::string& text) {
    const auto [it, added] = strings_.try_emplace(text, profile_.string_table_size());
    if (added) profile_.add_string_table(text);
    return it->second;
  }

  perftools::profiles::Profile& profile() { return profile_; }

 private:
  uint64_t Location(const std::string& frame) {
    const auto [it, added] = locations_.try_emplace(frame, 100 + locations_.size());
    if (!added) return it->second;
    auto* location = profile_.add_location();
    location->set_id(it->second);
    location->set_mapping_id(7);
    location->set_address(load_address_ + 0x10 * static_cast<unsigned char>(frame[0]));
    for (size_t begin = 0; frame != "?" && begin <= frame.size();) {
      const size_t end = std::min(frame.find('+', begin), frame.size());
      location->add_line()->set_function_id(Function(frame.substr(begin, end - begin)));
      begin = end + 1;
    }
    return it->second;
  }

  uint64_t Function(const std::string& name) {
    const auto [it, added] = functions_.try_emplace(name, 50 + functions_.size());
    if (added) {
      auto* function = profile_.add_function();
      function->set_id(it->second);
      function->set_name(String(name));
    }
    return it->second;
  }

  const uint64_t load_address_;
  perftools::profiles::Profile profile_;
  std::map<std::string, int64_t> strings_;
  std::map<std::string, uint64_t> locations_;
  std::map<std::string, uint64_t> functions_;
};

}  // namespace blockreplay::profiling
