// Two sessions of a PostgreSQL store, stepped: one statement of one of them at a time, through the store's own code.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "flow/store.hpp"

namespace flow::test {

/// What a statement does, as far as it matters to the other session: a bit for each table, and one for the advisory locks.
struct footprint {
    std::uint32_t reads = 0;
    std::uint32_t locks = 0;   ///< of an end: all that its transaction had locked, what it wrote included
    std::uint32_t writes = 0;  ///< of an end: all that its transaction had written
    bool ends = false;         ///< commit or rollback
};
footprint footprint_of(std::string_view statement);

/// May it matter which of these statements of two sessions comes first? Under READ COMMITTED a read does not see what is not committed and
/// waits for nobody; rows are told apart by their tables alone, so it says yes too often, never too seldom.
bool depend(footprint const& a, footprint const& b) noexcept;

/// Runs two acts, each on a thread and a store object of its own, against one schema. Every statement waits until `step` lets it
/// through; `begin` and what only sets the session's own limits does not, and the change counter's update counts as part of the commit.
class stepped_pair {
public:
    using act = std::function<void(flow::store&)>;

    stepped_pair(store_ptr first, store_ptr second, std::string const& schema);
    ~stepped_pair();

    /// Both are under way and stand before their first statements when it returns.
    void begin(act first, act second);
    /// A bit for each that stands before a statement. The others have ended, or wait for a lock of the other.
    unsigned ready() const;
    footprint next(unsigned who) const;
    std::string text(unsigned who) const;
    /// Lets one statement through; returns when nothing moves any more: it was carried out, or waits for a lock, and whoever waited for
    /// a lock that it released has gone on to the next statement. A deadlock is left to the server.
    void step(unsigned who);
    /// Both have ended: joins them; throws what an act threw.
    void end();

    /// Transactions that the server or the store undid since the beginning.
    std::size_t rollbacks() const;
    /// Asks the schema, on a third session.
    std::string ask(std::string const& sql);

private:
    enum class state : std::uint8_t { moving, standing, ended };
    struct side {
        store_ptr store;
        std::thread thread;
        state now = state::ended;
        bool go = false, counter_moved = false;
        std::string text;
        int backend = 0;
        footprint next, done;  ///< done: by the transaction at hand
        std::exception_ptr thrown;
    };
    struct watcher;

    void hold(side& s, std::string_view statement, int backend);
    void settle();
    void let_all_go() noexcept;

    std::unique_ptr<watcher> const watcher_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::array<side, 2> sides_;
    std::size_t rollbacks_ = 0;
    std::uint64_t changes_ = 0;
    bool free_ = false;  ///< nothing is held up any more: the test has failed
};

}  // namespace flow::test
