// load(): a run as its holder needs it; and what people look at.
#include <algorithm>

#include "runtime/store/id_range.hpp"
#include "runtime/store/memory/memory_store.hpp"
#include "src/history.hpp"

namespace flow::memory_detail {

namespace {

template <class Journal>
std::vector<journal_entry> newest_segment(Journal const& all)
{
    auto const is = [](entry_kind k) { return [k](journal_entry const& e) { return e.kind == k; }; };
    auto const from = std::find_if(all.rbegin(), all.rend(), [](journal_entry const& e) { return detail::is_segment_start(e.kind); });
    if (from == all.rend()) return {all.begin(), all.end()};
    auto const continued = std::find_if(from, all.rend(), is(entry_kind::continued));
    std::vector<journal_entry> out{all.front()};
    if (continued != from && continued != all.rend()) out.push_back(*continued);
    out.insert(out.end(), std::prev(from.base()), all.end());
    return out;
}

}  // namespace

outcome<std::optional<loaded_run>> memory_store::load(run_id id)
{
    std::scoped_lock guard(shared_.mutex);
    auto const& t = shared_.rows;
    auto const num = t.find(id);
    if (num == 0) return std::optional<loaded_run>{};
    auto const& run = t.run(num);
    loaded_run out;
    out.row = run.row;
    out.entries = newest_segment(run.journal);
    std::set<std::int64_t> waits;
    for (auto const& [w, edge] : run.edges) waits.insert(w);
    for (auto const w : run.waitpoints)
        if (t.waitpoint(w).row.status == waitpoint_status::pending) waits.insert(w);
    for (auto const w : waits) out.waitpoints.push_back(t.waitpoint(w).row);
    for (auto const q : run.requests)
        if (t.request_at(q).fate == request_fate::left_to_holder) out.mailbox.push_back(t.request_at(q).what);
    return std::optional(std::move(out));
}

outcome<std::optional<run_row>> memory_store::run(run_id id)
{
    std::scoped_lock guard(shared_.mutex);
    auto const num = shared_.rows.find(id);
    return num == 0 ? std::optional<run_row>{} : std::optional(shared_.rows.run(num).row);
}

outcome<std::optional<run_row>> memory_reader::run_by_key(std::string_view tenant, std::string_view key)
{
    std::scoped_lock guard(t_.mutex);
    auto const num = t_.rows.find_key(tenant, key);
    return num == 0 ? std::optional<run_row>{} : std::optional(t_.rows.run(num).row);
}

outcome<std::vector<run_row>> memory_reader::runs_like(std::string_view prefix)
{
    std::vector<run_row> out;
    auto const range = store_detail::id_range(prefix);
    if (!range) return out;
    std::scoped_lock guard(t_.mutex);
    for (std::int64_t num = 1; num <= t_.rows.run_count() && out.size() < 2; ++num)
        if (auto const& row = t_.rows.run(num).row; row.id.value >= range->first && row.id.value <= range->second)
            out.push_back(row);
    return out;
}

namespace {

bool has_tag(std::string text, std::string const& tag)
{
    std::replace(text.begin(), text.end(), ',', ' ');
    return (' ' + text + ' ').find(' ' + tag + ' ') != std::string::npos;
}

}  // namespace

outcome<std::vector<run_row>> memory_reader::runs(run_filter const& which)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<run_row> out;
    auto const end = which.before ? t_.rows.find(*which.before) : t_.rows.run_count() + 1;
    for (auto num = end - 1; num >= 1 && out.size() < which.limit; --num) {
        auto const& row = t_.rows.run(num).row;
        if ((!which.status || row.status.run == *which.status) && (which.workflow.empty() || row.workflow == which.workflow) &&
            (which.tenant.empty() || row.tenant == which.tenant) && row.created_at >= which.since && row.created_at < which.until &&
            (which.tag.empty() || has_tag(row.tags, which.tag)) &&
            (!which.owner || row.owner == *which.owner))
            out.push_back(row);
    }
    return out;
}

outcome<std::vector<journal_entry>> memory_store::journal(run_id run, seq_no after, std::size_t limit)
{
    std::scoped_lock guard(shared_.mutex);
    std::vector<journal_entry> out;
    auto const num = shared_.rows.find(run);
    if (num == 0) return out;
    auto const& journal = shared_.rows.run(num).journal;
    for (auto at = static_cast<std::size_t>(static_cast<std::int64_t>(after)); at < journal.size() && out.size() < limit; ++at)
        out.push_back(journal[at]);
    return out;
}

outcome<std::string> memory_store::load_blob(digest const& hash)
{
    std::scoped_lock guard(shared_.mutex);
    auto const* payload = shared_.rows.blob(hash);
    if (!payload) return error(errc::store_corrupt, "memory: there is no blob " + to_string(hash));
    return *payload;
}

outcome<std::optional<waitpoint_row>> memory_store::waitpoint(waitpoint_id id)
{
    std::scoped_lock guard(shared_.mutex);
    auto const num = shared_.rows.find(id);
    return num == 0 ? std::optional<waitpoint_row>{} : std::optional(shared_.rows.waitpoint(num).row);
}

outcome<std::vector<waitpoint_row>> memory_reader::waitpoints(waitpoint_filter const& which)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<waitpoint_row> out;
    for (auto num = t_.rows.waitpoint_count(); num >= 1 && out.size() < which.limit; --num) {
        auto const& row = t_.rows.waitpoint(num).row;
        if ((!which.run || row.run == *which.run) && (!which.status || row.status == *which.status) &&
            (!which.purpose || row.purpose == *which.purpose))
            out.push_back(row);
    }
    return out;
}

outcome<std::vector<request_row>> memory_reader::requests(run_id run)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<request_row> out;
    auto const num = t_.rows.find(run);
    if (num == 0) return out;
    for (auto const q : t_.rows.run(num).requests) {
        auto const& r = t_.rows.request_at(q);
        out.push_back({r.what, r.fate, r.entry});
    }
    return out;
}

outcome<std::vector<owner_row>> memory_reader::owners()
{
    std::scoped_lock guard(t_.mutex);
    std::vector<owner_row> out;
    for (auto const& [id, record] : t_.rows.owners())
        out.push_back({id, record.info.name, record.info.pid, record.info.started_at, record.alive, record.workflows});
    return out;
}

outcome<std::vector<journal_entry>> memory_reader::published(run_id run)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<journal_entry> out;
    if (auto const num = t_.rows.find(run); num != 0)
        for (auto const& [key, seq] : t_.rows.run(num).published) out.push_back(t_.rows.run(num).at(seq));
    return out;
}

outcome<std::vector<journal_entry>> memory_reader::publications(run_id run, seq_no after, std::size_t limit)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<journal_entry> out;
    auto const num = t_.rows.find(run);
    if (num == 0) return out;
    for (auto const& e : t_.rows.run(num).journal)
        if (e.kind == entry_kind::published && e.seq > after && out.size() < limit) out.push_back(e);
    return out;
}

outcome<std::vector<child_row>> memory_reader::children(run_id parent, std::optional<run_id> after, std::size_t limit)
{
    std::scoped_lock guard(t_.mutex);
    std::vector<child_row> out;
    auto const num = t_.rows.find(parent);
    if (num == 0) return out;
    auto const behind = after ? t_.rows.find(*after) : 0;
    for (auto const& [child, on_close] : t_.rows.run(num).children)
        if (child > behind && out.size() < limit) out.push_back({t_.rows.run(child).row, on_close});
    return out;
}

outcome<std::vector<workflow_version>> memory_reader::versions_to_claim()
{
    std::scoped_lock guard(t_.mutex);
    std::vector<workflow_version> out;
    for (auto const& [w, runs] : t_.rows.queued())
        if (!runs.empty()) out.push_back(w);
    for (auto const& [owner, record] : t_.rows.owners()) {
        if (record.alive) continue;
        for (auto const run : t_.rows.runs_of(owner)) out.push_back({t_.rows.run(run).row.workflow, t_.rows.run(run).row.version});
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace flow::memory_detail
