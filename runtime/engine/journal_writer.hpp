// The journal writer: takes groups from all runs and commits what has queued as one transaction (group commit).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "flow/log.hpp"
#include "flow/store.hpp"

namespace flow::detail {

/// Who is told what came of a group. Called by the writer, in the order the groups of a run were given.
class group_owner {
public:
    virtual void written(seq_no last, answer const& a) = 0;
    /// This group of the run cannot be written, whatever is tried; nor can what follows it (P9).
    virtual void given_up(error const& why) = 0;

protected:
    ~group_owner() = default;
};

/// One an engine. With a thread of its own, or driven by `flush`.
class journal_writer {
public:
    journal_writer(store& s, std::function<void(log_level, std::string const&)> log) : store_(s), log_(std::move(log)) {}
    ~journal_writer() { join(); }

    /// Makes the thread. Whoever waits for a commit may make it (`commit_here`).
    void start();
    /// Makes the thread that does all that may wait for the store: nobody else commits, and between commits it calls `beside`, once
    /// for each `ask`.
    void start_apart(std::function<void()> beside);
    void ask();
    /// Something is to be committed, or `beside` is asked for and has not returned: more may come of it.
    bool is_busy() const;
    /// So far.
    std::uint64_t commits() const noexcept { return commits_; }
    /// Any thread; never blocks on the store. The thread is woken by `wake`, or when much has gathered.
    void give(std::shared_ptr<group_owner> who, group g);
    void wake();
    /// Commits what has queued on the calling thread, if nobody commits now: whoever waits for it saves two hand-overs between
    /// threads. False: it is the writer's thread that will.
    bool commit_here();
    /// Commits what is queued now. False: nothing was queued, or the store could not be written yet.
    bool flush(time_limit limit);
    bool has_work() const;
    /// Commits what is queued, if the store lets it, and ends the thread.
    void join();

    /// Why the newest commit failed; nothing after one that succeeded.
    std::optional<error> trouble() const;

private:
    struct item {
        std::shared_ptr<group_owner> who;
        group g;
    };
    void work();
    bool pause(std::unique_lock<std::mutex>& lock);  ///< after a failure; false: it is to end
    void call_beside(std::unique_lock<std::mutex>& lock);
    bool commit_queue(time_limit limit);  ///< committing_ is held
    bool commit(time_limit limit);  ///< the batch; false: to be tried again
    outcome<std::vector<answer>> apply(std::span<group const> groups, time_limit limit);
    bool halve(time_limit limit);  ///< until the culprit stands alone (P9)
    void quarantine(error const& why);
    void report(error const& e);

    store& store_;
    std::function<void(log_level, std::string const&)> log_;
    mutable std::mutex guard_;
    std::condition_variable wake_;
    std::vector<item> queue_;
    std::mutex committing_;
    std::vector<item> batch_;  ///< being committed, or to be committed again; under committing_
    std::optional<error> trouble_;
    std::atomic<int> failures_{0};
    std::atomic<std::uint64_t> commits_{0};
    bool pending_ = false;  ///< the batch is not empty; under guard_, for those who do not commit
    bool asked_ = false, ending_ = false;
    std::function<void()> beside_;
    std::thread thread_;
};

}  // namespace flow::detail
