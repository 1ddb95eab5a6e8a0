#pragma once

#include <string_view>

namespace blockreplay::replay {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Writes a line to standard error as hashicorp's hclog does with JSON, which is how a plugin's host
// takes it into its own log with its level. Lost where nobody reads. Any thread.
void LogToHost(LogLevel level, std::string_view message);

}  // namespace blockreplay::replay
