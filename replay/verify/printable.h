#pragma once

#include <string>
#include <string_view>

namespace blockreplay::replay {

// A key or value for people: in quotes if it is printable ASCII, else in hex with 0x. Never
// anything that a terminal would act on.
std::string Printable(std::string_view bytes);

}  // namespace blockreplay::replay
