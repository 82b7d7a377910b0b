// The process dies at every write of the store, before it lands and after: the next one ends with the same result.
#include <catch2/catch.hpp>

#include "crash/everything.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace flow::test;

namespace {

/// A place where a process can die: what it held is free afterwards.
class memory_place {
public:
    flow::store_ptr open() { return data_; }
    void died()
    {
        for (auto const& o : data_->reader().owners().value())
            if (o.alive) data_->retire_owner(o.id);
    }

private:
    flow::store_ptr data_ = flow::memory();
};

class sqlite_place {
public:
    flow::store_ptr open()
    {
        flow::sqlite_options o;
        o.synchronous = flow::sqlite_options::sync::normal;
        return flow::sqlite(dir_.file("flow.db"), o);
    }
    void died() {}  // the store object is gone, and with it its locks

private:
    temp_dir dir_;
};

template <class Place>
void sweep(fault what)
{
    int n = 1;
    for (;; ++n) {
        CAPTURE(n);
        Place place;
        std::map<std::string, int> settled;
        std::vector<std::string> ledger;
        bool reached = false;
        {
            auto const faulty = std::make_shared<fault_store>(place.open());
            world w(faulty, add_everything);
            faulty->plan(n, what);
            bool const ended = run_everything(w);
            reached = faulty->reached();
            if (!reached) REQUIRE(ended);
            ledger = outside().all();
        }
        place.died();
        // The next process. Outside, what happened has happened.
        auto const again = place.open();
        world next(again, add_everything);
        for (auto const& line : ledger) outside().note(line);
        settled = settled_effects(*again);
        REQUIRE(run_everything(next));
        for (auto const& [name, count] : settled) {
            CAPTURE(name);
            CHECK(outside().count(name) == count);
        }
        CHECK(outside().count("mail") == 1);  // in doubt it is looked up
        CHECK(outside().count("pay") <= 1);   // in doubt a person says that it happened: never run again
        check_invariants(*again);
        if (!reached) break;
    }
    CHECK(n > 40);  // the workflow writes that often: the sweep did not stop short
}

}  // namespace

TEST_CASE("dying before any write of the store lands changes nothing but time: memory", "[crash]") { sweep<memory_place>(fault::lose); }
TEST_CASE("dying after any write of the store, its answer lost: memory", "[crash]") { sweep<memory_place>(fault::crash); }
TEST_CASE("dying before any write of the store lands: SQLite", "[crash][slow]") { sweep<sqlite_place>(fault::lose); }
TEST_CASE("dying after any write of the store, its answer lost: SQLite", "[crash][slow]") { sweep<sqlite_place>(fault::crash); }

TEST_CASE("any write of the store may fail, or its commit be unknown, and the run goes on in the same process", "[crash]")
{
    for (auto const what : {fault::fail, fault::doubt}) {
        for (int n = 1;; ++n) {
            CAPTURE(n, static_cast<int>(what));
            auto const data = flow::memory();
            auto faulty = std::make_shared<fault_store>(data);
            world w(faulty, add_everything);
            faulty->plan(n, what, what == fault::fail ? flow::errc::store_busy : flow::errc::commit_unknown);
            if (!run_everything(w)) REQUIRE(run_everything(w));  // the first call itself may have been refused
            CHECK(outside().count("mail") == 1);
            CHECK(outside().count("pay") == 1);
            check_invariants(*data);
            if (!faulty->reached()) break;
        }
    }
}
