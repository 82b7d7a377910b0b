// What including us costs: the slowest public header, alone, with g++ -O2.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/bench.hpp"

namespace flow::bench {

namespace {

double compile(scratch const& dir, std::string const& includes)
{
    auto const source = dir.file("header.cpp");
    std::ofstream(source) << includes;
    std::string const command = std::string(FLOW_COMPILER) + " -std=c++20 -O2 -I" FLOW_INCLUDE_DIR " -c " + source + " -o " + dir.file("header.o");
    double best = 1e9;
    for (int i = 0; i < 2; ++i) {
        auto const begin = steady::now();
        if (std::system(command.c_str()) != 0) return -1;
        best = std::min(best, microseconds(steady::now() - begin) / 1e6);
    }
    return best;
}

}  // namespace

row header_compile()
{
    scratch dir;
    auto const bare = compile(dir, "#include <chrono>\n#include <coroutine>\n#include <functional>\n#include <map>\n#include <memory>\n"
                                   "#include <optional>\n#include <string>\n#include <variant>\n#include <vector>\n");
    double worst = 0;
    std::string which;
    for (auto const& entry : std::filesystem::directory_iterator(FLOW_INCLUDE_DIR "/flow")) {
        auto const name = entry.path().filename().string();
        if (entry.path().extension() != ".hpp" || name == "asio.hpp") continue;
        auto const seconds = compile(dir, "#include \"flow/" + name + "\"\n");
        if (seconds < 0) {
            std::fprintf(stderr, "flow/%s does not compile alone\n", name.c_str());
            return {"header-compile", 1e9, "s", bare, 2.5};
        }
        if (seconds > worst) worst = seconds, which = name;
    }
    std::fprintf(stderr, "slowest header: %s\n", which.c_str());
    return {"header-compile", worst, "s", bare, 2.5};
}

}  // namespace flow::bench
