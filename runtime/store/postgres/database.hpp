// The connections of one store object: a few, lent to one call at a time, opened when they are needed.
//
// A transaction whose COMMIT got no answer is tried again whole, on a new connection (protocol P8): every call finds what its first
// try wrote, behind the locks that the first try may still hold.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "flow/postgres.hpp"
#include "runtime/store/postgres/connection.hpp"

namespace flow::postgres_detail {

/// Now, by the server's clock and beyond any lock that was waited for, as a time's number.
inline constexpr char const* server_clock = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// What a call's body works with.
class transaction {
public:
    transaction(connection& c, std::function<void()> on_locked, bool in_doubt)
        : c(c), in_doubt(in_doubt), on_locked_(std::move(on_locked))
    {
    }

    connection& c;
    /// An earlier try of the same call may have been committed.
    bool const in_doubt;
    /// The last word before COMMIT; throws refusal if it must not be.
    std::function<void()> before_commit;

    /// Every row is locked that this body locks.
    void locked() const { on_locked_(); }
    /// Nobody else is concerned: the change counter stays.
    void quiet() noexcept { quiet_ = true; }
    bool is_quiet() const noexcept { return quiet_; }

private:
    std::function<void()> const on_locked_;
    bool quiet_ = false;
};

class database {
public:
    /// Throws flow::error.
    database(std::string connection, postgres_options const& options);

    using body = std::function<void(transaction&)>;
    /// One transaction, READ COMMITTED. `what` may run several times: after a collision, and after a COMMIT without an answer.
    outcome<void> write(std::string_view call, time_limit limit, body const& what);
    /// The same for what cannot be written twice: after a COMMIT without an answer `did_land` is asked, on another connection.
    using landed = std::function<bool(connection&)>;
    outcome<void> write(std::string_view call, time_limit limit, body const& what, landed const& did_land);

    using reading = std::function<void(connection&)>;
    /// Single statements, each as new as it can be.
    outcome<void> read(reading const& what);
    /// All statements see the same moment.
    outcome<void> read_moment(reading const& what);

    /// One that is not lent: for whoever must never wait for a call. Throws failure.
    std::unique_ptr<connection> open() const;
    /// Of what the stores on this schema tell each other. Throws failure.
    std::unique_ptr<listener> listen() const { return std::make_unique<listener>(how_, options_.schema); }

    outcome<std::uint64_t> change_counter();
    std::string const& name() const noexcept { return name_; }
    time_limit patience() const noexcept { return options_.busy_timeout; }

private:
    using instant = std::chrono::steady_clock::time_point;

    class loan;
    std::unique_ptr<connection> borrow(instant deadline);
    void give_back(std::unique_ptr<connection> c);
    void drop_idle();
    void attempt(std::string_view call, instant deadline, body const& what, bool in_doubt, bool& committing);
    outcome<bool> ask_whether_landed(landed const& did_land, instant deadline);
    outcome<void> read(char const* begin, reading const& what);

    std::string const how_;
    postgres_options const options_;
    std::string name_;

    std::mutex mutex_;
    std::condition_variable returned_;
    std::vector<std::unique_ptr<connection>> idle_;
    std::size_t lent_ = 0;
};

}  // namespace flow::postgres_detail
