// respond(): what people answer to a run's question.
#include "runtime/store/postgres/changes.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"
#include "src/asking.hpp"

namespace flow::postgres_detail {

namespace {

std::vector<response> responses_to(connection& c, waitpoint_id id)
{
    static auto const sql = "select " + std::string(store_detail::response_columns) +
                            " from waitpoints w join responses p on p.waitpoint = w.num where w.id = $1 order by p.num";
    return all<response>(c.run(sql, params{} << id.value), [](rows& r) { return store_detail::read_response(r); });
}

}  // namespace

outcome<responded> postgres_store::respond(response const& what)
{
    responded told;
    auto const done = db_.write("respond", db_.patience(), [&](transaction& t) {
        told = {};
        t.c.run("select 1 from waitpoints where id = $1 for no key update", params{} << what.to.value);
        t.locked();
        auto const w = find_waitpoint(t.c, what.to);
        if (!w) return t.quiet();
        auto const before = responses_to(t.c, what.to);
        auto judged = detail::judge(w->row, before, what);
        told = judged.told;
        if (t.in_doubt && told.answer == response_answer::already_same && before.back().by == what.by) {
            // Committed after all by a try of this very call: as if it had not.
            auto undecided = w->row;
            undecided.status = waitpoint_status::pending;
            told = detail::judge(undecided, std::span(before).first(before.size() - 1), what).told;
            return t.quiet();
        }
        if (!detail::is_written(told.answer)) return t.quiet();
        t.c.run("insert into responses(waitpoint, by, approves, value, why, at) values ($1,$2,$3,$4,$5,$6)",
                params{} << w->num << std::string_view(what.by) << std::int64_t{what.approves} << bytes{what.value} << std::string_view(what.why)
                         << what.at);
        if (told.answer == response_answer::decided) complete_waitpoint(t.c, w->num, detail::decided_by(w->row, what, std::move(judged.output)));
    });
    if (!done) return done.error();
    if (told.answer == response_answer::decided) news_.concerns_everybody();
    return told;
}

outcome<std::vector<response>> postgres_reader::responses(waitpoint_id to)
{
    std::vector<response> out;
    auto const done = db_.read([&](connection& c) { out = responses_to(c, to); });
    if (!done) return done.error();
    return out;
}

}  // namespace flow::postgres_detail
