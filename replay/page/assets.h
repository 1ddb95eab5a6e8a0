#pragma once

#include <string_view>

namespace blockreplay::replay::assets {

// Files of assets/ and third_party/, embedded when the program is built.
std::string_view PageHtml();
std::string_view PageCss();
std::string_view PageJs();
std::string_view D3Js();
std::string_view FlameGraphJs();
std::string_view UplotJs();
std::string_view UplotCss();

}  // namespace blockreplay::replay::assets
