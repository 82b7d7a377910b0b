#include "runtime/store/postgres/connection.hpp"

#include <charconv>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/store/postgres/stepping.hpp"

// The same source for libpqxx 6.4 and 7: what 6.4 has, 7 still has, some of it deprecated.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <pqxx/pqxx>

namespace flow::postgres_detail {

struct rows::held {
    pqxx::result result;
    std::ptrdiff_t at = -1;
};

struct connection::impl {
    explicit impl(std::string const& how) : link(how), quiet(link), transaction(link) {}

    pqxx::connection link;
    pqxx::quiet_errorhandler quiet;  // what is to be told is told by exceptions
    pqxx::nontransaction transaction;  // begin and commit are statements of ours: libpqxx must not guess what a lost one did
    std::unordered_map<std::string, std::string> names;
};

namespace {

thread_local stepper const* before_each = nullptr;

/// Our own texts: ';' stands nowhere but between statements and in quotes.
std::vector<std::string> apart(std::string const& statements)
{
    std::vector<std::string> out(1);
    bool quoted = false;
    for (char const c : statements) {
        if (c == '\'') quoted = !quoted;
        if (c == ';' && !quoted) out.emplace_back();
        else if (c != ' ' || !out.back().empty()) out.back() += c;
    }
    std::erase(out, "");
    return out;
}

template <class F>
auto told_apart(F const& f, pqxx::connection* link = nullptr)
{
    auto const lost = [&] { return !link || !link->is_open(); };
    try {
        return f();
    } catch (pqxx::sql_error const& e) {
        throw failure(e.sqlstate(), lost(), e.what());
    } catch (pqxx::broken_connection const& e) {
        throw failure({}, true, e.what());
    } catch (pqxx::failure const& e) {
        throw failure({}, lost(), e.what());
    }
}

}  // namespace

void step_statements(stepper const* before) noexcept { before_each = before; }

bool rows::step() noexcept { return ++held_->at < static_cast<std::ptrdiff_t>(held_->result.size()); }
std::size_t rows::size() const noexcept { return static_cast<std::size_t>(held_->result.size()); }
std::size_t rows::affected() const noexcept { return static_cast<std::size_t>(held_->result.affected_rows()); }

std::string_view rows::raw(int column) const
{
    auto const field = held_->result[static_cast<pqxx::result::size_type>(held_->at)][static_cast<pqxx::row::size_type>(column)];
    return {field.c_str(), static_cast<std::size_t>(field.size())};
}

bool rows::is_null(int column) const
{
    return held_->result[static_cast<pqxx::result::size_type>(held_->at)][static_cast<pqxx::row::size_type>(column)].is_null();
}

std::int64_t rows::number(int column) const
{
    auto const text = raw(column);
    std::int64_t out = 0;
    std::from_chars(text.data(), text.data() + text.size(), out);
    return out;
}

std::string rows::text(int column) const { return unescaped(raw(column)); }
std::string rows::bytes(int column) const { return from_hex_bytea(raw(column)); }
bool rows::flag(int column) const { return raw(column) == "t"; }
uuid rows::id(int column) const { return parse_uuid(raw(column)).value_or(uuid{}); }

digest rows::hash(int column) const
{
    digest out;
    auto const found = bytes(column);
    if (found.size() == out.bytes.size()) std::copy(found.begin(), found.end(), out.bytes.begin());
    return out;
}

connection::connection(std::string const& how) : impl_(told_apart([&] { return std::make_unique<impl>(how); }))
{
#if !defined(PQXX_VERSION_MAJOR) || PQXX_VERSION_MAJOR < 7
    // A statement must never go out on another connection than its transaction's.
    impl_->link.inhibit_reactivation(true);
#endif
}

connection::~connection() = default;

rows connection::run(std::string const& sql, params const& p)
{
    if (!next_.empty()) simple("");
    if (before_each) (*before_each)(sql, impl_->link.backendpid());
    return told_apart(
        [&] {
            auto it = impl_->names.find(sql);
            if (it == impl_->names.end()) {
                auto name = "s" + std::to_string(impl_->names.size());
                impl_->link.prepare(name, sql);
                it = impl_->names.emplace(sql, std::move(name)).first;
            }
            auto const values = p.pointers();
            return rows(std::make_shared<rows::held>(rows::held{
                impl_->transaction.exec_prepared(it->second, pqxx::prepare::make_dynamic_params(values))}));
        },
        &impl_->link);
}

rows connection::simple(std::string const& sql)
{
    // What goes before a statement is the beginning of a transaction, or inside of one.
    if (!next_.empty()) in_transaction_ = true;
    auto const statements = std::exchange(next_, {}) + sql;
    return told_apart(
        [&] {
            if (!before_each) return rows(std::make_shared<rows::held>(rows::held{impl_->transaction.exec(statements)}));
            pqxx::result last;
            for (auto const& one : apart(statements)) {
                (*before_each)(one, impl_->link.backendpid());
                last = impl_->transaction.exec(one);
            }
            return rows(std::make_shared<rows::held>(rows::held{last}));
        },
        &impl_->link);
}

void connection::commit(std::string const& last)
{
    simple(last + "commit");
    in_transaction_ = false;
}

void connection::rollback() noexcept
{
    next_.clear();
    if (!std::exchange(in_transaction_, false)) return;
    try {
        if (before_each) (*before_each)("rollback", impl_->link.backendpid());
        impl_->transaction.exec("rollback");
    } catch (...) {
        in_transaction_ = true;  // unusable
    }
}

bool connection::usable() const noexcept { return !in_transaction_ && next_.empty() && impl_->link.is_open(); }

std::string connection::database() const
{
    auto const* const name = impl_->link.dbname();
    return name ? name : "";
}

struct listener::impl {
    impl(std::string const& how, std::string const& channel) : link(how), quiet(link), ear(link, channel) {}

    struct receiver final : pqxx::notification_receiver {
        receiver(pqxx::connection& c, std::string const& channel) : notification_receiver(c, channel), self(c.backendpid()) {}
        void operator()(std::string const&, int backend) override { heard = heard || backend != self; }
        int const self;
        bool heard = false;
    };

    pqxx::connection link;
    pqxx::quiet_errorhandler quiet;
    receiver ear;
};

listener::listener(std::string const& how, std::string const& channel)
    : impl_(told_apart([&] { return std::make_unique<impl>(how, channel); }))
{
    told_apart([&] {
#if !defined(PQXX_VERSION_MAJOR) || PQXX_VERSION_MAJOR < 7
        impl_->link.inhibit_reactivation(true);
#endif
        // What is told is a hint, told after the commit it is about: nobody waits for the disk over it.
        pqxx::nontransaction(impl_->link).exec("set synchronous_commit = off");
    });
}

listener::~listener() = default;

int listener::socket() const { return impl_->link.sock(); }

bool listener::heard()
{
    told_apart([&] { impl_->link.get_notifs(); }, &impl_->link);
    return std::exchange(impl_->ear.heard, false);
}

void listener::tell()
{
    told_apart([&] { pqxx::nontransaction(impl_->link).exec("notify " + impl_->link.quote_name(impl_->ear.channel())); }, &impl_->link);
}

}  // namespace flow::postgres_detail

#pragma GCC diagnostic pop
