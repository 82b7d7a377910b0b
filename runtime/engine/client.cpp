#include "flow/client.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "flow/store_reader.hpp"
#include "runtime/engine/client_core.hpp"
#include "runtime/engine/deadline.hpp"
#include "src/asking.hpp"
#include "src/names.hpp"
#include "src/payloads.hpp"

namespace flow {

namespace {

[[noreturn]] void no_run(std::string_view which)
{
    throw error(errc::unknown_run, "no run " + detail::printable(which, 200) + " in this store");
}

std::string_view or_else(std::string_view text, std::string_view other) { return text.empty() ? other : text; }

}  // namespace

client::client(store_ptr store, std::string by)
    : core_(std::make_shared<detail::client_core>(std::move(store), std::move(by), nullptr, nullptr, nullptr))
{
}
client::client(std::shared_ptr<detail::client_core> core) : core_(std::move(core)) {}
client::~client() = default;

store& client::data() noexcept { return *core_->data; }

// ---- starting and finding ----------------------------------------------------------------------------------------------------

any_run_handle client::start(std::string_view workflow, args const& arguments, start_options o)
{
    return core_->start({std::string(workflow), std::max(o.version.number, 1u)}, detail::compact_json(arguments.text()).value(), arguments.shape(), o);
}

any_run_handle client::find(run_id id)
{
    if (!core_->data->run(id).value()) no_run(to_string(id));
    return {core_, id};
}

any_run_handle client::find(std::string_view text)
{
    if (auto const whole = parse_uuid(text)) return find(run_id{*whole});
    auto const rows = core_->data->reader().runs_like(text).value();
    if (rows.empty()) no_run(text);
    if (rows.size() > 1)
        throw error(errc::unknown_run, "more than one run begins with " + detail::printable(text, 200) + ": give more of its id");
    return {core_, rows.front().id};
}

any_run_handle client::find_by_key(std::string_view key, std::string_view tenant)
{
    auto const row = core_->data->reader().run_by_key(tenant, key).value();
    if (!row) no_run("with key " + std::string(key));
    return {core_, row->id};
}

// ---- looking -----------------------------------------------------------------------------------------------------------------

namespace {

/// The journal has the decision; those who answered before it are in the store's table of responses alone.
void add_responses(store_reader& reader, run_view& v)
{
    waitpoint_filter questions;
    questions.run = v.row.id;
    questions.purpose = waitpoint_purpose::approval;
    auto const before = v.happened.size();
    for (auto const& q : reader.waitpoints(questions).value())
        for (auto const& r : reader.responses(q.id).value())
            if (q.status != waitpoint_status::completed || r.by != q.by)
                v.happened.push_back({seq_no::none, r.at, q.place + (r.approves ? " was approved by " : " was rejected by ") + r.by, r.by, r.why});
    if (v.happened.size() > before)
        std::sort(v.happened.begin(), v.happened.end(), [](auto const& a, auto const& b) { return std::pair(a.at, a.entry) < std::pair(b.at, b.entry); });
}

run_view view_of(detail::client_core& core, run_id id)
{
    auto run = core.data->load(id).value();
    if (!run) no_run(to_string(id));
    waitpoint_filter open;
    open.run = id;
    open.status = waitpoint_status::pending;
    auto view = detail::make_view(std::move(run->row), run->entries, core.data->reader().waitpoints(open).value());
    bool const asked = std::any_of(run->entries.begin(), run->entries.end(), [](auto const& e) { return e.shape_in == detail::question_mark; });
    if (asked) add_responses(core.data->reader(), view);
    return view;
}

}  // namespace

run_view client::inspect(run_id id) { return view_of(*core_, id); }
std::vector<run_row> client::runs(run_filter const& which) { return core_->data->reader().runs(which).value(); }

std::vector<child_row> client::children(run_id id, std::optional<run_id> after, std::size_t limit)
{
    auto all = core_->data->reader().children(id, after, limit).value();
    if (all.empty() && !core_->data->run(id).value()) no_run(to_string(id));
    return all;
}

std::vector<journal_entry> client::journal(run_id id, seq_no after, std::size_t limit)
{
    auto entries = core_->data->journal(id, after, limit).value();
    if (entries.empty() && after == seq_no::none && !core_->data->run(id).value()) no_run(to_string(id));
    return entries;
}

std::optional<std::string> client::output_of(run_id id, std::string_view place)
{
    auto const view = inspect(id);
    for (auto const& s : view.steps) {
        if (s.place != place || s.status != step_status::completed || s.output_damaged) continue;
        if (!s.output_in_blob) return s.output;
        auto blob = core_->data->load_blob(s.output_hash);
        if (blob && sha256(*blob) == s.output_hash) return std::move(*blob);
    }
    return std::nullopt;
}

namespace {

/// store_corrupt: what is stored of it does not match its hash.
publication as_publication(store& s, journal_entry e)
{
    auto text = e.in_blob ? s.load_blob(e.hash).value() : std::move(e.payload);
    if (sha256(text) != e.hash) throw error(errc::store_corrupt, "the value published at " + e.place + " does not match its hash");
    return {std::move(e.name), std::move(text), e.seq, e.at};
}

std::vector<publication> as_publications(store& s, run_id run, std::vector<journal_entry> entries)
{
    if (entries.empty() && !s.run(run).value()) no_run(to_string(run));
    std::vector<publication> all;
    for (auto& e : entries) all.push_back(as_publication(s, std::move(e)));
    return all;
}

}  // namespace

std::vector<publication> client::published(run_id id)
{
    return as_publications(*core_->data, id, core_->data->reader().published(id).value());
}

std::vector<publication> client::publications(run_id id, seq_no after, std::size_t limit)
{
    return as_publications(*core_->data, id, core_->data->reader().publications(id, after, limit).value());
}

std::optional<std::string> client::published_text(run_id id, std::string_view key)
{
    for (auto& p : published(id))
        if (p.key == key) return std::move(p.value);
    return std::nullopt;
}

waitpoint_row client::waitpoint(waitpoint_id id)
{
    auto row = core_->data->waitpoint(id).value();
    if (!row) throw error(errc::unknown_token, "no waitpoint " + to_string(id) + " in this store");
    return *std::move(row);
}

std::vector<waitpoint_row> client::waitpoints(waitpoint_filter const& which)
{
    return core_->data->reader().waitpoints(which).value();
}

// ---- completing and deciding ---------------------------------------------------------------------------------------------------

namespace {

[[noreturn]] void unknown(waitpoint_id id, bool with_secret)
{
    // One error for all who show a secret: failures do not tell what exists (P61).
    throw error(errc::unknown_token, with_secret ? "no such token, or not its secret" : "no token " + to_string(id) + " in this store");
}

}  // namespace

waitpoint_row client::token_to_complete(waitpoint_id which, std::optional<digest> const& secret_hash)
{
    auto row = core_->data->waitpoint(which).value();
    bool const known = row && row->purpose == waitpoint_purpose::token;
    if (!known || (secret_hash && (row->secret_hash.is_none() || *secret_hash != row->secret_hash))) unknown(which, secret_hash.has_value());
    return *std::move(row);
}

bool client::complete_json(waitpoint_id which, std::string_view json, std::optional<std::string_view> secret,
                           std::string_view why, std::string_view by)
{
    completion c;
    c.waitpoint = which;
    if (secret) c.secret_hash = sha256(*secret);
    auto const row = token_to_complete(which, c.secret_hash);
    c.output = detail::compact_json(json).value();
    bool const strict = row.options.find("\"strict\":true") != std::string::npos;
    detail::check_shape(c.output, row.shape, strict).value();
    c.by = or_else(by, core_->by);
    c.why = why;
    return complete_with(std::move(c));
}

bool client::fail_token(waitpoint_id which, std::string_view why, std::optional<std::string_view> secret, std::string_view by)
{
    completion c;
    c.waitpoint = which;
    if (secret) c.secret_hash = sha256(*secret);
    token_to_complete(which, c.secret_hash);
    c.output = why.empty() ? std::string_view("it failed") : why;
    c.is_error = true;
    c.by = or_else(by, core_->by);
    return complete_with(std::move(c));
}

bool client::complete_with(completion c)
{
    auto const which = c.waitpoint;
    c.at = core_->time().now();
    switch (core_->complete(c).value()) {
    case completion_answer::completed: core_->look(); return true;
    case completion_answer::already_same: return false;
    case completion_answer::already_other:
        throw error(errc::token_conflict, "token " + to_string(which) + " was completed before, with another value");
    case completion_answer::timed_out: throw error(errc::token_ended, "token " + to_string(which) + " has timed out");
    case completion_answer::withdrawn:
        throw error(errc::token_ended, "token " + to_string(which) + " was withdrawn: its run ended or was cancelled");
    case completion_answer::not_permitted:
        throw error(errc::unknown_token, to_string(which) + " is a timer or a child run: nobody completes it from outside");
    case completion_answer::unknown:
    case completion_answer::wrong_secret: break;
    }
    unknown(which, c.secret_hash.has_value());
}

waitpoint_id client::intervention_of(run_id run)
{
    waitpoint_filter open;
    open.run = run;
    open.status = waitpoint_status::pending;
    open.purpose = waitpoint_purpose::intervention;
    auto const rows = core_->data->reader().waitpoints(open).value();
    if (rows.size() != 1)
        throw error(errc::unknown_intervention, "run " + to_string(run) + (rows.empty() ? " has no open intervention"
                                                                                          : " has more than one: name it by its id"));
    return rows.front().id;
}

void client::decide(waitpoint_id which, std::string_view choice, std::optional<std::string_view> output, std::string_view why,
                    std::string_view by)
{
    auto& store = *core_->data;
    auto const row = store.waitpoint(which).value();
    if (!row || row->purpose != waitpoint_purpose::intervention)
        throw error(errc::unknown_intervention, "no intervention " + to_string(which) + " in this store");
    auto const offered = detail::read_payload<detail::intervention_payload>(row->options).value_or(detail::intervention_payload{});
    if (std::find(offered.choices.begin(), offered.choices.end(), choice) == offered.choices.end()) {
        std::string list;
        for (auto const& c : offered.choices) list += (list.empty() ? "" : ", ") + c;
        throw error(errc::bad_choice, "\"" + detail::printable(choice, 100) + "\" is not offered; choose one of: " + list);
    }
    detail::decision_payload d{std::string(choice), std::nullopt};
    bool const takes_output = choice == "complete" || choice == "keep";
    if (output && !takes_output) throw error(errc::bad_choice, "an output goes with \"complete\" only");
    if (choice == "complete" && !output && offered.output_shape != "void")
        throw error(errc::bad_choice, "\"complete\" needs the step's output as JSON, of shape " + offered.output_shape);
    if (choice == "complete" && !output) output = "null";
    if (output) {
        d.output = detail::compact_json(*output).value();
        detail::check_shape(*d.output, offered.output_shape, true).value();
    }
    completion c;
    c.waitpoint = which;
    c.output = detail::write_payload(d);
    c.by = or_else(by, core_->by);
    c.why = why;
    c.at = core_->time().now();
    switch (core_->complete(c).value()) {
    case completion_answer::completed:
    case completion_answer::already_same: core_->look(); return;
    case completion_answer::already_other:
        throw error(errc::token_conflict, "intervention " + to_string(which) + " was decided otherwise before");
    case completion_answer::withdrawn:
    case completion_answer::timed_out:
        throw error(errc::token_ended, "intervention " + to_string(which) + " is no longer open");
    default: throw error(errc::unknown_intervention, "no intervention " + to_string(which) + " in this store");
    }
}

// ---- requests ------------------------------------------------------------------------------------------------------------------

namespace {

request_fate ask(detail::client_core& core, run_id run, request_kind kind, std::string_view why, std::string_view by)
{
    request r;
    r.id = request_id{core.new_uuid4()};
    r.run = run;
    r.kind = kind;
    r.by = or_else(by, core.by);
    r.why = why;
    r.at = core.time().now();
    auto const fate = core.insist([&] { return core.data->ask(r); }).value();
    if (fate == request_fate::unknown_run) no_run(to_string(run));
    core.look();
    return fate;
}

}  // namespace

request_fate client::cancel(run_id run, std::string_view why, std::string_view by)
{
    return ask(*core_, run, request_kind::cancel, why, by);
}

request_fate client::pause(run_id run, std::string_view why, std::string_view by)
{
    return ask(*core_, run, request_kind::pause, why, by);
}

request_fate client::resume(run_id run, std::string_view why, std::string_view by)
{
    auto const row = core_->data->run(run).value();
    if (!row) no_run(to_string(run));
    auto const waits_to_pause = [&] {
        auto const all = core_->data->reader().requests(run).value();
        return std::any_of(all.begin(), all.end(), [](auto const& r) { return r.what.kind == request_kind::pause && r.fate == request_fate::left_to_holder; });
    };
    if (!is_terminal(row->status.run) && row->status.run != run_status::held && row->status.run != run_status::paused && !waits_to_pause())
        throw error(errc::usage, "run " + to_string(run) + " is " + std::string(to_string(row->status.run)) +
                                     ", not held: there is nothing to resume");
    return ask(*core_, run, request_kind::resume, why, by);
}

// ---- handles -------------------------------------------------------------------------------------------------------------------

status_pair any_run_handle::status() const
{
    auto const row = core_->data->run(id_).value();
    if (!row) no_run(to_string(id_));
    return row->status;
}

bool any_run_handle::wait(std::chrono::milliseconds limit) const { return core_->wait_for_end({&id_, 1}, limit).has_value(); }

bool client::wait_for_all(std::vector<any_run_handle> const& runs, std::chrono::milliseconds limit)
{
    auto const end = detail::ends_after(limit);
    return std::all_of(runs.begin(), runs.end(), [&](any_run_handle const& r) {
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        return r.wait(std::max(left, left.zero()));
    });
}

bool client::wait_for_family(any_run_handle const& run, std::chrono::milliseconds limit)
{
    auto const end = detail::ends_after(limit);
    std::vector<run_id> all{run.id()};
    for (std::size_t i = 0; i < all.size(); ++i) {
        // After its end a run starts nothing more.
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (!any_run_handle(core_, all[i]).wait(std::max(left, left.zero()))) return false;
        std::optional<run_id> after;
        for (;;) {
            auto const page = core_->data->reader().children(all[i], after, 100).value();
            for (auto const& c : page)
                if (c.on_close == close_policy::cancel || c.on_close == close_policy::request_cancel) all.push_back(c.run.id);
            if (page.size() < 100) break;
            after = page.back().run.id;
        }
    }
    return true;
}

std::optional<std::size_t> client::wait_for_any(std::vector<any_run_handle> const& runs, std::chrono::milliseconds limit)
{
    std::vector<run_id> ids;
    for (auto const& r : runs) ids.push_back(r.id());
    auto const first = core_->wait_for_end(ids, limit);
    return first ? std::optional(first->which) : std::nullopt;
}

run_view any_run_handle::view() const { return view_of(*core_, id_); }

request_fate any_run_handle::cancel(std::string_view why) const { return ask(*core_, id_, request_kind::cancel, why, {}); }

run_end any_run_handle::end() const
{
    run_end e;
    auto ended = core_->wait_for_end({&id_, 1}, std::chrono::milliseconds::max());
    if (!ended) throw error(errc::engine_stopped, "run " + to_string(id_) + " has not ended: its engine was stopped; it goes on when one starts");
    e.row = std::move(ended->row);
    // The last two entries of a run: its result or failure, and the snapshot that ended it.
    auto const before = seq_no{static_cast<std::int64_t>(e.row.snapshot) - 2};
    auto const last = core_->data->journal(id_, before, 1).value();
    if (last.empty() || (last.front().kind != entry_kind::result && last.front().kind != entry_kind::failure)) {
        e.failure = e.row.status.run == run_status::cancelled ? error(errc::cancelled, "the run was cancelled before it began")
                    : e.row.status.run == run_status::expired ? error(errc::run_expired, "the run's deadline passed before it began")
                        : error(errc::journal_corrupt, "run " + to_string(id_) + " has ended without an entry that says how");
        return e;
    }
    auto const& entry = last.front();
    auto text = entry.in_blob ? core_->data->load_blob(entry.hash).value() : entry.payload;
    if (sha256(text) != entry.hash)
        throw error(errc::journal_corrupt, "the stored result of run " + to_string(id_) + " (entry " +
                                               std::to_string(static_cast<std::int64_t>(entry.seq)) + ") is damaged (payload)");
    if (entry.kind == entry_kind::result) {
        e.result = std::move(text);
        e.encoding = entry.encoding;
    } else {
        auto const p = detail::read_payload<detail::failure_payload>(text);
        e.failure = error(p ? detail::from_payload(*p) : error_detail{});
    }
    return e;
}

}  // namespace flow
