// The connections of one store object: one that writes, a few that read, one that watches for others' commits.
//
// Errors (protocol P8): after a failed write or sync every connection is closed and the file opened anew, and nothing is
// read, written or told before its log was copied into the file whole. Until that succeeds the database is `suspended`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "flow/stores.hpp"
#include "runtime/store/sqlite/connection.hpp"

namespace flow::sqlite_detail {

class database {
public:
    /// Opens or makes the file; its path and the key file's are absolute. Throws flow::error.
    database(std::string file, sqlite_options const& options);
    ~database();

    using body = std::function<void(connection&)>;
    /// Asked after a COMMIT failed and the file was opened anew: did the transaction land?
    using landed = std::function<bool(connection&)>;

    /// One transaction: BEGIN IMMEDIATE, `what`, COMMIT. Waits up to `limit` for other threads and processes.
    /// `did_land` may be empty: then a failed COMMIT is commit_unknown.
    outcome<void> write(std::string_view call, time_limit limit, body const& what, landed const& did_land);

    /// On a connection that only reads. Any number of threads; a few at once.
    outcome<void> read(body const& what);

    outcome<std::uint64_t> change_counter();

    std::string const& file() const noexcept { return file_; }
    time_limit patience() const noexcept { return options_.busy_timeout; }

    /// Statements left open on any connection. A test's question.
    int open_statements();

private:
    using instant = std::chrono::steady_clock::time_point;

    std::unique_ptr<connection> open(bool writer) const;
    outcome<void> attempt(std::string_view call, instant deadline, body const& what, landed const& did_land);
    void commit(connection& c, instant deadline);
    void checkpoint_if_long();
    void probe(std::string_view call, probe_point point) const;
    outcome<void> after_failure(failure const& f, bool committing, instant deadline, landed const& did_land);
    /// Closes every connection. Needs write_mutex_.
    void suspend();
    /// Opens the file anew and empties its log; throws failure and stays suspended if it cannot. Needs write_mutex_.
    void reopen(instant deadline);
    std::unique_ptr<connection> borrow();
    void give_back(std::unique_ptr<connection> c, bool usable);

    std::string const file_;
    sqlite_options const options_;

    std::timed_mutex write_mutex_;
    std::unique_ptr<connection> writer_;
    std::atomic<bool> suspended_{false};

    std::mutex read_mutex_;  // taken alone, or inside write_mutex_
    std::condition_variable returned_;
    std::vector<std::unique_ptr<connection>> idle_;
    std::size_t lent_ = 0;

    std::mutex watch_mutex_;  // taken alone, or inside write_mutex_
    std::unique_ptr<connection> watcher_;
    std::uint64_t generation_ = 0;
};

}  // namespace flow::sqlite_detail
