// What people and other programs do with the runs of v2/.
#include "journals/v2_workflows.hpp"

#include <algorithm>

#include "flow/store_reader.hpp"
#include "journals/recorded.hpp"

using namespace std::chrono_literals;

namespace flow::test::journals::v2 {

namespace {

std::vector<waitpoint_row> open_of(world& w, waitpoint_purpose purpose)
{
    waitpoint_filter which;
    which.status = waitpoint_status::pending;
    which.purpose = purpose;
    which.limit = 1000;
    auto all = w.engine().waitpoints(which);
    std::erase_if(all, [](auto const& row) { return row.name.starts_with("nobody"); });
    return all;
}

void complete(world& w, waitpoint_row const& row)
{
    auto const json = row.name == "finish" ? R"("done")" : row.shape == "void" ? "null" : "7";
    w.engine().complete_json(row.id, json, std::nullopt, {}, "alice");
}

/// Everybody who is asked says yes, but for who said something before.
void answer(world& w, open_wait const& open)
{
    auto who = open.asks->assignees;
    if (who.empty()) who.emplace_back("dan");
    auto const said_before = w.engine().responses(open.row.id);
    for (auto const& name : who) {
        if (std::any_of(said_before.begin(), said_before.end(), [&](auto const& r) { return r.by == name; })) continue;
        auto const value = open.row.shape == "str" ? R"("right")" : open.row.shape == "i32" ? "12" : "";
        auto const told = w.engine().respond(open.row.id, true, {.value = value, .why = "it was time", .by = name});
        if (told.answer == response_answer::decided) return;
    }
}

/// The event that this wait is for.
void tell(world& w, waitpoint_row const& row)
{
    auto const json = row.shape == "str" ? R"("late")" : "43";
    event_options const o{.keep = duration::max(), .by = "shop"};
    if (row.correlation == to_string(row.run)) w.engine().send_json(row.run, row.name, json, o);
    else w.engine().send_event_json(row.name, row.correlation, json, o);
}

}  // namespace

void add_all(engine& e)
{
    add_events(e);
    add_children(e);
    add_questions(e);
    add_steps(e);
    add_graphs(e);
}

void finish_all(world& w)
{
    has_come.clear();
    for (int day = 0; day < 40; ++day) {
        for (int s = 0; s < 90 && day < 3; ++s) w.pass(1s);  // as an engine that looks around all the while
        // One command each, then "stop": told on one day, either might be the first that the loop hears.
        for (auto const& row : open_of(w, waitpoint_purpose::event))
            if (row.name == "command" ? day == 0 : row.name != "stop" || day > 0) tell(w, row);
        for (auto const& row : open_of(w, waitpoint_purpose::token)) complete(w, row);
        for (auto const& open : w.engine().questions_for({}, 1000))
            if (!open.row.name.starts_with("nobody")) answer(w, open);
        for (auto const& row : open_of(w, waitpoint_purpose::intervention)) w.engine().decide(row.id, "complete", "8", "looked it up", "alice");
        for (auto const& row : all_runs(w)) {
            if (row.status.run == run_status::paused) w.engine().resume(row.id, {}, "alice");
            if (row.workflow.starts_with("looks_") && !name_of(row).starts_with("nobody")) has_come.insert(name_of(row));
        }
        w.pass(24h);
    }
}

}  // namespace flow::test::journals::v2
