#if FLOW_POSTGRES
#include "steps_scene.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"
#include "src/asking.hpp"
#include "support/invariants.hpp"

namespace flow::test {

namespace {

template <class Answer>
side made_of(std::function<outcome<Answer>(flow::store&)> call, std::function<side::answer_told(Answer const&)> read)
{
    auto const got = std::make_shared<std::optional<outcome<Answer>>>();
    return {[got, call](flow::store& s) { got->emplace(call(s)); }, [got, read] { return read((*got)->value()); }};
}

std::string const word(answer const& a)
{
    if (a.kind == answer_kind::superseded) return a.superseded_by ? "superseded" : "refused to park";
    if (a.kind != answer_kind::applied) return "fenced";
    return a.decided.empty() ? "applied" : "took";
}

// Before a scan and after it. Where a run is held, the transaction that decides wakes it, or its own finds the fate.
constexpr auto faults_at_once =
    "select string_agg(what, '; ') from ("
    " select 'a held run waits for what is decided, and is not told' what from edges e join waitpoints w on w.num = e.waitpoint join runs r"
    "  on r.num = e.run left join wakes k on k.run = e.run and k.waitpoint = e.waitpoint where w.status <> 0 and r.execution in (4, 5)"
    "  and r.status <> 6 and k.run is null"
    " union all select 'woken for what is pending' from wakes k join waitpoints w on w.num = k.waitpoint where w.status = 0"
    " union all select 'mail that nobody will read' from requests q join runs r on r.num = q.run where q.fate = 0 and r.owner = 0"
    " union all select 'enough have answered, and nothing is decided' from waitpoints w where w.purpose = 3 and w.status = 0 and"  // of `question`
    "  (select count(*) from responses p where p.waitpoint = w.num) >= 2"
    " union all select 'an event that nobody has: its wait was not ended by it' from inbox i join waitpoints w on w.num = i.consumed_by where"
    "  w.status <> 1"
    " union all select 'an event is kept, and a run waits for it' from inbox i join waitpoints w on w.type = 3 and w.status = 0 and"
    "  w.name = i.topic and w.correlation = i.key where i.consumed_by is null"
    " union all select 'two events ended one wait' from inbox where consumed_by is not null group by consumed_by having count(*) > 1"
    " union all select 'a wait was ended by an event that is not there' from waitpoints w where w.type = 3 and w.status = 1 and exists"
    "  (select 1 from edges e where e.waitpoint = w.num) and not exists (select 1 from inbox i where i.consumed_by = w.num)) f";
constexpr auto faults_after_scan =
    "select string_agg(what, '; ') from ("
    " select 'a parked run waits for what is decided' what from edges e join waitpoints w on w.num = e.waitpoint join runs r on r.num = e.run"
    "  where w.status <> 0 and r.execution = 5"
    " union all select 'woken, and does not wait' from wakes k left join edges e on e.run = k.run and e.waitpoint = k.waitpoint where e.run is"
    "  null"
    " union all select 'an ended run waits' from edges e join runs r on r.num = e.run where r.execution = 7"
    " union all select 'an ended run is asked for' from waitpoints w join runs r on r.num = w.run where r.execution = 7 and w.status = 0) f";

}  // namespace

held_run scene::a_run()
{
    auto run = start_and_claim(s_, owner_);
    runs_.push_back(run.id());
    return run;
}

group scene::blocking(held_run const& run, status_event on, bool release) const
{
    auto g = run.change(on, release);
    wait_reason why;
    why.type = wait_reason::kind::external;
    why.id = to_string(wait_);
    g.change->reason = to_json(why);
    return g;
}

group scene::registering(held_run const& run, std::optional<waitpoint_row> made) const
{
    auto g = blocking(run, status_event::block, false);
    if (made) {
        made->run = run.id();
        g.effects.push_back(insert_waitpoint{*made});
    }
    g.effects.push_back(add_edge{made ? made->id : wait_, "1", "wait#0"});
    return g;
}

group scene::parking(held_run const& run) const { return blocking(run, status_event::suspend, true); }

group scene::deciding(held_run const& run, waitpoint_status fate) const
{
    auto g = run.change(status_event::unblock);
    g.effects = {decide_waitpoint{wait_, fate}};
    return g;
}

group scene::giving_back(held_run const& run, waitpoint_row const& row) const
{
    auto g = run.change(status_event::unblock);
    g.effects = {return_event{row.id, row.name, row.correlation}};
    return g;
}

held_run scene::waiting(waitpoint_row row)
{
    auto run = a_run();
    wait_ = row.id;
    applied(s_, run, registering(run, std::move(row)));
    return run;
}

void scene::park(held_run& run) { applied(s_, run, parking(run)); }

held_run scene::parked(waitpoint_row row)
{
    auto run = waiting(std::move(row));
    park(run);
    return run;
}

held_run scene::a_child(held_run& parent)
{
    auto const child = some_child(parent, "child#0");
    applied(s_, parent, starting(parent, child));
    runs_.push_back(child.run.id);
    wait_ = end_of(child.run.id);
    return claim_child(s_, owner_, child.run.id);
}

void scene::wait_for(held_run& parent, waitpoint_id what)
{
    wait_ = what;
    applied(s_, parent, registering(parent));
}

waitpoint_row scene::token(time_point due) const
{
    auto w = some_token();
    w.due_at = due;
    return w;
}

waitpoint_row scene::event_wait() const
{
    auto w = some_event_wait();
    w.correlation = correlation_;
    return w;
}

waitpoint_row scene::question(time_point due) const
{
    question_terms t;
    t.text = "Refund?";
    t.assignees = {"ann", "bob", "cy"};
    t.needed = 2;
    auto w = token(due);
    w.purpose = waitpoint_purpose::approval;
    w.shape = "void";
    w.options = detail::write_terms(t);
    return w;
}

event scene::an_event(std::string_view payload)
{
    auto e = some_event(payload);
    e.correlation = correlation_;
    events_.push_back(e);
    return e;
}

side scene::completes(std::string_view output) const
{
    return made_of<completion_answer>([c = some_completion(wait_, output)](flow::store& s) { return s.complete(c); }, [](auto const& a) {
        bool const won = a == completion_answer::completed;
        return side::answer_told{won ? "completed" : "too late", won ? std::optional(waitpoint_status::completed) : std::nullopt};
    });
}

side scene::delivers(event const& e) const
{
    return made_of<delivered>([e](flow::store& s) { return s.deliver(e); }, [](auto const& d) {
        bool const won = d.answer == delivery_answer::matched;
        return side::answer_told{won ? "matched" : d.answer == delivery_answer::kept ? "kept" : "told amiss",
                                 won ? std::optional(waitpoint_status::completed) : std::nullopt};
    });
}

side scene::responds(std::string_view by) const
{
    response r;
    r.to = wait_;
    r.by = by;
    r.at = at(7);
    return made_of<responded>([r](flow::store& s) { return s.respond(r); }, [](auto const& a) {
        bool const won = a.answer == response_answer::decided;
        return side::answer_told{won ? "decided" : a.answer == response_answer::counted ? "counted" : "too late",
                                 won ? std::optional(waitpoint_status::completed) : std::nullopt};
    });
}

side scene::cancels(held_run const& run) const
{
    return made_of<request_fate>([q = some_request(run.id())](flow::store& s) { return s.ask(q); },
                                 [](auto const& f) { return side::answer_told{std::string(to_string(f)), {}}; });
}

side scene::scans() const
{
    return made_of<std::size_t>([](flow::store& s) { return s.scan(at(9), 100); },
                                [](auto const&) { return side::answer_told{"scanned", {}}; });
}

side scene::applies(group const& g) const
{
    std::optional<waitpoint_status> decides;
    for (auto const& e : g.effects)
        if (auto const* d = std::get_if<decide_waitpoint>(&e)) decides = d->fate;
    return made_of<answer>(
        [g](flow::store& s) -> outcome<answer> {
            auto all = s.apply({&g, 1}, std::chrono::seconds{5});
            if (!all) return all.error();
            return all->front();
        },
        [decides](auto const& a) { return side::answer_told{word(a), a.kind == answer_kind::applied ? decides : std::nullopt}; });
}

std::string scene::check(std::string const& name, both const& sides)
{
    INFO(name << ", statement by statement:\n" << schedule_text());
    auto const first = sides.first.told(), second = sides.second.told();
    std::vector<std::string> faults;
    auto const wrong = [&](bool is, char const* what) {
        if (is) faults.push_back(what);
    };
    auto const status = s_.waitpoint(wait_).value()->status;
    wrong(first.won && second.won, "two have decided one wait");
    auto const won = first.won ? first.won : second.won;
    wrong(won && *won != status, "the wait has another fate than its winner was told");
    // Every value here is one that its waits want.
    wrong(first.text == "told amiss" || second.text == "told amiss", "a sender is told that another shape is wanted");
    for (auto const& e : events_) {
        auto const row = two_.ask("select (consumed_by is not null)::int from inbox where id = '" + to_string(e.id) + "'");
        wrong(row.empty(), "an event is lost");
    }
    auto const ask = [&](char const* sql) {
        if (auto found = two_.ask(sql); !found.empty()) faults.push_back(std::move(found));
    };
    ask(faults_at_once);
    (void)s_.scan(at(9), 100).value();
    ask(faults_after_scan);
    auto const out = first.text + ", " + second.text + ": " + (status == waitpoint_status::pending ? "open" : std::string(to_string(status)));
    go_on(faults);
    std::string all;
    for (auto const& f : faults) all += (all.empty() ? "" : "; ") + f;
    INFO(out << ": " << all);
    REQUIRE(faults.empty());
    check_invariants(s_, runs_);
    return out;
}

void scene::go_on(std::vector<std::string>& faults)
{
    auto const claimed = s_.claim({owner_, std::vector<workflow_version>{{"greeting", 1}, {"child", 1}}, 100, at(10)}).value();
    auto const notices = s_.look(owner_, 1000).value();
    for (auto const id : runs_) {
        auto const loaded = s_.load(id).value();
        auto const& row = loaded->row;
        if (row.owner == owner_id::nobody) continue;  // ended, or waits for what is open: asked before
        held_run run(row, loaded->entries.back().seq);
        for (auto const& w : loaded->waitpoints) {
            if (w.status == waitpoint_status::pending) continue;
            auto const told = std::count_if(notices.begin(), notices.end(), [&](notice const& n) {
                auto const* k = std::get_if<woken>(&n);
                return k && k->run == id && k->waitpoint.id == w.id;
            });
            bool const was_queued = std::any_of(claimed.begin(), claimed.end(), [&](auto const& c) { return c.row.id == id; });
            if (told > 1 || (told == 0 && !was_queued)) faults.push_back("a holder looks and finds " + std::to_string(told) + " notices of one wait");
            auto g = row.status.execution == execution_status::executing_with_waitpoints ? run.change(status_event::unblock) : run.steps();
            g.effects = {take_waitpoint{w.id}};
            if (apply(s_, g).kind != answer_kind::applied) faults.push_back("a run cannot take what it waited for");
            else run.advance(g);
            run.row.status = row_of(s_, id).status;
        }
    }
}

}  // namespace flow::test
#endif
