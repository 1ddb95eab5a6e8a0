#include "replay/report/version.h"

#include "replay/report/build_revision.h"

namespace blockreplay::replay {

std::string ToolVersion() { return BLOCKREPLAY_VERSION; }
std::string ToolRevision() { return kBuildRevision; }

}  // namespace blockreplay::replay
