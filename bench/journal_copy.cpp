#include "bench/journal_copy.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/bench.hpp"

namespace flow::bench {

namespace {

struct finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};
using statement = std::unique_ptr<sqlite3_stmt, finalize>;
struct close {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct free_value {
    void operator()(sqlite3_value* v) const { sqlite3_value_free(v); }
};
using values = std::vector<std::unique_ptr<sqlite3_value, free_value>>;

sqlite3* open(std::string const& file)
{
    sqlite3* db = nullptr;
    if (sqlite3_open(file.c_str(), &db) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
    return db;
}

void run(sqlite3* db, char const* sql)
{
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
}

statement prepare(sqlite3* db, std::string const& sql)
{
    sqlite3_stmt* s = nullptr;
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &s, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
    return statement(s);
}

std::int64_t number(sqlite3* db, std::string const& sql)
{
    auto const s = prepare(db, sql);
    return sqlite3_step(s.get()) == SQLITE_ROW ? sqlite3_column_int64(s.get(), 0) : 0;
}

/// The next rows, at most so many, as one list of values.
values next(sqlite3_stmt* s, std::size_t most)
{
    values all;
    auto const columns = sqlite3_column_count(s);
    for (std::size_t n = 0; n < most && sqlite3_step(s) == SQLITE_ROW; ++n)
        for (int i = 0; i < columns; ++i) all.emplace_back(sqlite3_value_dup(sqlite3_column_value(s, i)));
    return all;
}

double insert(sqlite3* to, sqlite3_stmt* insertion, values const& rows)
{
    auto const begin = steady::now();
    run(to, "begin immediate");
    auto const columns = sqlite3_bind_parameter_count(insertion);
    for (std::size_t at = 0; at < rows.size();) {
        for (int i = 1; i <= columns; ++i) sqlite3_bind_value(insertion, i, rows[at++].get());
        if (sqlite3_step(insertion) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(to));
        sqlite3_reset(insertion);
    }
    run(to, "commit");
    return microseconds(steady::now() - begin) / 1e6;
}

}  // namespace

journal_copy::journal_copy(std::string const& flow_file) : from_(open(flow_file))
{
    before_ = number(from_, "select max(id) from journal");
}

journal_copy::~journal_copy() { sqlite3_close(from_); }

std::size_t journal_copy::rows() const
{
    return static_cast<std::size_t>(number(from_, "select count(*) from journal where id > " + std::to_string(before_)));
}

double journal_copy::seconds(std::string const& raw_file, std::size_t rows_a_commit) const
{
    std::unique_ptr<sqlite3, close> const to(open(raw_file));
    run(to.get(), "pragma journal_mode = wal; pragma synchronous = full");
    auto const declared = prepare(from_, "select sql from sqlite_schema where tbl_name = 'journal' and sql is not null order by rowid");
    while (sqlite3_step(declared.get()) == SQLITE_ROW)
        run(to.get(), reinterpret_cast<char const*>(sqlite3_column_text(declared.get(), 0)));
    auto const those = [&](char const* side) {
        return prepare(from_, std::string("select * from journal where id ") + side + std::to_string(before_) + " order by id");
    };
    auto const before = those("<="), since = those(">");
    std::string places = "?";
    for (int i = 1; i < sqlite3_column_count(since.get()); ++i) places += ", ?";
    auto const insertion = prepare(to.get(), "insert into journal values (" + places + ")");
    insert(to.get(), insertion.get(), next(before.get(), static_cast<std::size_t>(before_)));
    double sum = 0;
    for (auto left = rows(); left > 0;) {
        auto const batch = next(since.get(), std::min(left, rows_a_commit));
        sum += insert(to.get(), insertion.get(), batch);
        left -= std::min(left, rows_a_commit);
    }
    return sum;
}

}  // namespace flow::bench
