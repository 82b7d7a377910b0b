// Groups of parents and of children, sound unless a test spoils them.
#pragma once

#include <catch2/catch.hpp>

#include "src/children.hpp"
#include "support/runs.hpp"

namespace flow::test {

inline start_child some_child(held_run const& parent, std::string_view place, close_policy on_close = close_policy::cancel, std::string_view key = "")
{
    start_child s;
    s.run = some_run("child", key);
    s.run.id = detail::child_id(parent.id(), 0, place);
    s.run.parent = parent.id();
    s.on_close = on_close;
    s.place = place;
    return s;
}

inline group starting(held_run const& parent, start_child const& s)
{
    auto g = parent.steps();
    g.entries[0].kind = entry_kind::child;
    held_run::seal(g);
    g.effects = {s};
    return g;
}

/// The last group of a run: its result and the snapshot that ends it.
inline group ending(held_run const& run, std::string_view result, entry_kind kind = entry_kind::result)
{
    auto g = run.steps(1, result);
    g.entries[0].kind = kind;
    auto const on = kind == entry_kind::result ? status_event::succeed : status_event::fail;
    auto end = run.change(on);
    end.entries[0].seq = next(g.entries[0].seq);
    g.entries.push_back(end.entries[0]);
    g.change = end.change;
    held_run::seal(g);
    return g;
}

inline held_run claim_child(store& s, owner_id owner, run_id id)
{
    auto const taken = claim_all(s, owner, {{"child", 1}});
    REQUIRE(taken.size() == 1);
    REQUIRE(taken.front().row.id == id);
    return hold(s, taken.front());
}

}  // namespace flow::test
