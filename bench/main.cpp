// flow_bench [JSON FILE] [ROW...]: prints a table and writes the figures; without rows, all of them.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/bench.hpp"

int main(int argc, char** argv)
{
    using namespace flow::bench;
    struct entry {
        std::string name;
        row (*measure)();
    };
    std::vector<entry> const all = {{"step-latency", step_latency},   {"replayable-latency", replayable_latency},
                                    {"replay-memory", replay_memory}, {"replay-sqlite", replay_sqlite},
                                    {"suspend-resume", suspend_resume}, {"frame-slow-sync", frame_slow_sync},
                                    {"header-compile", header_compile}};
    std::string const file = argc > 1 ? argv[1] : "bench.json";
    std::vector<std::string> const wanted(argv + std::min(argc, 2), argv + argc);
    std::vector<row> rows;
    std::printf("%-20s %12s %-8s %12s %8s   %s\n", "name", "value", "unit", "raw", "ratio", "bar");
    for (auto const& e : all) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), e.name) == wanted.end()) continue;
        auto const r = e.measure();
        if (r.name.empty()) {
            std::fprintf(stderr, "%s could not be measured\n", e.name.c_str());
            return 1;
        }
        std::printf("%-20s %12.3f %-8s %12.3f %8.2f   %s%.2f %s\n", r.name.c_str(), r.value, r.unit.c_str(), r.raw, r.ratio(),
                    r.bar_is_ratio ? "ratio <= " : "<= ", r.bar, r.met() ? "met" : "MISSED");
        if (!r.note.empty()) std::printf("%-20s %s\n", "", r.note.c_str());
        std::fflush(stdout);
        rows.push_back(r);
    }
    std::ofstream out(file);
    out << "[\n";
    for (std::size_t i = 0; i < rows.size(); ++i)
        out << R"(  {"name": ")" << rows[i].name << R"(", "value": )" << rows[i].value << R"(, "unit": ")" << rows[i].unit
            << R"(", "raw": )" << rows[i].raw << R"(, "ratio": )" << rows[i].ratio() << "}" << (i + 1 < rows.size() ? "," : "") << "\n";
    out << "]\n";
    return out ? 0 : 1;
}
