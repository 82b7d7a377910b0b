#include "journals/recorded.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flow/store_reader.hpp"

namespace flow::test::journals {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view table = "expected.tsv";
constexpr std::string_view until_line = "until\t", ran_line = "ran\t", run_line = "run\t";

std::vector<std::string> columns(std::string const& line)
{
    std::vector<std::string> all;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, '\t');) all.push_back(part);
    return all;
}

std::string whole(fs::path const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

fs::path folder(std::string const& version) { return fs::path(FLOW_SOURCE_DIR) / "tests" / "journals" / version; }

known read_known(fs::path const& in)
{
    known k;
    std::istringstream lines(whole(in / table));
    for (std::string line; std::getline(lines, line);) {
        auto c = columns(line);
        if (line.starts_with(until_line)) k.until = parse_time(c.at(1));
        if (line.starts_with(ran_line)) k.ran.push_back(c.at(1));
        c.resize(std::max<std::size_t>(c.size(), 6));
        if (line.starts_with(run_line)) k.runs.push_back({c[1], c[2], c[3], c[4], c[5]});
    }
    return k;
}

void write_known(fs::path const& in, known const& what)
{
    std::ofstream out(in / table, std::ios::binary);
    out << "# run: its name, its workflow, its status as recorded, its end once everybody has done their part, its result\n"
        << until_line << to_string(what.until) << '\n';
    for (auto const& r : what.runs) {
        auto const line = r.name + '\t' + r.workflow + '\t' + r.status + '\t' + r.end + '\t' + r.result;
        REQUIRE(std::count(line.begin(), line.end(), '\t') == 4);
        REQUIRE(line.find('\n') == line.npos);
        out << run_line << line << '\n';
    }
    for (auto const& r : what.ran) out << ran_line << r << '\n';
    REQUIRE(out.flush());
}

std::string copy_of(fs::path const& from, fs::path const& to)
{
    for (auto const* name : {"runs.db", "runs.db.key"}) {
        fs::copy_file(from / name, to / name);
        fs::permissions(to / name, fs::perms::owner_read | fs::perms::owner_write);  // it may come from a read-only checkout
    }
    return (to / "runs.db").string();
}

replayed::replayed(std::string const& file, time_point until, registration add)
    : world(
          [&] {
              sqlite_options o;
              o.synchronous = sqlite_options::sync::normal;
              o.must_exist = true;
              return sqlite(file, o);
          }(),
          std::move(add))
{
    clock().jump(until - clock().now());
}

std::string name_of(run_row const& row) { return row.key.empty() ? row.tags : row.key; }

std::string status_of(run_row const& row)
{
    return std::string(to_string(row.status.execution)) + '/' + std::string(to_string(row.status.run));
}

known_run what_became_of(world& w, run_row const& row)
{
    known_run k{name_of(row), row.workflow, {}, status_of(row), {}};
    if (!is_terminal(row.status.run)) {
        k.result = parse_wait_reason(row.reason).id;
        return k;
    }
    auto const e = w.engine().find(row.id).end();
    if (e.failure) k.result = std::string(row_of(e.failure->code()).name) + ": " + e.failure->message();
    else if (e.encoding == encoding::json) k.result = e.result;
    else k.result = std::string(to_string(e.encoding)) + ' ' + fmt::format("{:02x}", fmt::join(sha256(e.result).bytes, ""));
    return k;
}

std::vector<run_row> all_runs(world& w)
{
    run_filter every;
    every.limit = 10'000;
    auto all = w.store()->reader().runs(every).value();
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return name_of(a) < name_of(b); });
    return all;
}

std::vector<std::string> kinds_written()
{
    std::string sources;
    for (auto const* part : {"src", "runtime"})
        for (auto const& file : fs::recursive_directory_iterator(fs::path(FLOW_SOURCE_DIR) / part))
            if (file.path().extension() == ".cpp" && file.path().filename() != "journal.cpp") sources += whole(file.path());
    std::vector<std::string> all;
    for (int k = 1; to_string(entry_kind{static_cast<std::uint8_t>(k)}) != "?"; ++k) {
        auto const name = std::string(to_string(entry_kind{static_cast<std::uint8_t>(k)}));
        if (k <= static_cast<int>(entry_kind::continued) || sources.find("entry_kind::" + name) != sources.npos) all.push_back(name);
    }
    return all;
}

}  // namespace flow::test::journals
