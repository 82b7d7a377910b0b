// A run waits for a person, who answers from another process. The wait costs no thread and survives restarts.
#include <flow/flow.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// [workflow]
struct approval {
    bool approved = false;
    std::string by;
};

flow::workflow<std::string> spend(int euros)
{
    auto const answer = co_await flow::wait_for_token<approval>("approve", {.timeout = 72h});
    auto const decision = answer.approved ? "may be spent, says " : "must not be spent, says ";
    co_return std::to_string(euros) + " euros " + decision + answer.by;
}
// [/workflow]

// The other process: what `flow complete` does, from a program of one's own.
int person(std::string const& store)
// [person]
{
    flow::client client{flow::open_store(store, {.must_exist = true}), "alice"};
    flow::waitpoint_filter open;
    open.purpose = flow::waitpoint_purpose::token;
    open.status = flow::waitpoint_status::pending;
    for (auto const& wait : client.waitpoints(open))
        client.complete(flow::token<approval>{wait.id}, approval{true, "alice"}, "within the budget");
    return 0;
}
// [/person]

int main(int argc, char** argv)
{
    scratch_folder const folder;
    auto const store = shared_store_text(argc, argv, "sqlite:" + folder.file("flow.db"));

    int asked[2];
    if (::pipe(asked) != 0) return 1;
    ::pid_t const child = ::fork();  // before there are threads
    if (child == 0) {
        ::close(asked[1]);
        char ready = 0;
        ::_exit(::read(asked[0], &ready, 1) == 1 ? person(store) : 1);
    }
    ::close(asked[0]);

    flow::engine engine{flow::open_store(store)};
    engine.add<spend>("spend");
    auto const run = engine.start<spend>(40);
    while (run.status().run != flow::run_status::waiting) run.wait(10ms);
    auto const reason = run.view().waits_for;
    std::printf("       waits for %s (%s)\n", reason.name.c_str(), to_string(reason.type).data());

    expect(::write(asked[1], "!", 1) == 1, "the other process was asked");
    expect(run.result() == "40 euros may be spent, says alice", "its answer came back as a value of the awaited type");

    int status = 0;
    ::waitpid(child, &status, 0);
    expect(status == 0, "it ended well, and never executed anything of the run");
    auto const told = run.view().happened;
    bool recorded = false;
    for (auto const& h : told) recorded = recorded || (h.by == "alice" && h.why == "within the budget");
    expect(recorded, "who answered, and why, is in the journal");
}
