#include "runtime/store/postgres/database.hpp"

#include <algorithm>
#include <thread>

#include "runtime/store/postgres/schema.hpp"

namespace flow::postgres_detail {

namespace {

using std::chrono::steady_clock;

// The last lock of a transaction, held for the length of its COMMIT; a process's connections are spread over the rows.
constexpr auto move_counter = "update pulse set n = n + 1 where slot = pg_backend_pid() % 64;";
static_assert(counter_slots == 64);

std::chrono::milliseconds left(steady_clock::time_point deadline)
{
    return std::max(std::chrono::milliseconds{0},
                    std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()));
}

/// What libpq must know so that a server that went away is noticed within a third of a lease (P7).
std::string with_limits(std::string const& how, postgres_options const& options)
{
    auto const third = options.lease / 3;
    std::pair<char const*, std::string> const limits[] = {
        {"tcp_user_timeout", std::to_string(third.count())},
        {"connect_timeout", std::to_string(std::max<std::int64_t>(2, third.count() / 1000))},
        {"keepalives_idle", std::to_string(std::max<std::int64_t>(1, third.count() / 1000))},
        {"fallback_application_name", "flow"},
    };
    bool const uri = how.starts_with("postgresql://") || how.starts_with("postgres://");
    auto out = how;
    for (auto const& [name, value] : limits) {
        if (how.find(name) != how.npos) continue;
        out += uri ? (out.find('?') == out.npos ? "?" : "&") : (out.empty() ? "" : " ");
        out += name + ("=" + value);
    }
    return out;
}

}  // namespace

/// A connection, lent for one try.
class database::loan {
public:
    loan(database& db, instant deadline) : db_(db), c_(db.borrow(deadline)) {}
    loan(loan const&) = delete;
    ~loan()
    {
        c_->rollback();
        db_.give_back(std::move(c_));
    }
    connection& operator*() const noexcept { return *c_; }

private:
    database& db_;
    std::unique_ptr<connection> c_;
};

database::database(std::string connection, postgres_options const& options)
    : how_(with_limits(connection, options)), options_(options), name_("postgres:" + options.schema)
{
    check_schema_name(options_.schema);
    if (options_.connections == 0) throw error(errc::usage, "a PostgreSQL store needs at least one connection");
    if (options_.renew_every >= options_.lease) throw error(errc::usage, "a lease must be longer than the time between renewals");
    try {
        auto first = open();
        name_ = "postgres:" + first->database() + "/" + options_.schema;
        prepare_schema(*first, options_, name_);
        idle_.push_back(std::move(first));
    } catch (failure const& f) {
        throw error_of(name_, f);
    } catch (refusal const& r) {
        throw error(r.code, r.what());
    }
}

std::unique_ptr<connection> database::open() const
{
    auto c = std::make_unique<connection>(how_);
    auto const third = std::to_string((options_.lease / 3).count());
    c->simple("set client_encoding = 'UTF8'; set client_min_messages = error; set bytea_output = hex;"
              "set search_path = \"" + options_.schema + "\";"
              // A stopped process must not keep its rows locked for longer than its lease (P7).
              "set idle_in_transaction_session_timeout = " + third + ";"
              // Each statement has its index; what was planned while the tables were empty is kept for long. What has none (`pulse`)
              // then looks so costly that it would be compiled each time.
              "set enable_seqscan = off; set jit = off;"
              "select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'");
    return c;
}

std::unique_ptr<connection> database::borrow(instant deadline)
{
    {
        std::unique_lock lock(mutex_);
        if (!returned_.wait_until(lock, deadline, [&] { return lent_ < options_.connections; }))
            throw refusal(errc::store_busy, "every connection of this store is in use");
        ++lent_;
        if (!idle_.empty()) {
            auto c = std::move(idle_.back());
            idle_.pop_back();
            return c;
        }
    }
    try {
        return open();
    } catch (...) {
        give_back(nullptr);
        throw;
    }
}

void database::give_back(std::unique_ptr<connection> c)
{
    {
        std::scoped_lock lock(mutex_);
        --lent_;
        if (c && c->usable()) idle_.push_back(std::move(c));
    }
    returned_.notify_one();
}

void database::drop_idle()
{
    std::vector<std::unique_ptr<connection>> gone;
    std::scoped_lock lock(mutex_);
    gone.swap(idle_);
}

void database::attempt(std::string_view call, instant deadline, body const& what, bool in_doubt, bool& committing)
{
    auto const probe = [&](probe_point point) {
        if (options_.probe) options_.probe(call, point);
    };
    {
        loan const lent(*this, deadline);
        auto& c = *lent;
        // Zero would be for ever.
        auto const patience = std::max(std::chrono::milliseconds{1}, left(deadline));
        c.with_next("begin isolation level read committed; set local lock_timeout = " + std::to_string(patience.count()) + ";");
        transaction t(c, [&] { probe(probe_point::locked); }, in_doubt);
        what(t);
        probe(probe_point::written);
        probe(probe_point::before_commit);
        if (t.before_commit) t.before_commit();
        committing = true;
        c.commit(t.is_quiet() ? "" : move_counter);
        committing = false;
    }
    probe(probe_point::after_commit);
}

outcome<void> database::write(std::string_view call, time_limit limit, body const& what) { return write(call, limit, what, {}); }

outcome<void> database::write(std::string_view call, time_limit limit, body const& what, landed const& did_land)
{
    auto const deadline = steady_clock::now() + limit;
    bool in_doubt = false, fresh = false;
    for (;;) {
        auto told = error(errc::store_unavailable, "");
        bool committing = false, again = false;
        try {
            attempt(call, deadline, what, in_doubt, committing);
            return {};
        } catch (failure const& f) {
            told = error_of(name_, f);
            // An answer with a code is the server's word that it undid the transaction; without one nobody knows.
            if (committing && (f.connection_lost || f.sqlstate.empty())) {
                in_doubt = again = true;
                drop_idle();
                if (did_land) {
                    auto const yes = ask_whether_landed(did_land, deadline);
                    if (!yes) return error(errc::commit_unknown, std::string(yes.error().message()));
                    if (*yes) return {};
                    in_doubt = false;
                }
            } else if (f.connection_lost && !std::exchange(fresh, true)) {
                drop_idle();  // left from before the server went away: a new one may do
                again = true;
            } else {
                again = is_collision(f) || (in_doubt && f.connection_lost);
            }
        } catch (refusal const& r) {
            told = error(r.code, name_ + ": " + r.what());
        }
        if (!again || steady_clock::now() >= deadline)
            return in_doubt ? error(errc::commit_unknown, std::string(told.message())) : told;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

outcome<bool> database::ask_whether_landed(landed const& did_land, instant deadline)
{
    try {
        loan const lent(*this, deadline);
        auto& c = *lent;
        c.with_next("begin isolation level read committed; set local lock_timeout = " +
                          std::to_string(std::max<std::int64_t>(1, left(deadline).count())) + ";");
        return did_land(c);
    } catch (failure const& f) {
        return error_of(name_, f);
    } catch (refusal const& r) {
        return error(r.code, r.what());
    }
}

outcome<void> database::read(reading const& what) { return read("", what); }

outcome<void> database::read_moment(reading const& what) { return read("begin isolation level repeatable read read only;", what); }

outcome<void> database::read(char const* begin, reading const& what)
{
    for (bool again : {true, false}) {
        try {
            loan const lent(*this, steady_clock::now() + options_.busy_timeout);
            auto& c = *lent;
            if (*begin) c.with_next(begin);
            what(c);
            if (*begin) c.commit("");
            return {};
        } catch (failure const& f) {
            if (f.connection_lost) drop_idle();
            if (!again || !f.connection_lost) return error_of(name_, f);
        } catch (refusal const& r) {
            return error(r.code, name_ + ": " + r.what());
        }
    }
    return {};
}

outcome<std::uint64_t> database::change_counter()
{
    std::uint64_t sum = 0;
    auto const done = read([&](connection& c) {
        auto r = c.run("select sum(n)::bigint from pulse");
        if (r.step()) sum = static_cast<std::uint64_t>(r.number(0));
    });
    if (!done) return done.error();
    return sum;
}

}  // namespace flow::postgres_detail
