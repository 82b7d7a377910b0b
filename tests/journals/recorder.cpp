#include "journals/recorder.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include <catch2/catch.hpp>
#include <sqlite3.h>

#include "journals/recorded.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace flow::test::journals {

namespace {

random_source fixed_bytes()
{
    return [state = std::make_shared<std::uint64_t>(0x666c6f7700000001ULL)](std::uint8_t* bytes, std::size_t n) {
        for (; n > 0; --n, ++bytes) {
            std::uint64_t z = (*state += 0x9E3779B97F4A7C15ULL);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
            *bytes = static_cast<std::uint8_t>(z >> 56);
        }
    };
}

void write_key(std::string const& file)
{
    {
        std::ofstream key(file);
        key << "666c6f7727732074657374733a206e6f626f64792773206f776e206b65792e2e\n";
    }
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

engine_options recording_options()
{
    engine_options o;
    o.random = fixed_bytes();
    o.blob_threshold = 2000;
    o.max_payload = 200'000;
    return o;
}

store_ptr place::open()
{
    sqlite_options o;
    o.synchronous = sqlite_options::sync::normal;
    auto const fresh = std::make_shared<fault_store>(sqlite(file, o));
    newest_ = fresh;
    return fresh;
}

void place::cut_off()
{
    auto const s = newest_.lock();
    s->plan(1, fault::lose);
    ignore(s->ping(owner_id::nobody, 0ms), "to be lost is what it is for");
}

void place::cut_off_after(int nth) { newest_.lock()->plan(nth, fault::crash); }

void place::die(world& w)
{
    cut_off();
    w.stop();
    w.restart(open());
}

void place::spoil(std::string const& sql) const
{
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &db) == SQLITE_OK);
    int const code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
    int const changed = sqlite3_changes(db);
    sqlite3_close(db);
    REQUIRE(code == SQLITE_OK);
    REQUIRE(changed == 1);
}

void record(std::string const& name, world::registration add_now, std::function<time_point(place&)> all,
            std::function<void(world&)> finish_all)
{
    // A filter that only leaves out takes hidden cases too.
    if (std::getenv("FLOW_RECORD_JOURNALS") == nullptr) return;
    auto const target = folder(name);
    if (fs::exists(target / "runs.db") || fs::exists(target / "expected.tsv")) {
        WARN("recorded journals are never written again: " << target);
        return;
    }

    temp_dir dir, other;
    place p(dir.file("runs.db"));
    write_key(p.file + ".key");
    known k;
    k.until = all(p);
    REQUIRE_FALSE(fs::exists(p.file + "-wal"));

    replayed w(copy_of(dir.path(), other.path()), k.until, std::move(add_now));
    std::map<run_id, std::string> as_recorded;
    for (auto const& row : all_runs(w)) as_recorded.emplace(row.id, status_of(row));
    finish_all(w);
    for (auto const& row : all_runs(w)) {
        auto run = what_became_of(w, row);
        auto const before = as_recorded.find(row.id);
        run.status = before == as_recorded.end() ? std::string(not_yet) : before->second;
        k.runs.push_back(std::move(run));
    }
    k.ran = outside().all();
    std::sort(k.ran.begin(), k.ran.end());

    fs::create_directories(target);
    for (auto const* file : {"runs.db", "runs.db.key"}) fs::copy_file(dir.path() / file, target / file);
    write_known(target, k);
}

}  // namespace flow::test::journals
