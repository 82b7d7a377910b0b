#include "calls.hpp"

#include <boost/json/src.hpp>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/cli/command.hpp"
#include "runtime/cli/text.hpp"
#include "support/temp_dir.hpp"

namespace flow::test {

boost::json::value said::json() const
{
    INFO(out);
    boost::json::error_code failed;
    auto value = boost::json::parse(out, failed);
    REQUIRE(!failed);
    REQUIRE(value.is_object());
    REQUIRE(std::count(out.begin(), out.end(), '\n') == 1);
    return value;
}

said call(client& on, std::vector<std::string> const& words, place_to_look const& place)
{
    std::ostringstream out, err;
    cli::console io{out, err};
    io.width = place.width;
    io.colour = place.colour;
    if (place.clock != nullptr) io.clock = place.clock;
    std::vector<char const*> argv{"prog"};
    for (auto const& w : words) argv.push_back(w.c_str());
    auto const code = cli::run_command(static_cast<int>(argv.size()), argv.data(), &on, io);
    return {static_cast<int>(code), out.str(), err.str()};
}

said run_program(std::vector<std::string> const& words, std::string const& environment)
{
    temp_dir dir;
    auto command = "env -u FLOW_DB " + environment + " " FLOW_PROGRAM;
    for (auto const& w : words) command += " " + cli::shell_word(w);
    command += " > " + dir.file("out") + " 2> " + dir.file("err");
    auto const status = std::system(command.c_str());
    auto const text = [&](char const* name) {
        std::ifstream in(dir.file(name));
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text("out"), text("err")};
}

}  // namespace flow::test
