// For docs/guide/files_and_backup.md: a copy of a store in use, and what it is worth later.
#include <flow/flow.hpp>

#include "../scratch.hpp"

using namespace std::chrono_literals;

flow::workflow<int> count_votes()
{
    auto const votes = co_await flow::wait_for_token<int>("votes");
    co_return votes;
}

void wait_for_question(flow::any_run_handle const& run)
{
    while (run.view().open.empty()) run.wait(10ms);
}

int main()
{
    scratch_folder const folder;
    auto const file = folder.file("flow.db"), copy = folder.file("monday.db");

    flow::engine engine{flow::sqlite(file), {.threads = 2}};
    engine.add<count_votes>("count_votes");
    auto const run = engine.start<count_votes>();
    wait_for_question(run);

    // [backup]
    flow::backup(file, copy);  // and file.key to copy.key
    // [/backup]
    engine.complete_json(run.view().open.front().row.id, "120");
    expect(run.result() == 120, "the store went on");

    // [restore]
    flow::engine restored{flow::sqlite(copy, {.must_exist = true}), {.threads = 2}};
    restored.add<count_votes>("count_votes");
    auto const again = flow::run_handle<int>(restored.find(run.id()));
    // [/restore]
    wait_for_question(again);
    expect(true, "in the copy the same run still waits");
    restored.complete_json(again.view().open.front().row.id, "90");
    expect(again.result() == 90 && run.result() == 120, "and ends in its own way");
}
