// Durable steps a second with many runs at once, on PostgreSQL (design, section 13).
#include "bench/bench.hpp"

#if FLOW_POSTGRES

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "bench/load.hpp"
#include "flow/postgres.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <pqxx/pqxx>
#pragma GCC diagnostic pop
// libpqxx 7 still has what 6.4 has; some of it is deprecated there.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace flow::bench {

namespace {

std::string server()
{
    for (auto const* const name : {"FLOW_BENCH_POSTGRES", "FLOW_TEST_POSTGRES"})
        if (auto const* const where = std::getenv(name); where && *where) return where;
    return {};
}

/// Two schemas on the server, ours and the bare loop's, removed at the end.
class schemas {
public:
    explicit schemas(std::string const& where) : c_(where) { run("set client_min_messages = error"); }
    ~schemas()
    {
        try {
            run("drop schema if exists \"" + ours + "\" cascade; drop schema if exists \"" + bare + "\" cascade");
        } catch (std::exception const& e) {
            std::fprintf(stderr, "schema %s stays: %s\n", ours.c_str(), e.what());
        }
    }
    schemas(schemas const&) = delete;

    pqxx::result run(std::string const& sql) { return pqxx::nontransaction(c_).exec(sql); }
    std::int64_t number(std::string const& sql) { return run(sql)[0][0].as<std::int64_t>(); }
    pqxx::connection& connection() { return c_; }

    std::string const ours = "bench" + std::to_string(::getpid()), bare = ours + "_bare";

private:
    pqxx::connection c_;
};

/// The rows of our journal behind `before`, so many a commit, by one `unnest` each over one connection: the seconds of the
/// transactions, reading not counted.
double bare_seconds(schemas& s, std::int64_t before, std::size_t rows_a_commit)
{
    auto const journal = "\"" + s.ours + "\".journal", copy = "\"" + s.bare + "\".journal";
    s.run("drop schema if exists \"" + s.bare + "\" cascade; create schema \"" + s.bare + "\"; create table " + copy + "(like " + journal +
          " including all); insert into " + copy + " select * from " + journal + " where id <= " + std::to_string(before));
    std::string arrays, lists;
    int n = 0;
    for (auto const& column : s.run("select quote_ident(attname), format_type(atttypid, atttypmod) from pg_attribute where attrelid = '" +
                                    journal + "'::regclass and attnum > 0 and not attisdropped order by attnum")) {
        arrays += (n == 0 ? "$" : ", $") + std::to_string(n + 1) + "::" + column[1].c_str() + "[]";
        ++n;
        lists += std::string(", array_agg(") + column[0].c_str() + " order by id)::text";
    }
    auto const statement = "bare" + std::to_string(rows_a_commit);
    s.connection().prepare(statement, "insert into " + copy + " select * from unnest(" + arrays + ")");
    double sum = 0;
    for (auto last = before;;) {
        auto const batch = s.run("select max(id)" + lists + " from (select * from " + journal + " where id > " + std::to_string(last) +
                                 " order by id limit " + std::to_string(rows_a_commit) + ") part");
        if (batch[0][0].is_null()) return sum;
        last = batch[0][0].as<std::int64_t>();
        std::vector<std::string> columns;
        for (int i = 1; i <= n; ++i) columns.emplace_back(batch[0][i].c_str());
        auto const begin = steady::now();
        pqxx::work t(s.connection());
        t.exec_prepared(statement, pqxx::prepare::make_dynamic_params(columns));
        t.commit();
        sum += microseconds(steady::now() - begin) / 1e6;
    }
}

}  // namespace

row postgres_256()
{
    row r{"postgres-256", 0, "steps/s", 0, 0.4, bar_of::least_ratio};
    auto const where = server();
    if (where.empty()) {
        r.left_out = true;
        r.note = "neither FLOW_BENCH_POSTGRES nor FLOW_TEST_POSTGRES names a server";
        return r;
    }
    scratch dir;
    schemas s(where);
    load const l{256, 2'000, 10};
    commit_counter counter;
    std::int64_t before = 0;
    auto const journal = "\"" + s.ours + "\".journal";
    {
        postgres_options o;
        o.schema = s.ours;
        o.key_file = dir.file("store.key");
        o.probe = counter.probe();
        auto const store = postgres(where, o);
        queue(store, l);
        before = s.number("select max(id) from " + journal);
        r.value = execute(store, l, counter);
    }
    auto const rows = static_cast<double>(s.number("select count(*) from " + journal + " where id > " + std::to_string(before)));
    auto const steps = static_cast<double>(l.runs) * l.steps;
    auto const mean = rows / static_cast<double>(std::max<std::size_t>(counter.applied() + counter.others(), 1));
    r.raw = steps / bare_seconds(s, before, static_cast<std::size_t>(std::lround(std::max(mean, 1.0))));
    auto const full = steps / bare_seconds(s, before, 256);
    char note[200];
    std::snprintf(note, sizeof note,
                  "%.2f rows a step, %.0f a commit (%zu commits of the writer, %zu claims and others); raw with 256 a commit: %.0f, ratio %.2f",
                  rows / steps, mean, counter.applied(), counter.others(), full, r.value / full);
    r.note = note;
    return r;
}

}  // namespace flow::bench

#else

namespace flow::bench {

row postgres_256()
{
    row r{"postgres-256", 0, "steps/s", 0, 0.4, bar_of::least_ratio};
    r.left_out = true;
    r.note = "built without flow_postgres";
    return r;
}

}  // namespace flow::bench

#endif
