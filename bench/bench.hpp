// What the benchmarks share: a row, a clock, a scratch folder, raw SQLite.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace flow::bench {

/// One figure. `raw` is what the machine gives without us, measured in the same run; `bar` what design section 13 asks.
struct row {
    std::string name;
    double value = 0;
    std::string unit;
    double raw = 0;
    double bar = 0;
    bool bar_is_ratio = false;  ///< of value to raw; else of the value itself
    std::string note{};

    double ratio() const { return raw > 0 ? value / raw : 0; }
    bool met() const { return (bar_is_ratio ? ratio() : value) <= bar; }
};

using steady = std::chrono::steady_clock;
inline double microseconds(steady::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }
double median(std::vector<double> values);

/// A fresh folder on the disk of the working directory (not a memory file system), removed at the end.
class scratch {
public:
    scratch();
    ~scratch();
    scratch(scratch const&) = delete;
    std::string file(std::string const& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

/// Bare SQLite, as fast as it goes with the same durability: WAL, synchronous=FULL.
class raw_sqlite {
public:
    explicit raw_sqlite(std::string const& file);
    ~raw_sqlite();
    raw_sqlite(raw_sqlite const&) = delete;
    void run(char const* sql);
    /// Inserts one row like ours: a few small columns and the payload.
    void insert(std::int64_t run, std::int64_t seq, std::string const& payload);
    /// All payloads of a run, in order.
    void read(std::int64_t run, std::function<void(std::string_view)> const& each);

private:
    sqlite3* db_ = nullptr;
    sqlite3_stmt* insert_ = nullptr;
};

row step_latency();
row replayable_latency();
row replay_memory();
row replay_sqlite();
row suspend_resume();
row frame_slow_sync();
row header_compile();

}  // namespace flow::bench
