#include "replay/page/assets.h"

// The assembler puts a file's bytes between two symbols: no copy of them in C++, and no tool to
// make one.
#define BLOCKREPLAY_EMBED(symbol, path)               \
  asm(".pushsection .rodata\n"                        \
      ".hidden blockreplay_asset_" #symbol            \
      "\n"                                            \
      ".hidden blockreplay_asset_" #symbol            \
      "_end\n"                                        \
      ".global blockreplay_asset_" #symbol            \
      "\n"                                            \
      ".global blockreplay_asset_" #symbol            \
      "_end\n"                                        \
      "blockreplay_asset_" #symbol                    \
      ":\n"                                           \
      ".incbin \"" BLOCKREPLAY_SOURCE_DIR "/" path    \
      "\"\n"                                          \
      "blockreplay_asset_" #symbol                    \
      "_end:\n"                                       \
      ".popsection\n");                               \
  extern "C" const char blockreplay_asset_##symbol[]; \
  extern "C" const char blockreplay_asset_##symbol##_end[]

BLOCKREPLAY_EMBED(page_html, "replay/page/assets/page.html");
BLOCKREPLAY_EMBED(page_css, "replay/page/assets/page.css");
BLOCKREPLAY_EMBED(page_js, "replay/page/assets/page.js");
BLOCKREPLAY_EMBED(d3, "third_party/d3/d3.min.js");
BLOCKREPLAY_EMBED(flame_graph, "third_party/d3-flame-graph/d3-flamegraph.umd.min.js");
BLOCKREPLAY_EMBED(uplot_js, "third_party/uplot/uPlot.iife.min.js");
BLOCKREPLAY_EMBED(uplot_css, "third_party/uplot/uPlot.min.css");

#define BLOCKREPLAY_ASSET(symbol)                                                              \
  std::string_view(blockreplay_asset_##symbol,                                                 \
                   static_cast<std::string_view::size_type>(blockreplay_asset_##symbol##_end - \
                                                            blockreplay_asset_##symbol))

namespace blockreplay::replay::assets {

std::string_view PageHtml() { return BLOCKREPLAY_ASSET(page_html); }
std::string_view PageCss() { return BLOCKREPLAY_ASSET(page_css); }
std::string_view PageJs() { return BLOCKREPLAY_ASSET(page_js); }
std::string_view D3Js() { return BLOCKREPLAY_ASSET(d3); }
std::string_view FlameGraphJs() { return BLOCKREPLAY_ASSET(flame_graph); }
std::string_view UplotJs() { return BLOCKREPLAY_ASSET(uplot_js); }
std::string_view UplotCss() { return BLOCKREPLAY_ASSET(uplot_css); }

}  // namespace blockreplay::replay::assets
