// The workflows whose journals are recorded in v2/: those that wait for others, and those that ask the outside for long. A body here is as
// fixed as the file: what is recorded was written by it. Every name of a step is one run's alone, so that what is done twice shows.
#pragma once

#include <set>
#include <string>

#include "flow/flow.hpp"
#include "flow/graph.hpp"
#include "support/world.hpp"

namespace flow::test::journals::v2 {

void add_events(engine& e);
void add_children(engine& e);
void add_questions(engine& e);
void add_steps(engine& e);
void add_graphs(engine& e);
void add_all(engine& e);

/// What has become so, for the looks of polls, by the runs' words for themselves.
inline std::set<std::string, std::less<>> has_come;

/// What people and other programs do with the recorded runs until all have ended: they complete, answer, decide, tell, resume, and let 40
/// days pass. What is named "nobody…" is left alone.
void finish_all(world& w);

// ---- shared by the bodies -----------------------------------------------------------------------------------------------------------

inline void did(std::string what) { outside().note(std::move(what)); }

inline auto finish() { return wait_for_token<std::string>("finish"); }

/// Of a time limit only that it was one: where it ends after the recording, its sentence is no stored text.
template <class T>
std::string said(outcome<T> const& o)
{
    if (!o) {
        std::string const code(row_of(o.error().code()).name);
        return code.ends_with("_timeout") ? code : code + ": " + o.error().message();
    }
    std::string text;
    detail::encode(encoding::json, *o, text);
    return text;
}

/// A step that says only that it was reached.
inline auto mark(std::string const& name)
{
    auto const fn = [name] { did(name); };
    return step(name, idempotent, fn);
}

}  // namespace flow::test::journals::v2
