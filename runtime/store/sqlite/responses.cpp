// respond(): what people answer to a run's question.
#include "runtime/store/sqlite/changes.hpp"
#include "runtime/store/sqlite/rows.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"
#include "src/asking.hpp"

namespace flow::sqlite_detail {

namespace {

std::vector<response> responses_to(connection& c, waitpoint_id id)
{
    static auto const sql = std::string("select ").append(store_detail::response_columns) +
                            " from waitpoints w join responses p on p.waitpoint = w.num where w.id = ? order by p.num";
    auto r = c.prepare(sql.c_str());
    r << id.value;
    std::vector<response> out;
    while (r.step()) out.push_back(store_detail::read_response(r));
    return out;
}

}  // namespace

outcome<responded> sqlite_store::respond(response const& what)
{
    responded told;
    auto const done = db_.write(
        "respond", db_.patience(),
        [&](connection& c) {
            told = {};
            auto const w = find_waitpoint(c, what.to);
            if (!w) return;
            auto judged = detail::judge(w->row, responses_to(c, what.to), what);
            told = judged.told;
            if (!detail::is_written(told.answer)) return;
            (c.prepare("insert into responses(waitpoint, by, approves, value, why, at) values (?,?,?,?,?,?)")
             << w->num << std::string_view(what.by) << std::int64_t{what.approves} << std::string_view(what.value) << std::string_view(what.why)
             << what.at)
                .run();
            if (told.answer == response_answer::decided) complete_waitpoint(c, w->num, detail::decided_by(w->row, what, std::move(judged.output)));
        },
        [&](connection& c) {
            if (!detail::is_written(told.answer)) return true;
            auto const w = find_waitpoint(c, what.to);
            return w && detail::judge(w->row, responses_to(c, what.to), what).told.answer == response_answer::already_same;
        });
    if (!done) return done.error();
    return told;
}

outcome<std::vector<response>> sqlite_reader::responses(waitpoint_id to)
{
    std::vector<response> out;
    auto const done = db_.read([&](connection& c) { out = responses_to(c, to); });
    if (!done) return done.error();
    return out;
}

}  // namespace flow::sqlite_detail
