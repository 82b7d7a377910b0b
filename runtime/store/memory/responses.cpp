// respond(): what people answer to a run's question.
#include "runtime/store/memory/changes.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/asking.hpp"

namespace flow::memory_detail {

outcome<responded> memory_store::respond(response const& what)
{
    responded told;
    auto const done = write("respond", [&](tables& t) {
        told = {};
        auto const num = t.find(what.to);
        if (num == 0) return;
        auto const row = t.waitpoint(num).row;
        auto judged = detail::judge(row, t.waitpoint(num).responses, what);
        told = judged.told;
        if (!detail::is_written(told.answer)) return;
        t.add_response(num, what);
        if (told.answer == response_answer::decided) complete_waitpoint(t, num, detail::decided_by(row, what, std::move(judged.output)));
    });
    if (!done) return done.error();
    return told;
}

outcome<std::vector<response>> memory_reader::responses(waitpoint_id to)
{
    std::scoped_lock guard(t_.mutex);
    auto const num = t_.rows.find(to);
    if (num == 0) return std::vector<response>{};
    return t_.rows.waitpoint(num).responses;
}

}  // namespace flow::memory_detail
