// The process dies at every write of the store, before it lands and after: the next one ends with the same result.
#include "crash/sweep.hpp"

using namespace flow::test;

namespace {

scenario const all_operations{add_everything, run_everything,
                              [] {
                                  CHECK(outside().count("mail") == 1);  // in doubt it is looked up
                                  CHECK(outside().count("pay") <= 1);   // in doubt a person says that it happened: never run again
                              },
                              40};

}  // namespace

TEST_CASE("dying before any write of the store lands changes nothing but time: memory", "[crash]") { sweep<memory_place>(all_operations, fault::lose); }
TEST_CASE("dying after any write of the store, its answer lost: memory", "[crash]") { sweep<memory_place>(all_operations, fault::crash); }
TEST_CASE("dying before any write of the store lands: SQLite", "[crash][slow]") { sweep<sqlite_place>(all_operations, fault::lose); }
TEST_CASE("dying after any write of the store, its answer lost: SQLite", "[crash][slow]") { sweep<sqlite_place>(all_operations, fault::crash); }

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
