// A process is killed in the middle of a step; the next one goes on there. What had been journaled does not run again.
#include <flow/flow.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.hpp"
#include "store_option.hpp"

std::string calls;            // a file in which each function notes that it was called
bool dies_in_convert = false;

// [workflow]
flow::workflow<std::string> import_photo(std::string name)
{
    auto const raw = co_await flow::step("fetch", flow::idempotent, [&](flow::attempt& a) {
        append_line(calls, "fetch " + std::string(a.key()));
        return name + ".raw";
    });
    auto const ready = co_await flow::step("convert", flow::idempotent, [&](flow::attempt& a) {
        append_line(calls, "convert " + std::string(a.key()));
        if (dies_in_convert) std::raise(SIGKILL);
        return raw + ".ready";
    });
    co_return ready;
}
// [/workflow]

// [resume]
std::string run_in_this_process(std::string const& store)
{
    flow::engine engine{flow::open_store(store)};
    engine.add<import_photo>("import_photo");
    auto const run = engine.start<import_photo>("photo", {.idempotency_key = "photo-1"});
    return run.result();
}
// [/resume]

int main(int argc, char** argv)
{
    scratch_folder const folder;
    auto const store = shared_store_text(argc, argv, "sqlite:" + folder.file("flow.db"));
    calls = folder.file("calls.txt");

    ::pid_t const child = ::fork();  // before there are threads
    if (child == 0) {
        dies_in_convert = true;
        run_in_this_process(store);
        ::_exit(0);  // not reached
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the first process was killed in the middle of 'convert'");

    auto const result = run_in_this_process(store);
    expect(result == "photo.raw.ready", "the second process brought the run to its end");
    expect(lines_with(calls, "fetch") == 1, "'fetch' was not called again: its output is in the journal");
    expect(lines_with(calls, "convert") == 2, "'convert' was called again: nobody knew whether it had ended");

    std::ifstream in(calls);
    std::string fetch, first, second;
    std::getline(in, fetch), std::getline(in, first), std::getline(in, second);
    expect(first == second, "and it was given the same key both times");
}
