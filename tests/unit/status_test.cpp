#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

#include "flow/status.hpp"
#include "support/docs.hpp"

using namespace flow;

namespace {

template <class Enum>
std::vector<Enum> up_to(Enum last)
{
    std::vector<Enum> out;
    for (int i = 0; i <= static_cast<int>(last); ++i) out.push_back(static_cast<Enum>(i));
    return out;
}

auto const executions = up_to(execution_status::finished);
auto const runs = up_to(run_status::expired);
auto const events = up_to(status_event::reopen);
auto const steps = up_to(step_status::skipped);
constexpr status_actor actors[] = {status_actor::holder, status_actor::system, status_actor::outside};

template <class Table, class Status>
void walk(Table const& table, std::vector<Status> const& statuses)
{
    for (auto const from : statuses)
        for (auto const on : events) {
            auto rows =
                std::count_if(table.begin(), table.end(), [&](auto const& r) { return r.from == from && r.on == on; });
            CHECK(rows <= 1);
            CHECK(next(from, on).has_value() == (rows == 1));
        }
    for (auto const& r : table) {
        CHECK(r.actors != 0);
        CHECK(r.actors < 8);
        CHECK(next(r.from, r.on) == r.to);
        // The end is left by reopen alone.
        if (is_terminal(r.from) && r.to != r.from) CHECK(r.on == status_event::reopen);
    }
}

template <class Table>
void print(std::ostream& out, Table const& table)
{
    out << "| from | on | to | by |\n|---|---|---|---|\n";
    for (auto const& r : table) {
        out << "| " << to_string(r.from) << " | " << to_string(r.on) << " | " << to_string(r.to) << " |";
        if (r.actors & static_cast<int>(status_actor::holder)) out << " holder";
        if (r.actors & static_cast<int>(status_actor::system)) out << " system";
        if (r.actors & static_cast<int>(status_actor::outside)) out << " outside";
        out << " |\n";
    }
}

std::string page()
{
    std::ostringstream out;
    out << "# The statuses of a run\n\nPrinted from the tables of `include/flow/status.hpp` by "
           "`tests/unit/status_test.cpp`; after a"
           " change there run\n`FLOW_WRITE_DOCS=1 test_unit \"the page of the statuses is current\"`. What is not in a "
           "table must"
           " not happen.\n\nBoth machines take each event; `by` says who may cause it: the holder of the run's epoch, "
           "the system (a"
           " store or\nengine that acts for a run nobody holds), somebody outside through a request.\n\n## "
           "execution_status, for the"
           " machinery\n\n";
    print(out, execution_transitions);
    out << "\n## run_status, for people\n\n";
    print(out, run_transitions);
    out << "\n## Step status\n\n| from | to |\n|---|---|\n";
    for (auto const& r : step_transitions) out << "| " << to_string(r.from) << " | " << to_string(r.to) << " |\n";
    out << "\n## Predicates of execution_status\n\n| status | initial | dequeueable | executing | checkpointable | "
           "terminal |\n"
           "|---|---|---|---|---|---|\n";
    auto const mark = [](bool yes) { return yes ? " yes |" : " |"; };
    for (auto const s : executions)
        out << "| " << to_string(s) << " |" << mark(is_initial(s)) << mark(is_dequeueable(s)) << mark(is_executing(s))
            << mark(is_checkpointable(s)) << mark(is_terminal(s)) << "\n";
    return out.str();
}

}  // namespace

TEST_CASE("TD-20: next is defined exactly on the tables", "[status]")
{
    walk(execution_transitions, executions);
    walk(run_transitions, runs);
}

TEST_CASE("the guard lets pass what both machines and the actor allow, and nothing else", "[status]")
{
    for (auto const e : executions)
        for (auto const r : runs)
            for (auto const on : events)
                for (auto const who : actors) {
                    auto const bit = static_cast<std::uint8_t>(who);
                    auto const allowed = [&](auto const& table, auto from) {
                        return std::any_of(table.begin(), table.end(), [&](auto const& row) {
                            return row.from == from && row.on == on && (row.actors & bit);
                        });
                    };
                    bool const both = allowed(execution_transitions, e) && allowed(run_transitions, r);
                    auto const to = next({e, r}, on, who);
                    CHECK(to.has_value() == both);
                    if (to) CHECK(*to == status_pair{*next(e, on), *next(r, on)});
                }
}

TEST_CASE("what can be reached is finished in one machine exactly when it is terminal in the other", "[status]")
{
    std::set<std::pair<execution_status, run_status>> reached{{execution_status::created, run_status::created}};
    for (std::size_t before = 0; before != reached.size();) {
        before = reached.size();
        for (auto const& [e, r] : std::set(reached))
            for (auto const on : events)
                for (auto const who : actors)
                    if (auto const to = next({e, r}, on, who)) reached.emplace(to->execution, to->run);
    }
    for (auto const& [e, r] : reached) {
        INFO(to_string(e) << " " << to_string(r));
        CHECK(is_terminal(e) == is_terminal(r));
    }
    for (auto const s : executions)
        CHECK(std::any_of(reached.begin(), reached.end(), [&](auto const& p) { return p.first == s; }));
    for (auto const s : runs)
        CHECK(std::any_of(reached.begin(), reached.end(), [&](auto const& p) { return p.second == s; }));
}

TEST_CASE("TD-22: each predicate names its statuses", "[status]")
{
    using enum execution_status;
    auto const those = [](auto const& predicate) {
        std::set<execution_status> out;
        for (auto const s : executions)
            if (predicate(s)) out.insert(s);
        return out;
    };
    using set = std::set<execution_status>;
    CHECK(those([](auto s) { return is_dequeueable(s); }) == set{queued, queued_executing});
    CHECK(those([](auto s) { return is_executing(s); }) == set{executing, executing_with_waitpoints});
    CHECK(those([](auto s) { return is_checkpointable(s); }) ==
          set{created, queued, executing, executing_with_waitpoints, queued_executing});
    CHECK(those([](auto s) { return is_initial(s); }) == set{created, delayed});
    CHECK(those([](auto s) { return is_terminal(s); }) == set{finished});
    CHECK(std::count_if(runs.begin(), runs.end(), [](auto s) { return is_terminal(s); }) == 5);
}

TEST_CASE("CK-01: a step moves only along its table", "[status]")
{
    std::set<std::pair<step_status, step_status>> rows;
    for (auto const& r : step_transitions) CHECK(rows.emplace(r.from, r.to).second);
    for (auto const from : steps)
        for (auto const to : steps) CHECK(may_become(from, to) == rows.contains({from, to}));
    CHECK_FALSE(may_become(step_status::skipped, step_status::running));
    CHECK_FALSE(may_become(step_status::completed, step_status::failed));
}

TEST_CASE("every status and event has a name that reads back", "[status]")
{
    for (auto const s : executions) CHECK(parse_execution_status(to_string(s)) == s);
    for (auto const s : runs) CHECK(parse_run_status(to_string(s)) == s);
    for (auto const e : events) CHECK(parse_status_event(to_string(e)) == e);
    CHECK_FALSE(parse_run_status(""));
    CHECK_FALSE(parse_run_status("?"));
    CHECK_FALSE(parse_execution_status("Queued"));
}

TEST_CASE("a wait reason reads back as it was written", "[status]")
{
    wait_reason w;
    CHECK(to_json(w).empty());
    CHECK(parse_wait_reason("") == w);
    w.type = wait_reason::kind::approval;
    w.id = "0190f5c0-0000-7000-8000-000000000001";
    w.name = "all#0.1/approve#0";
    w.detail = "a \"quoted\" \\ line\n\x01 caf\xc3\xa9 {\"type\":\"none\"}";
    w.since = time_point{duration{1'796'000'000'000'000}};
    CHECK(parse_wait_reason(to_json(w)) == w);
    w.until = time_point{duration{-5}};
    CHECK(parse_wait_reason(to_json(w)) == w);
    CHECK(
        to_json(
            {.type = wait_reason::kind::timer, .id = {}, .name = {}, .detail = {}, .since = time_point{duration{7}}}) ==
        R"({"type":"timer","since":7})");
}

TEST_CASE("the page of the statuses is current", "[status][docs]")
{
    auto const file = flow::test::docs_page("status.md");
    if (std::getenv("FLOW_WRITE_DOCS")) std::ofstream(file) << page();
    std::ifstream in(file);
    std::stringstream there;
    there << in.rdbuf();
    CHECK(there.str() == page());
}
