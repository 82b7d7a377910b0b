// flow_bench [JSON FILE] [ROW...]: prints a table and writes the figures; without rows, all but those that take minutes.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"

namespace {

using namespace flow::bench;

struct entry {
    std::string name;
    row (*measure)();
    bool only_if_named = false;
};

std::vector<entry> const all = {{"step-latency", step_latency},
                                {"replayable-latency", replayable_latency},
                                {"steps-64", steps_64},
                                {"steps-256", steps_256},
                                {"steps-long-256", steps_long_256},
                                {"postgres-256", postgres_256},
                                {"replay-memory", replay_memory},
                                {"replay-sqlite", replay_sqlite},
                                {"wake-hot", wake_hot},
                                {"wake-cold", wake_cold},
                                {"wake-foreign", wake_foreign},
                                {"suspend-resume", suspend_resume},
                                {"frame-slow-sync", frame_slow_sync},
                                {"header-compile", header_compile},
                                {"parked-200k", parked_200k},
                                {"parked", parked, true}};

void print(row const& r)
{
    if (r.left_out) std::printf("%-20s left out: %s\n", r.name.c_str(), r.note.c_str());
    else {
        std::printf("%-20s %12.3f %-8s %12.3f %8.2f   %s %s\n", r.name.c_str(), r.value, r.unit.c_str(), r.raw, r.ratio(),
                    r.bar_text().c_str(), r.met() ? "met" : "MISSED");
        if (!r.note.empty()) std::printf("%-20s %s\n", "", r.note.c_str());
    }
    std::fflush(stdout);
}

/// A row that was left out is none: whoever compares two files finds figures only.
void write(std::ostream& out, std::vector<row> const& rows)
{
    out << "[";
    char const* between = "\n";
    for (auto const& r : rows) {
        if (r.left_out) continue;
        out << std::exchange(between, ",\n") << R"(  {"name": ")" << r.name << R"(", "value": )" << r.value << R"(, "unit": ")" << r.unit
            << R"(", "raw": )" << r.raw << R"(, "ratio": )" << r.ratio() << R"(, "bar": ")" << r.bar_text() << R"(", "met": )"
            << (r.met() ? "true" : "false") << "}";
    }
    out << "\n]\n";
}

}  // namespace

int main(int argc, char** argv)
{
    std::string const file = argc > 1 ? argv[1] : "bench.json";
    std::vector<std::string> const wanted(argv + std::min(argc, 2), argv + argc);
    for (auto const& name : wanted) {
        if (std::any_of(all.begin(), all.end(), [&](entry const& e) { return e.name == name; })) continue;
        std::fprintf(stderr, "there is no row %s\n", name.c_str());
        return 2;
    }
    std::vector<row> rows;
    std::printf("%-20s %12s %-8s %12s %8s   %s\n", "name", "value", "unit", "raw", "ratio", "bar");
    for (auto const& e : all) {
        if (wanted.empty() ? e.only_if_named : std::find(wanted.begin(), wanted.end(), e.name) == wanted.end()) continue;
        auto const r = e.measure();
        if (r.name.empty()) {
            std::fprintf(stderr, "%s could not be measured\n", e.name.c_str());
            return 1;
        }
        print(r);
        rows.push_back(r);
    }
    std::ofstream out(file);
    write(out, rows);
    return out ? 0 : 1;
}
