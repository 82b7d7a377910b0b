// What the recorder of v2/ does to runs, each named as in expected.tsv, and is sure of.
#pragma once

#include <catch2/catch.hpp>

#include "flow/flow.hpp"
#include "flow/store_reader.hpp"
#include "journals/recorded.hpp"
#include "support/world.hpp"

namespace flow::test::journals::v2 {

class hands {
public:
    hands(store_ptr on, world::registration add, engine_options options) : w_(std::move(on), std::move(add), std::move(options)) {}

protected:
    flow::engine& engine() { return w_.engine(); }
    run_id id_of(std::string_view name)
    {
        for (auto const& row : all_runs(w_))
            if (name_of(row) == name) return row.id;
        FAIL("no run " << name);
        return {};
    }
    void start(std::string_view workflow, std::string_view key, args const& a, start_options o = {})
    {
        o.idempotency_key = key;
        engine().start(workflow, a, o);
    }
    /// A run whose body knows it by its key.
    void start(std::string_view workflow, std::string_view key, start_options o = {}) { start(workflow, key, args(key), o); }

    waitpoint_id open(std::string_view run, std::string_view wait)
    {
        for (auto const& o : w_.view(id_of(run)).open)
            if (o.row.name == wait) return o.row.id;
        FAIL(run << " does not wait for " << wait << ": " << w_.view(id_of(run)).doing);
        return {};
    }
    void complete(std::string_view run, std::string_view token, std::string_view json)
    {
        engine().complete_json(open(run, token), json, std::nullopt, "it was asked for", "alice");
        w_.settle();
    }
    void finish(std::string_view run) { complete(run, "finish", R"("done")"); }
    void fail(std::string_view run, std::string_view step)
    {
        engine().fail_token(open(run, step), "out of memory", std::nullopt, "gpu");
        w_.settle();
    }
    void respond(std::string_view run, std::string_view question, bool approves, std::string_view by, std::string_view value = {},
                 std::string_view why = {})
    {
        engine().respond(open(run, question), approves, {.value = value, .why = why, .by = by});
        w_.settle();
    }
    delivery_answer tell(std::string_view topic, std::string_view about, std::string_view json)
    {
        return engine().send_event_json(topic, about, json, {.keep = duration::max(), .by = "shop"}).answer;
    }
    delivery_answer tell_run(std::string_view run, std::string_view topic, std::string_view json)
    {
        return engine().send_json(id_of(run), topic, json, {.by = "shop"}).answer;
    }
    bool is(std::string_view run, run_status status)
    {
        INFO(run << ": " << w_.view(id_of(run)).doing);
        return w_.status(id_of(run)) == status;
    }

    std::size_t kept(std::string_view about)
    {
        event_filter which;
        which.correlation = about;
        which.fate = event_fate::kept;
        return engine().events(which).size();
    }

    world w_;
};

}  // namespace flow::test::journals::v2
