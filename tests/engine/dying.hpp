// A store whose process can die: what it had not written by then is lost, and another process goes on with the rest.
#pragma once

#include <chrono>
#include <memory>

#include "flow/store_reader.hpp"
#include "support/fault_store.hpp"
#include "support/world.hpp"

namespace flow::test {

/// `Stores`: one of every_store.
template <class Stores>
class dying_place {
public:
    /// What the next process opens.
    store_ptr open()
    {
        auto const fresh = std::make_shared<fault_store>(stores_.again());
        newest_ = fresh;  // weak: a dead process must not keep its locks through this one
        return fresh;
    }
    /// What somebody sees who only looks.
    store_ptr const& look() const { return stores_.store; }

    /// The n-th write of the newest process from now on, as fault_store::plan.
    void plan(int nth, fault what)
    {
        if (auto const it = newest_.lock()) it->plan(nth, what);
    }
    bool reached() const
    {
        auto const it = newest_.lock();
        return it && it->reached();
    }
    /// From here on nothing is written that the newest process does. Any thread.
    void cut_off()
    {
        auto const it = newest_.lock();
        if (!it) return;
        it->plan(1, fault::lose);
        ignore(it->ping(owner_id::nobody, std::chrono::milliseconds{0}), "to be lost is what it is for");
    }
    /// In memory nobody else notices that a process has ended.
    void bury()
    {
        if constexpr (!Stores::on_disk)
            for (auto const& o : look()->reader().owners().value())
                if (o.alive) look()->retire_owner(o.id);
    }
    /// The process is dead and nothing runs.
    void kill(world& w)
    {
        cut_off();
        w.stop();
        bury();
    }
    /// The process is dead, and the next one is up: clock and outside go on as they were.
    void die(world& w)
    {
        kill(w);
        w.restart(open());
    }

private:
    Stores stores_;
    std::weak_ptr<fault_store> newest_;
};

}  // namespace flow::test
