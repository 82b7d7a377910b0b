#include "runtime/store/sqlite/database.hpp"

#include <sqlite3.h>

#include "runtime/store/key_file.hpp"
#include "runtime/store/sqlite/errors.hpp"
#include "runtime/store/sqlite/schema.hpp"

namespace flow::sqlite_detail {

namespace {

// Enough that lists and pages do not wait for each other, few enough that a program with many stores keeps its files.
constexpr std::size_t max_readers = 4;
// Pages in the log before it is copied into the file: SQLite's own number.
constexpr int checkpoint_pages = 1000;

using std::chrono::steady_clock;

std::chrono::milliseconds left(steady_clock::time_point deadline)
{
    return std::max(std::chrono::milliseconds{0},
                    std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()));
}

}  // namespace

database::database(std::string file, sqlite_options const& options) : file_(std::move(file)), options_(options)
{
    auto const deadline = steady_clock::now() + options_.busy_timeout;
    try {
        {
            int const flags = SQLITE_OPEN_READWRITE | (options_.must_exist ? 0 : SQLITE_OPEN_CREATE);
            connection first(file_, flags, options_.vfs);
            first.leave_untouched();
            // A VFS of a test's own may keep the file elsewhere.
            if (options_.vfs.empty()) check_header(first, file_);
            first.busy_timeout(options_.busy_timeout);
            prepare_schema(first, file_, &store_detail::make_key, options_.key_file, deadline);
        }
        writer_ = open(true);
        if (writer_->read_only())
            throw refusal(errc::store_read_only, file_ + " cannot be written by this user");
        watcher_ = open(false);
    } catch (failure const& f) {
        throw error_of(file_, f.code, f.what());
    } catch (refusal const& r) {
        throw error(r.code, r.what());
    }
}

database::~database() = default;

std::unique_ptr<connection> database::open(bool writer) const
{
    auto c = std::make_unique<connection>(file_, SQLITE_OPEN_READWRITE, options_.vfs);
    c->busy_timeout(options_.busy_timeout);
    c->run(options_.synchronous == sqlite_options::sync::full ? "pragma synchronous = full" : "pragma synchronous = normal");
    if (writer) c->run("pragma journal_size_limit = 4194304");  // grown under a long reader, the log file shrinks again
    else c->run("pragma query_only = on");
    return c;
}

void database::probe(std::string_view call, probe_point point) const
{
    if (options_.probe) options_.probe(call, point);
}

outcome<void> database::write(std::string_view call, time_limit limit, body const& what, landed const& did_land)
{
    auto const deadline = steady_clock::now() + limit;
    std::unique_lock lock(write_mutex_, std::defer_lock);
    if (!lock.try_lock() && !lock.try_lock_until(deadline))
        return error(errc::store_busy, file_ + " is being written by another thread of this program");
    try {
        if (suspended_) reopen(deadline);
        return attempt(call, deadline, what, did_land);
    } catch (failure const& f) {
        return error_of(file_, f.code, f.what());
    } catch (refusal const& r) {
        return error(r.code, file_ + ": " + r.what());
    }
}

outcome<void> database::attempt(std::string_view call, instant deadline, body const& what, landed const& did_land)
{
    bool committing = false;
    try {
        auto& c = *writer_;
        c.busy_timeout(left(deadline));
        c.prepare("begin immediate").run();
        probe(call, probe_point::locked);
        what(c);
        probe(call, probe_point::written);
        probe(call, probe_point::before_commit);
        committing = true;
        commit(c, deadline);
    } catch (failure const& f) {
        return after_failure(f, committing, deadline, did_land);
    } catch (...) {
        if (writer_->in_transaction()) writer_->prepare("rollback").run();
        throw;
    }
    checkpoint_if_long();
    probe(call, probe_point::after_commit);
    return {};
}

void database::commit(connection& c, instant deadline)
{
    for (;;) {
        try {
            return c.prepare("commit").run();
        } catch (failure const& f) {
            // The transaction is still open: the same COMMIT again (P8).
            if (!is_busy(f.code) || !c.in_transaction() || steady_clock::now() >= deadline) throw;
        }
    }
}

void database::checkpoint_if_long()
{
    if (writer_->log_pages() < checkpoint_pages) return;
    // The commit stands whatever comes of this. But after a failed sync the pages count as written for the system while
    // they may not be on the disk, so the log is copied again as a whole before the next call.
    if (needs_reopening(writer_->checkpoint(false))) suspend();
}

outcome<void> database::after_failure(failure const& f, bool committing, instant deadline, landed const& did_land)
{
    auto const cause = error_of(file_, f.code, f.what());
    if (!needs_reopening(f.code)) {
        // Also ends a transaction that BUSY left open at COMMIT: nothing of it was written.
        if (writer_->in_transaction()) writer_->prepare("rollback").run();
        return cause;
    }
    suspend();
    try {
        reopen(deadline);
        if (!committing) return cause;  // never reached its COMMIT: nothing was written
        if (did_land) {
            bool const yes = did_land(*writer_);
            return yes ? outcome<void>{} : outcome<void>{cause};
        }
    } catch (failure const&) {
        if (!committing) return cause;
    }
    return error(errc::commit_unknown, std::string(cause.message()));
}

void database::suspend()
{
    suspended_ = true;
    // Closing must not copy the log: its pages may be lost already. Opening reads it anew and looks at its checksums.
    auto const close = [](std::unique_ptr<connection>& c) {
        if (c) c->leave_untouched();
        c.reset();
    };
    close(writer_);
    {
        std::unique_lock lock(read_mutex_);
        returned_.wait(lock, [&] { return lent_ == 0; });
        for (auto& c : idle_) close(c);
        idle_.clear();
    }
    std::scoped_lock lock(watch_mutex_);
    close(watcher_);
    ++generation_;
}

void database::reopen(instant deadline)
{
    auto c = open(true);
    c->busy_timeout(left(deadline));
    c->number("select count(*) from meta");  // reads the log, if the file was not closed by everybody
    if (int const code = c->checkpoint(true); code != SQLITE_OK)
        throw failure(code, std::string("the log could not be copied into the file: ") + sqlite3_errstr(code));
    writer_ = std::move(c);
    suspended_ = false;
}

std::unique_ptr<connection> database::borrow()
{
    std::unique_lock lock(read_mutex_);
    for (;;) {
        returned_.wait(lock, [&] { return lent_ < max_readers || suspended_; });
        // Asked under read_mutex_: suspend() sets it before it comes here to wait for what is lent.
        if (!suspended_) break;
        lock.unlock();
        {
            std::unique_lock writing(write_mutex_, std::defer_lock);
            if (!writing.try_lock_for(options_.busy_timeout)) throw failure(SQLITE_BUSY, "the file is being opened anew");
            if (suspended_) reopen(steady_clock::now() + options_.busy_timeout);
        }
        lock.lock();
    }
    ++lent_;
    if (!idle_.empty()) {
        auto c = std::move(idle_.back());
        idle_.pop_back();
        return c;
    }
    lock.unlock();
    try {
        return open(false);
    } catch (...) {
        give_back(nullptr, false);
        throw;
    }
}

void database::give_back(std::unique_ptr<connection> c, bool usable)
{
    {
        std::scoped_lock lock(read_mutex_);
        --lent_;
        if (usable) idle_.push_back(std::move(c));
    }
    returned_.notify_all();
}

outcome<void> database::read(body const& what)
{
    try {
        auto c = borrow();
        try {
            what(*c);
        } catch (...) {
            c.reset();
            give_back(nullptr, false);
            throw;
        }
        give_back(std::move(c), true);
        return {};
    } catch (failure const& f) {
        return error_of(file_, f.code, f.what());
    } catch (refusal const& r) {
        return error(r.code, file_ + ": " + r.what());
    }
}

outcome<std::uint64_t> database::change_counter()
{
    try {
        std::scoped_lock lock(watch_mutex_);
        if (!watcher_) {
            if (suspended_) return generation_ << 32;
            watcher_ = open(false);
        }
        return (generation_ << 32) + static_cast<std::uint64_t>(watcher_->number("pragma data_version"));
    } catch (failure const& f) {
        return error_of(file_, f.code, f.what());
    }
}

int database::open_statements()
{
    std::scoped_lock lock(write_mutex_, read_mutex_, watch_mutex_);
    int open = writer_ ? writer_->open_statements() : 0;
    if (watcher_) open += watcher_->open_statements();
    for (auto const& c : idle_) open += c->open_statements();
    return open;
}

}  // namespace flow::sqlite_detail
