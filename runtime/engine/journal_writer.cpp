#include "runtime/engine/journal_writer.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <utility>

namespace flow::detail {

namespace {

// Long enough that another process's transaction ends meanwhile; short enough that the health report stays current.
constexpr time_limit commit_limit{2000};

// On a thread that has other work: a store that is busy longer is the writer's own thread's matter.
constexpr time_limit short_limit{20};

// After a failure: from a moment up to seconds, so that a full or damaged disk is not hammered (ST-11).
time_limit pause_after(int failures) { return time_limit{std::min(5000, 10 << std::min(failures, 9))}; }

/// Trouble of the store as a whole: the same groups will be accepted once it is over. Anything else is about one of them (P9).
bool passes(errc code)
{
    return row_of(code).code < errc::nondeterminism;
}

}  // namespace

void journal_writer::quarantine(error const& why)
{
    auto const culprit = std::move(batch_.front());
    batch_.clear();
    {
        std::lock_guard const lock(guard_);
        trouble_.reset();
    }
    culprit.who->given_up(why);
}

bool journal_writer::halve(time_limit limit)
{
    auto second = std::vector<item>(std::make_move_iterator(batch_.begin() + static_cast<std::ptrdiff_t>(batch_.size() / 2)),
                                    std::make_move_iterator(batch_.end()));
    batch_.resize(batch_.size() - second.size());
    bool const first_done = commit(limit);
    batch_.insert(batch_.end(), std::make_move_iterator(second.begin()), std::make_move_iterator(second.end()));
    return first_done && commit(limit);
}

void journal_writer::start() { thread_ = std::thread([this] { work(); }); }

void journal_writer::start_apart(std::function<void()> beside)
{
    beside_ = std::move(beside);
    start();
}

void journal_writer::ask()
{
    {
        std::lock_guard const lock(guard_);
        asked_ = true;
    }
    wake_.notify_one();
}

bool journal_writer::is_busy() const
{
    std::lock_guard const lock(guard_);
    return !queue_.empty() || pending_ || asked_;
}

void journal_writer::give(std::shared_ptr<group_owner> who, group g)
{
    bool many = false;
    {
        std::lock_guard const lock(guard_);
        queue_.push_back({std::move(who), std::move(g)});
        many = queue_.size() == 64;
    }
    if (many) wake_.notify_one();
}

void journal_writer::wake() { wake_.notify_one(); }

bool journal_writer::commit_here()
{
    if (!thread_.joinable() || beside_) return false;  // driven by flush; or no other thread is to wait for the disk
    std::unique_lock alone(committing_, std::try_to_lock);
    if (!alone || !batch_.empty()) return false;  // a batch that failed is the thread's to try again
    bool const done = commit_queue(short_limit);
    alone.unlock();
    if (has_work()) wake();
    return done;
}

bool journal_writer::has_work() const
{
    std::lock_guard const lock(guard_);
    return !queue_.empty() || pending_;
}

std::optional<error> journal_writer::trouble() const
{
    std::lock_guard const lock(guard_);
    return trouble_;
}

void journal_writer::report(error const& e)
{
    bool news = false;
    {
        std::lock_guard const lock(guard_);
        news = !trouble_ || trouble_->code() != e.code();
        trouble_ = e;
    }
    // Once a kind of trouble, not once a try. Waiting for a lock is no trouble before it lasts.
    if (news && e.code() != errc::store_busy) log_(log_level::error, "the journal cannot be written: " + std::string(e.what()));
    else if (news) log_(log_level::warning, "waiting for the store: " + std::string(e.what()));
}

bool journal_writer::flush(time_limit limit)
{
    std::lock_guard const alone(committing_);
    return commit_queue(limit);
}

bool journal_writer::commit_queue(time_limit limit)
{
    {
        std::lock_guard const lock(guard_);
        batch_.reserve(batch_.size() + queue_.size());  // where there is no memory, none of them is moved
        std::move(queue_.begin(), queue_.end(), std::back_inserter(batch_));
        queue_.clear();
        pending_ = !batch_.empty();
    }
    bool const done = !batch_.empty() && commit(limit);
    std::lock_guard const lock(guard_);
    pending_ = !batch_.empty();  // only now: who sees that nothing is pending has been told of all that was
    return done;
}

/// Where there is no memory for it, it is tried again, like what a store refuses in passing.
outcome<std::vector<answer>> journal_writer::apply(std::span<group const> groups, time_limit limit)
{
    try {
        return store_.apply(groups, limit);
    } catch (std::bad_alloc const&) {
        return error(errc::store_unavailable, "there is no memory for it");
    }
}

bool journal_writer::commit(time_limit limit)
{
    // The groups of a run stay in order; the store answers each.
    std::vector<group> groups;
    groups.reserve(batch_.size());
    for (auto& i : batch_) groups.push_back(std::move(i.g));
    auto answers = apply(groups, limit);
    if (!answers) {
        // Nothing was written, or nobody knows: the same groups again (P8).
        for (std::size_t i = 0; i < groups.size(); ++i) batch_[i].g = std::move(groups[i]);
        if (!passes(answers.error().code())) {
            if (batch_.size() > 1) return halve(limit);
            quarantine(answers.error());
            return true;
        }
        report(answers.error());
        ++failures_;
        return false;
    }
    failures_ = 0;
    ++commits_;
    {
        std::lock_guard const lock(guard_);
        trouble_.reset();
    }
    auto batch = std::exchange(batch_, {});
    for (std::size_t i = 0; i < batch.size(); ++i)
        batch[i].who->written(groups[i].entries.back().seq, (*answers)[i]);
    return true;
}

void journal_writer::call_beside(std::unique_lock<std::mutex>& lock)
{
    lock.unlock();
    beside_();
    lock.lock();
    asked_ = false;
}

bool journal_writer::pause(std::unique_lock<std::mutex>& lock)
{
    auto const until = std::chrono::steady_clock::now() + pause_after(failures_);
    while (wake_.wait_until(lock, until, [this] { return ending_ || asked_; })) {
        if (ending_) return false;
        call_beside(lock);
    }
    return true;
}

void journal_writer::work()
{
    std::unique_lock lock(guard_);
    for (;;) {
        wake_.wait(lock, [this] { return ending_ || !queue_.empty() || pending_ || asked_; });
        bool const last = ending_;
        if (asked_ && !last) call_beside(lock);
        lock.unlock();
        while (!flush(commit_limit) && has_work()) {
            lock.lock();
            bool const again = pause(lock);
            lock.unlock();
            if (again) continue;
            flush(commit_limit);  // once more, then it is left as after a crash
            return;
        }
        if (last) return;
        lock.lock();
    }
}

void journal_writer::join()
{
    if (!thread_.joinable()) return;
    {
        std::lock_guard const lock(guard_);
        ending_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

}  // namespace flow::detail
