// An engine that its caller drives: by poll, or as ticks on an executor.
#include <algorithm>
#include <utility>

#include "runtime/engine/async.hpp"
#include "runtime/engine/core.hpp"

namespace flow::detail {

namespace {

// On the caller's executor without a thread of ours: a store that is busy longer must not hold the executor up.
constexpr time_limit commit_limit_here{20};
// When to poll again while the thread that commits is at it: about a commit on a fast disk.
constexpr std::chrono::milliseconds ask_again{1};

}  // namespace

poll_result engine_core::poll(std::chrono::microseconds budget)
{
    if (!is_polled()) throw error(errc::usage, "poll is for engines made with {.threads = 0} and without an executor");
    std::lock_guard const alone(polling_);
    auto const end = std::chrono::steady_clock::now() + budget;
    auto const left = [end] { return end - std::chrono::steady_clock::now(); };
    poll_result result;
    bool busy = false;  // the thread that commits: what comes of it is not known yet
    for (;;) {
        busy = commits_apart() && journal.is_busy();
        bool did = clocks.run_due() > 0;
        bool look = false;
        {
            std::lock_guard const lock(sleep_guard_);
            look = std::exchange(look_, false);
        }
        if (commits_apart()) {
            busy = ask_for_look(look) || busy;
        } else {
            look_around(look);
            did = did || look;
        }
        while (threads->run_one()) {
            did = true;
            if (left() <= left().zero()) break;
        }
        if (coroutines_) did = coroutines_->poll() || did;
        if (!commits_apart() && journal.has_work()) {
            auto const patience = std::chrono::duration_cast<time_limit>(std::max(left(), left().zero()));
            did = journal.flush(patience) || did;
        }
        if (!did) break;
        if (left() <= left().zero()) {
            bool const to_commit = commits_apart() ? journal.is_busy() : journal.has_work();
            result.work_left = threads->has_work() || (to_commit && !commits_apart()) || clocks.until_next() == duration::zero();
            if (result.work_left) return result;
            busy = busy || to_commit;
            break;
        }
    }
    result.next_due = std::min({clocks.until_next(), until_next_eviction(), until_store_due()});
    if (busy) result.next_due = std::min<duration>(result.next_due, ask_again);
    if (!commits_apart() && journal.has_work()) result.next_due = std::min<duration>(result.next_due, std::chrono::milliseconds{10});
    return result;
}

duration engine_core::until_store_due() const
{
    auto const due = store_due_.load();
    return due == never ? duration::max() : std::max(duration::zero(), due - clock().now());
}

void engine_core::tick_soon()
{
    if (!tick_posted_.exchange(true)) threads->run([this] { tick(); });
}

void engine_core::tick()
{
    tick_posted_ = false;
    if (threads->is_closed()) return;  // left over: the engine ends on another thread
    std::unique_lock alone(ticking_, std::try_to_lock);
    if (!alone) return;  // whoever ticks now sets the next one, after it has left
    if (stopping_) {
        stop_on();
        if (stopped_) return;
    } else {
        bool look = false;
        {
            std::lock_guard const lock(sleep_guard_);
            look = std::exchange(look_, false);
        }
        clocks.run_due();
        if (commits_apart()) ask_for_look(look);
        else look_around(look);
    }
    if (!commits_apart() && journal.has_work()) commit_soon();  // what the store would not take
    alone.unlock();
    threads->ring_after(std::min<duration>(clocks.until_next(), look_every));
}

void engine_core::commit_soon()
{
    if (drive_ != driven::by_executor || commits_apart()) return journal.wake();
    if (commit_posted_.exchange(true)) return;
    threads->run([this] {
        commit_posted_ = false;
        // Behind the strands that are queued now, so that what they write is one commit. A store that is busy is tried again by a tick.
        journal.flush(commit_limit_here);
    });
}

bool engine_core::ask_for_look(bool everything)
{
    tidy();
    // What we have committed ourselves may have changed what is due.
    bool const fresh = looked_behind_ == journal.commits() && std::chrono::steady_clock::now() - looked_at_.load() < look_every;
    if (!everything && fresh && until_store_due() > duration::zero()) return false;
    if (everything) look_at_all_ = true;
    journal.ask();
    return true;
}

void engine_core::look_when_asked()
{
    auto const behind = journal.commits();
    look_into_store(look_at_all_.exchange(false));
    looked_behind_ = behind;
    looked_at_ = std::chrono::steady_clock::now();
}

}  // namespace flow::detail
