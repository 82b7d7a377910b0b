// Two worker processes share the runs of one store. One is killed with SIGKILL; the other takes its runs over, and nothing is baked twice.
#include <flow/flow.hpp>

#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "scratch.hpp"
#include "store_option.hpp"

using namespace std::chrono_literals;

// A bakery, whose book is the world outside: what stands in it has happened and cannot be undone.
std::string book, worker;

void note(int tray, std::string const& what) { append_line(book, "tray " + std::to_string(tray) + ": " + what + " by " + worker); }
bool noted(int tray, std::string const& what) { return lines_with(book, "tray " + std::to_string(tray) + ": " + what) > 0; }

std::string bake(int tray)
{
    note(tray, "put in the oven");
    std::this_thread::sleep_for(150ms);
    note(tray, "baked");
    return "baked by " + worker;
}

// [workflow]
flow::workflow<std::string> bake_tray(int tray)
{
    co_await flow::step("mix", flow::idempotent, [&] { note(tray, "mixed"); });

    // Twice in the oven would do harm. After a crash in here the book tells whether it was done.
    co_return co_await flow::step("bake", flow::non_replayable, [&] { return bake(tray); })
        .reconcile([&](flow::attempt&) {
            return noted(tray, "baked") ? flow::reconciled<std::string>::done("baked, says the book") : flow::reconciled<std::string>::not_done();
        });
}
// [/workflow]

// [worker]
int work(std::string const& store)
{
    flow::engine engine{flow::open_store(store), {.threads = 2, .name = worker}};
    engine.add<bake_tray>("bake_tray");
    engine.run();  // until SIGTERM: then it ends orderly
    return 0;
}
// [/worker]

/// This program once more, as a worker: a process of its own from the ground up.
::pid_t start_worker(char const* name, std::string const& store)
{
    ::pid_t const child = ::fork();
    if (child != 0) return child;
    ::execl("/proc/self/exe", "07_two_processes", "worker", name, store.c_str(), book.c_str(), nullptr);
    ::_exit(127);
}

/// The tray that a worker has in the oven now; 0: none.
int in_the_oven(int trays, std::string const& who)
{
    for (int tray = 1; tray <= trays; ++tray)
        if (noted(tray, "put in the oven by " + who) && !noted(tray, "baked")) return tray;
    return 0;
}

int main(int argc, char** argv)
{
    if (argc == 5 && std::string(argv[1]) == "worker") {
        use_every_store();
        worker = argv[2], book = argv[4];
        return work(argv[3]);
    }
    scratch_folder const folder;
    auto const store = shared_store_text(argc, argv, "sqlite:" + folder.file("flow.db"));
    book = folder.file("book.txt");

    flow::client shop{flow::open_store(store), "shop"};  // executes nothing
    ::pid_t const ada = start_worker("ada", store), bob = start_worker("bob", store);

    // Orders come in, a dozen or more, until both are at work and Ada, held still for a look, has a tray in the oven.
    std::vector<flow::any_run_handle> runs;
    int tray = 0;
    while (tray == 0 && runs.size() < 500) {
        runs.push_back(shop.start("bake_tray", flow::args(static_cast<int>(runs.size()) + 1)));
        std::this_thread::sleep_for(40ms);
        ::kill(ada, SIGSTOP);
        if (runs.size() >= 12 && lines_with(book, "by bob") > 0) tray = in_the_oven(static_cast<int>(runs.size()), "ada");
        if (tray == 0) ::kill(ada, SIGCONT);
    }
    expect(tray != 0, "two processes work on the runs of one store");
    std::printf("       %zu trays are ordered; tray %d is in Ada's oven\n", runs.size(), tray);

    ::kill(ada, SIGKILL);
    int status = 0;
    ::waitpid(ada, &status, 0);
    expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "Ada is killed: no destructor runs, nothing is given back");

    auto const& taken_over = runs.at(static_cast<std::size_t>(tray) - 1);
    expect(taken_over.wait(100s), "Bob took her tray over");
    for (auto const& h : taken_over.view().happened) std::printf("       %s\n", h.text.c_str());
    for (auto const& run : runs)
        if (!run.wait(100s)) expect(false, "a run has not ended");
    expect(true, "and all the others, hers and his");

    ::kill(bob, SIGTERM);
    ::waitpid(bob, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "Bob ends orderly");

    int baked_once = 0, by_ada = 0;
    for (int t = 1; t <= static_cast<int>(runs.size()); ++t) {
        baked_once += lines_with(book, "tray " + std::to_string(t) + ": baked") == 1;
        by_ada += noted(t, "baked by ada");
    }
    std::printf("       Ada baked %d trays, Bob %zu\n", by_ada, runs.size() - static_cast<std::size_t>(by_ada));
    expect(baked_once == static_cast<int>(runs.size()), "each tray was baked once, whoever did it");
    expect(lines_with(book, "tray " + std::to_string(tray) + ": mixed") == 1, "what Ada had mixed was not mixed again: its step is in the journal");
    expect(noted(tray, "baked by bob"), "and the tray she left in the oven was baked by Bob");
}
