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

/// What a row's bar is about.
enum class bar_of : std::uint8_t {
    value,        ///< the value is at most so much
    ratio,        ///< value to raw is at most so much
    least_ratio,  ///< value to raw is at least so much: of rates, where more is better
    over_raw,     ///< the value is at most so much above raw
};

/// One figure. `raw` is what the machine gives without us, measured in the same run; `bar` what design section 13 asks.
struct row {
    std::string name;
    double value = 0;
    std::string unit;
    double raw = 0;
    double bar = 0;
    bar_of bar_is = bar_of::value;
    std::string note{};
    bool left_out = false;  ///< not measured here: the note says why

    double ratio() const { return raw > 0 ? value / raw : 0; }
    bool met() const;
    std::string bar_text() const;
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

/// What a transaction that inserts one row takes, in a file of its own. Where it is taken between our figures, one by one, whatever
/// else the machine does slows both.
class raw_commits {
public:
    explicit raw_commits(std::string const& file) : raw_(file) {}
    void once();
    double median() const { return bench::median(all_); }  ///< microseconds

private:
    raw_sqlite raw_;
    std::vector<double> all_;
};

row step_latency();
row replayable_latency();
row steps_64();
row steps_256();
row steps_long_256();
row postgres_256();
row replay_memory();
row replay_sqlite();
row wake_hot();
row wake_cold();
row wake_foreign();
row suspend_resume();
row frame_slow_sync();
row header_compile();
row parked_200k();
row parked();

}  // namespace flow::bench
