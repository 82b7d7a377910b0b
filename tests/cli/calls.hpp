// Calls of the command line in tests: within this process, and as the real program.
#pragma once

#include <boost/json/value.hpp>

#include <string>
#include <vector>

#include "flow/client.hpp"

namespace flow::test {

struct said {
    int code = -1;
    std::string out, err;
    /// The document `--json` printed; fails the test where it is none.
    boost::json::value json() const;
};

struct place_to_look {
    std::size_t width = 120;
    bool colour = false;
    flow::clock const* clock = nullptr;
};

/// `prog WORDS…` through flow::command_line's inner function.
said call(client& on, std::vector<std::string> const& words, place_to_look const& place = {});

/// The program `flow` as a process of its own. `environment`: "FLOW_DB=x.db", put before the command.
said run_program(std::vector<std::string> const& words, std::string const& environment = {});

}  // namespace flow::test
