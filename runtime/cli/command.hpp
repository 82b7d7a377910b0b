// A call of the command line from its words to its exit code, on any console.
#pragma once

#include "flow/command_line.hpp"
#include "runtime/cli/console.hpp"

namespace flow::cli {

/// `on` null: the store is opened as the command line or the environment says.
exit_code run_command(int argc, char const* const* argv, client* on, console const& io);

}  // namespace flow::cli
