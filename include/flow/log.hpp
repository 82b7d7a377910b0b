// Where an engine's log lines go.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#pragma GCC visibility push(default)

namespace flow {

enum class log_level : std::uint8_t { info, warning, error };

/// Called from any of the engine's threads, one line a call, control characters escaped, at most 4,096 bytes. What it throws is
/// dropped. It must not call the engine.
using log_sink = std::function<void(log_level, std::string_view line)>;

/// Warnings and errors to stderr.
void log_to_stderr(log_level level, std::string_view line);

}  // namespace flow

#pragma GCC visibility pop
