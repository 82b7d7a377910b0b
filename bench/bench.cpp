#include "bench/bench.hpp"

#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace flow::bench {

bool row::met() const
{
    switch (bar_is) {
    case bar_of::value: return value <= bar;
    case bar_of::ratio: return ratio() <= bar;
    case bar_of::least_ratio: return ratio() >= bar;
    case bar_of::over_raw: return value <= raw + bar;
    }
    return false;
}

std::string row::bar_text() const
{
    char text[60];
    auto const* const form = bar_is == bar_of::value         ? "<= %.2f"
                             : bar_is == bar_of::ratio       ? "ratio <= %.2f"
                             : bar_is == bar_of::least_ratio ? "ratio >= %.2f"
                                                             : "<= raw + %.0f";
    std::snprintf(text, sizeof text, form, bar);
    return text;
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

scratch::scratch()
{
    std::string pattern = "flow-bench-XXXXXX";
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("cannot make a folder here: run the benchmark where you may write");
    path_ = std::filesystem::absolute(pattern).string();
}
scratch::~scratch()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

raw_sqlite::raw_sqlite(std::string const& file)
{
    if (sqlite3_open(file.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot open " + file);
    run("pragma journal_mode=wal");
    run("pragma synchronous=full");
    run("create table journal(id integer primary key, run integer, seq integer, kind integer, path text, place text, name text,"
        " payload text, hash blob, at integer, checksum integer)");
    run("create unique index journal_run_seq on journal(run, seq)");
    sqlite3_prepare_v2(db_, "insert into journal(run, seq, kind, path, place, name, payload, hash, at, checksum)"
                            " values(?, ?, 6, '0', 'step#0', 'step', ?, zeroblob(32), 0, 0)", -1, &insert_, nullptr);
}
raw_sqlite::~raw_sqlite()
{
    sqlite3_finalize(insert_);
    sqlite3_close(db_);
}
void raw_sqlite::run(char const* sql)
{
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
}
void raw_sqlite::insert(std::int64_t run, std::int64_t seq, std::string const& payload)
{
    sqlite3_bind_int64(insert_, 1, run);
    sqlite3_bind_int64(insert_, 2, seq);
    sqlite3_bind_text(insert_, 3, payload.data(), static_cast<int>(payload.size()), SQLITE_STATIC);
    if (sqlite3_step(insert_) != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
    sqlite3_reset(insert_);
}
void raw_sqlite::read(std::int64_t run, std::function<void(std::string_view)> const& each)
{
    sqlite3_stmt* s = nullptr;
    sqlite3_prepare_v2(db_, "select id, run, seq, kind, path, place, name, payload, hash, at, checksum from journal where run = ? order by seq", -1, &s, nullptr);
    sqlite3_bind_int64(s, 1, run);
    while (sqlite3_step(s) == SQLITE_ROW)
        each({reinterpret_cast<char const*>(sqlite3_column_text(s, 7)), static_cast<std::size_t>(sqlite3_column_bytes(s, 7))});
    sqlite3_finalize(s);
}

void raw_commits::once()
{
    auto const begin = steady::now();
    raw_.run("begin immediate");
    raw_.insert(1, static_cast<std::int64_t>(all_.size()) + 1, R"({"count":1,"mean":0.5})");
    raw_.run("commit");
    all_.push_back(microseconds(steady::now() - begin));
}

}  // namespace flow::bench
