// A process that dies at every write of the store, whatever it does: the next one ends with the same result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "crash/everything.hpp"
#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

namespace flow::test {

/// What is run, over and over.
struct scenario {
    world::registration add;
    std::function<bool(world&)> run;    ///< starts it or goes on, to its end; false: the store is gone, or it did not end
    std::function<void()> check;        ///< what must hold outside, at the end
    int writes = 0;                     ///< it makes at least so many: a sweep that stops short fails
};

/// A place where a process can die: what it held is free afterwards.
class memory_place {
public:
    store_ptr open() { return data_; }
    void died()
    {
        for (auto const& o : data_->reader().owners().value())
            if (o.alive) data_->retire_owner(o.id);
    }

private:
    store_ptr data_ = memory();
};

class sqlite_place {
public:
    store_ptr open()
    {
        sqlite_options o;
        o.synchronous = sqlite_options::sync::normal;
        return sqlite(dir_.file("flow.db"), o);
    }
    void died() {}  // the store object is gone, and with it its locks

private:
    temp_dir dir_;
};

/// Step by step until it has ended; false: the store is gone, or so many steps were not enough.
inline bool step_to_end(world& w, int most, bool (*advance)(world&), bool (*has_ended)(world&))
{
    for (int i = 0; i < most && advance(w); ++i)
        if (has_ended(w)) return true;
    return false;
}

/// For n = 1, 2, ... until the scenario makes fewer writes: the process dies at its n-th.
template <class Place>
void sweep(scenario const& s, fault what)
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
            world w(faulty, s.add);
            faulty->plan(n, what);
            bool const ended = s.run(w);
            reached = faulty->reached();
            if (!reached) REQUIRE(ended);
            ledger = outside().all();
        }
        place.died();
        // The next process. Outside, what happened has happened.
        auto const again = place.open();
        world next(again, s.add);
        for (auto const& line : ledger) outside().note(line);
        settled = settled_effects(*again);
        REQUIRE(s.run(next));
        for (auto const& [name, count] : settled) {
            CAPTURE(name);
            CHECK(outside().count(name) == count);
        }
        s.check();
        check_invariants(*again);
        if (!reached) break;
    }
    CHECK(n > s.writes);
}

}  // namespace flow::test
