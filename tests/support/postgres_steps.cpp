#include "support/postgres_steps.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/store/postgres/stepping.hpp"
#include "support/postgres.hpp"
#include "support/pqxx.hpp"

namespace flow::test {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view tables[] = {"runs",   "journal",  "waitpoints", "edges",     "wakes", "requests", "inbox",
                                       "responses", "children", "owners",  "published", "blobs", "meta"};
constexpr std::uint32_t advisory = 1U << std::size(tables);

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/// The tables named in a text. A column of a table's name would only say too much.
std::uint32_t named_in(std::string_view text)
{
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < text.size();) {
        auto end = i;
        while (end < text.size() && is_letter(text[end])) ++end;
        for (std::size_t t = 0; t < std::size(tables); ++t)
            if (text.substr(i, end - i) == tables[t]) out |= 1U << t;
        i = end + 1;
    }
    return out;
}

bool is_pass(std::string_view s) { return s.starts_with("begin") || s.starts_with("set local"); }

}  // namespace

footprint footprint_of(std::string_view s)
{
    footprint f;
    auto const all = named_in(s);
    if (s.find("pg_advisory") != s.npos) {
        f.locks = advisory;
    } else if (s.starts_with("insert") || s.starts_with("update") || s.starts_with("delete")) {
        auto const verb_ends = s.find(' ', s.starts_with("update") ? 0 : s.find(' ') + 1);  // behind "insert into", "delete from"
        f.writes = f.locks = named_in(s.substr(0, s.find_first_of(" (", verb_ends + 1)));
        f.reads = all;
    } else if (s.find(" for share") != s.npos || s.find(" for no key update") != s.npos) {
        f.reads = f.locks = all;
    } else {
        f.reads = all;
        f.ends = s == "commit" || s == "rollback";
    }
    return f;
}

bool depend(footprint const& a, footprint const& b) noexcept
{
    if (a.ends && b.ends) return false;  // neither sees anything any more
    // What is written is seen, and what is locked is free, from the end of its transaction on.
    if (a.ends) return (a.writes & b.reads) != 0 || (a.locks & b.locks) != 0;
    if (b.ends) return depend(b, a);
    return (a.locks & b.locks) != 0;
}

/// A session that looks at the other two.
struct stepped_pair::watcher {
    explicit watcher(std::string const& schema) : link(postgres_server()), transaction(link)
    {
        transaction.exec("set client_min_messages = error; set search_path = \"" + schema + "\"");
    }

    /// Others may be in its way for a moment, such as autovacuum: that passes by itself.
    bool waits(int backend, int for_whom)
    {
        auto const r = transaction.exec("select " + std::to_string(for_whom) + " = any(pg_blocking_pids(" + std::to_string(backend) + "))");
        return r[0][0].as<bool>();
    }

    pqxx::connection link;
    pqxx::nontransaction transaction;
};

stepped_pair::stepped_pair(store_ptr first, store_ptr second, std::string const& schema) : watcher_(std::make_unique<watcher>(schema))
{
    sides_[0].store = std::move(first);
    sides_[1].store = std::move(second);
}

stepped_pair::~stepped_pair() { let_all_go(); }

void stepped_pair::begin(act first, act second)
{
    rollbacks_ = 0;
    std::array const acts{std::move(first), std::move(second)};
    for (auto& s : sides_) {
        s.now = state::moving;
        s.go = s.counter_moved = false;
        s.backend = 0;
        s.done = {};
        s.thrown = nullptr;
    }
    for (std::size_t i = 0; i < 2; ++i) {
        auto& s = sides_[i];
        s.thread = std::thread([this, &s, what = acts[i]] {
            postgres_detail::stepper const before = [&](std::string_view statement, int backend) { hold(s, statement, backend); };
            postgres_detail::step_statements(&before);
            try {
                what(*s.store);
            } catch (...) {
                s.thrown = std::current_exception();
            }
            std::scoped_lock lock(mutex_);
            s.now = state::ended;
            ++changes_;
            changed_.notify_all();
        });
    }
    settle();
}

void stepped_pair::hold(side& s, std::string_view statement, int backend)
{
    // The counter's row is nobody's but the session's, or its order says nothing: it goes with the commit behind it.
    if (is_pass(statement) || (statement == "commit" && std::exchange(s.counter_moved, false))) return;
    if (statement.starts_with("update pulse")) {
        s.counter_moved = true;
        statement = "commit";
    }
    std::unique_lock lock(mutex_);
    s.next = footprint_of(statement);
    if (s.next.ends) {
        s.next.locks = s.done.locks;
        s.next.writes = statement == "commit" ? s.done.writes : 0;
        s.done = {};
        if (statement == "rollback") ++rollbacks_;
    } else {
        s.done.locks |= s.next.locks;
        s.done.writes |= s.next.writes;
    }
    s.text = statement;
    s.backend = backend;
    s.now = state::standing;
    ++changes_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return s.go || free_; });
    s.go = false;
    s.now = state::moving;
}

unsigned stepped_pair::ready() const
{
    std::scoped_lock lock(mutex_);
    return (sides_[0].now == state::standing ? 1U : 0U) | (sides_[1].now == state::standing ? 2U : 0U);
}

footprint stepped_pair::next(unsigned who) const
{
    std::scoped_lock lock(mutex_);
    return sides_[who].next;
}

std::string stepped_pair::text(unsigned who) const
{
    std::scoped_lock lock(mutex_);
    return sides_[who].text;
}

void stepped_pair::step(unsigned who)
{
    {
        std::scoped_lock lock(mutex_);
        sides_[who].go = true;
        sides_[who].now = state::moving;
        changed_.notify_all();
    }
    settle();
}

void stepped_pair::settle()
{
    auto const limit = std::chrono::steady_clock::now() + 20s;
    std::unique_lock lock(mutex_);
    for (;;) {
        auto const none_moves = [&] { return sides_[0].now != state::moving && sides_[1].now != state::moving; };
        // A statement takes a tenth of a millisecond; what takes longer may be waiting.
        if (changed_.wait_for(lock, 300us, none_moves)) return;
        auto const seen = changes_;
        std::vector<std::pair<int, int>> moving;
        for (std::size_t i = 0; i < 2; ++i)
            if (sides_[i].now == state::moving) moving.emplace_back(sides_[i].backend, sides_[1 - i].backend);
        lock.unlock();
        bool all_wait = true;
        for (auto const& [backend, other] : moving) all_wait = all_wait && watcher_->waits(backend, other);
        lock.lock();
        // One that stood meanwhile may have released a lock; if both wait for each other, the server ends it.
        if (all_wait && seen == changes_ && moving.size() < 2) return;
        if (std::chrono::steady_clock::now() > limit) {
            auto const texts = sides_[0].text + "\n" + sides_[1].text;
            lock.unlock();
            let_all_go();
            throw std::runtime_error("the stepped sessions do not come to rest; their last statements:\n" + texts);
        }
    }
}

void stepped_pair::end()
{
    for (auto& s : sides_) s.thread.join();
    for (auto& s : sides_)
        if (s.thrown) std::rethrow_exception(s.thrown);
}

void stepped_pair::let_all_go() noexcept
{
    {
        std::scoped_lock lock(mutex_);
        free_ = true;
        changed_.notify_all();
    }
    for (auto& s : sides_)
        if (s.thread.joinable()) s.thread.join();
}

std::size_t stepped_pair::rollbacks() const { return rollbacks_; }

std::string stepped_pair::ask(std::string const& sql)
{
    auto const r = watcher_->transaction.exec(sql);
    return r.empty() || r[0][0].is_null() ? std::string{} : std::string(r[0][0].c_str());
}

}  // namespace flow::test
