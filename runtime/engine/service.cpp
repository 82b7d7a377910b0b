// Looking around: timers, wakes, mail, runs to claim. One thread's work, or a part of every poll.
#include <algorithm>
#include <iterator>
#include <utility>

#include "flow/store_reader.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/engine/held.hpp"
#include "src/recovery_gate.hpp"
#include "src/version_policy.hpp"

namespace flow::detail {

namespace {

// Dead owners are looked for this often while there are others (P57).
constexpr std::chrono::milliseconds claim_every{250};
constexpr std::chrono::seconds policies_every{1};
// Many enough for few messages to a server, few enough that the first begin while the others are read.
constexpr std::size_t load_at_once = 25;

}  // namespace

void engine_core::serve()
{
    using std::chrono::steady_clock;
    auto next_look = steady_clock::now();
    for (;;) {
        bool look = false, room = false;
        {
            std::unique_lock lock(sleep_guard_);
            for (;;) {
                auto const now = steady_clock::now();
                auto const nap = std::min(clocks.until_next(), std::chrono::ceil<duration>(next_look - now));
                if (look_ || room_ || ended_ || nap <= duration::zero()) break;
                naps_until_ = now + nap;
                sleep_.wait_until(lock, naps_until_);
            }
            naps_until_ = {};
            if (ended_) return;
            look = std::exchange(look_, false);
            room = std::exchange(room_, false);
        }
        clocks.run_due();
        // A timer of a run's is no reason to read the store: what happens there is looked for at its own pace.
        auto const now = steady_clock::now();
        if (!look && !room && now < next_look) continue;
        next_look = now + look_every;
        look_around(look);
    }
}

void engine_core::look_around(bool everything)
{
    tidy();
    look_into_store(everything);
}

void engine_core::tidy()
{
    if (stopping_) return;
    std::vector<std::shared_ptr<driver>> gone;
    {
        std::lock_guard const lock(guard_);
        gone.swap(leaving_);
    }
    for (auto const& d : gone) d->take_down();
    evict_waiting();
}

void engine_core::look_into_store(bool everything)
{
    std::lock_guard const alone(serving_);
    if (stopping_) return;
    auto const now = std::chrono::steady_clock::now();
    bool changed = everything || look_again_;
    // Whoever polls wants to know now.
    bool const is_told = drive_ == driven::by_threads && store->ask_every() > look_every;
    if (changed || !is_told || now - asked_at_ >= store->ask_every()) {
        auto const change = store->change_counter();
        if (!change) return trouble("reading the store", change.error());
        asked_at_ = now;
        changed = std::exchange(seen_change_, *change) != *change || changed;
    }
    look_again_ = false;
    bool const due = until_store_due() == duration::zero();
    bool const round = now - last_claim_ >= claim_every;
    judge_versions();
    if (!changed && !due && !round) {
        if (backlog_ && room_for_runs() > 0) claim_runs();
        return;
    }

    if (changed) deliver_notices();
    if (changed || due) {
        auto const n = store->scan(clock().now(), claim_chunk);
        if (!n) trouble("looking for timers", n.error());
        else if (*n > 0) look_soon();  // what it changed may have woken or asked runs that are held here
        if (auto const t = store->next_due()) store_due_ = *t;
    }
    last_claim_ = now;
    auto const text = store->warning();
    if (!std::exchange(told_warning_, !text.empty()) && told_warning_) log(log_level::warning, text);
    announce();
    refresh_policies();
    retry_held();
    resume_retried();
    claim_runs();
}

/// Set by another process, or by another client on this store.
void engine_core::refresh_policies()
{
    auto const now = std::chrono::steady_clock::now();
    if (now - policies_read_at_ < policies_every) return;
    policies_read_at_ = now;
    try {
        shared_->read_policies();
        told_policies_ = false;
    } catch (error const& e) {  // those that are known stay in force
        if (!std::exchange(told_policies_, true)) log(log_level::warning, std::string("reading the wait policies: ") + e.what());
    }
}

void engine_core::trouble(std::string const& doing, error const& e)
{
    look_again_ = true;
    if (std::exchange(told_trouble_, e.code()) == e.code()) return;
    log(e.code() == errc::store_busy ? log_level::warning : log_level::error, doing + ": " + e.what());
}

void engine_core::deliver_notices()
{
    auto notices = store->look(owner_, 10 * claim_chunk);
    if (!notices) return trouble("looking for wakes", notices.error());
    told_trouble_.reset();
    for (auto& n : *notices) {
        auto const id = std::visit([](auto const& x) { return x.run; }, n);
        std::shared_ptr<driver> d;
        {
            std::lock_guard const lock(guard_);
            if (auto const at = drivers_.find(id); at != drivers_.end()) d = at->second;
        }
        if (!d) continue;
        if (auto* w = std::get_if<woken>(&n)) d->post([w = std::move(w->waitpoint)](run& r) { r.woken(w); });
        else d->post([m = std::move(std::get<mail>(n).what)](run& r) { r.mail(m); });
    }
}

void engine_core::claim_runs()
{
    auto const mine = my_workflows();
    if (mine->empty()) return;
    for (;;) {
        // A large backlog is claimed in one go: those of it that wait by now leave meanwhile, not only when all is claimed.
        evict_waiting();
        auto const most = std::min(claim_chunk, room_for_runs());
        backlog_ = true;
        if (most == 0) return;
        auto const runs = claim(*mine, most);
        if (!runs) return;
        if (strays_ && may_act()) enter_strays();
        told_trouble_.reset();
        enter(*runs);
        backlog_ = runs->size() == most;
        if (!backlog_) return;
    }
}

std::optional<std::vector<claimed>> engine_core::claim(std::span<workflow_version const> of, std::size_t most)
{
    auto runs = store->claim({owner_, of, most, clock().now()});
    if (runs) return *std::move(runs);
    if (runs.error().code() == errc::commit_unknown) strays_ = true;
    trouble("claiming runs", runs.error());
    return std::nullopt;
}

/// Few at a time are none: a backlog is claimed in large pieces.
std::size_t engine_core::room_for_runs()
{
    std::lock_guard const lock(guard_);
    auto const most = std::max<std::size_t>(options_.most_running, 1);
    // Those that are over and not taken down yet take memory too, and so do waiting ones beyond what may stay.
    auto const running = drivers_.size() + leaving_.size() - std::min(waiting_since_.size(), options_.most_waiting);
    auto const room = most - std::min(most, running);
    return room < room_worth_a_look() ? 0 : room;
}

std::size_t engine_core::room_worth_a_look() const
{
    return std::min(claim_chunk, std::max<std::size_t>(options_.most_running, 1) / 4 + 1);
}

void engine_core::enter_strays()
{
    // The answer to an earlier claim was lost, or what it took could not be loaded. Who brings one in just now is waited for.
    std::unique_lock const alone(bringing_);
    run_filter mine;
    mine.owner = owner_;
    auto rows = shared_->all_runs(mine);
    if (!rows) return trouble("looking for claimed runs", rows.error());
    strays_ = false;
    std::vector<claimed> strays;
    {
        std::lock_guard const lock(guard_);
        for (auto& row : *rows)
            if (drivers_.count(row.id) == 0) strays.push_back({std::move(row), false});
    }
    enter(strays);
}

void engine_core::enter(std::span<claimed const> all)
{
    while (!all.empty()) {
        auto const few = all.first(std::min(all.size(), load_at_once));
        all = all.subspan(few.size());
        std::vector<run_id> ids;
        for (auto const& c : few) ids.push_back(c.row.id);
        auto loaded = store->load_all(ids);
        for (std::size_t i = 0; i < few.size(); ++i) enter(few[i], std::move(loaded[i]));
    }
}

void engine_core::enter(claimed const& c, outcome<std::optional<loaded_run>> loaded)
{
    if (auto const done = drive(c, std::move(loaded)); !done) {
        strays_ = true;
        trouble("loading run " + to_string(c.row.id), done.error());
    }
}

outcome<void> engine_core::drive(claimed const& c, outcome<std::optional<loaded_run>> loaded)
{
    if (!loaded) return loaded.error();
    if (!*loaded) return {};
    known_workflow w;
    {
        std::lock_guard const lock(guard_);
        auto const known = workflows_.find({c.row.workflow, c.row.version});
        if (known != workflows_.end()) w = known->second;
    }
    if (!w.functions || asks_about_version((*loaded)->entries)) {
        if (auto const newest = newest_versions(); newest.count(c.row.workflow) > 0) judge_run(**loaded, newest.at(c.row.workflow));
        return {};
    }
    auto arguments = load_arguments(**loaded, *store);
    auto const recoveries = recoveries_without_progress((*loaded)->entries);
    auto d = std::make_shared<driver>(*this, **std::move(loaded), w.settings);
    {
        std::lock_guard const lock(guard_);
        auto& driven = drivers_[c.row.id];
        if (driven) leaving_.push_back(std::move(driven));  // evicted, and called back before it has heard of it
        driven = d;
    }
    // Between two lives of a process that dies again and again one cannot tell which of its runs kills it: from the second
    // recovery on they go one at a time.
    if (recoveries >= 2 && c.row.status.execution == execution_status::executing) {
        {
            std::lock_guard const lock(guard_);
            suspects_.emplace_back(c.row.id, [this, d, w, arguments] { begin(d, *w.functions, arguments); });
            any_suspect_ = true;
        }
        next_suspect();
        return {};
    }
    begin(d, *w.functions, std::move(arguments));
    return {};
}

outcome<completion_answer> engine_core::complete(flow::completion const& what)
{
    std::shared_lock const bringing(bringing_);
    if (stopping_) return store->complete(what);
    auto const mine = my_workflows();
    // While others stand in the queue it has its turn there.
    auto const most = backlog_ ? 0 : std::min(claim_chunk, room_for_runs());
    auto const done = store->complete_and_claim(what, {owner_, *mine, most, clock().now()});
    if (!done) {
        if (done.error().code() == errc::commit_unknown) strays_ = true;
        return done.error();
    }
    for (auto const& c : done->runs) {
        if (drive(c, store->load(c.row.id))) continue;
        strays_ = true;  // the service tries again
        look_soon();
    }
    return done->answer;
}

std::shared_ptr<std::vector<workflow_version> const> engine_core::my_workflows() const
{
    std::lock_guard const lock(guard_);
    return my_workflows_;
}

void engine_core::begin(std::shared_ptr<driver> const& d, workflow_functions const& functions, stored_arguments arguments)
{
    auto const kept = std::make_shared<stored_arguments const>(std::move(arguments));
    d->post([&functions, kept](run& r) { r.enter([&functions, kept, &r] { return make_body(functions, *kept, r.row()); }); });
}

void engine_core::next_suspect()
{
    std::function<void()> go;
    {
        std::lock_guard const lock(guard_);
        if (suspect_ || suspects_.empty()) return;
        go = std::move(suspects_.front().second);
        suspect_ = suspects_.front().first;
        suspects_.pop_front();
    }
    go();
}

bool engine_core::is_suspect(run_id id) const
{
    if (!any_suspect_) return false;
    std::lock_guard const lock(guard_);
    return suspect_ == id;
}

void engine_core::suspect_passed(run_id id)
{
    if (!any_suspect_) return;
    {
        std::lock_guard const lock(guard_);
        if (suspect_ != id) return;
        suspect_.reset();
        if (suspects_.empty()) any_suspect_ = false;
    }
    next_suspect();
}

void engine_core::retry_held()
{
    std::set<workflow_version> todo;
    {
        std::lock_guard const lock(guard_);
        todo.swap(held_to_retry_);
    }
    for (auto const& w : todo) {
        known_workflow known;
        {
            std::lock_guard const lock(guard_);
            known = workflows_.at(w);
        }
        run_filter held;
        held.status = run_status::held;
        held.workflow = w.workflow;
        auto rows = shared_->all_runs(held);
        if (!rows) {
            std::unique_lock lock(guard_);
            held_to_retry_.insert(w);
            lock.unlock();
            return trouble("looking for held runs", rows.error());
        }
        for (auto const& row : *rows) {
            auto const reason = parse_wait_reason(row.reason);
            if (row.version != w.version || reason.id == "corrupt") continue;
            auto loaded = store->load(row.id);
            if (!loaded || !*loaded) continue;
            auto const tried = [this, known, id = row.id, so_far = reason.detail, loaded = **std::move(loaded)] {
                if (!worth_retrying(loaded, *known.functions, known.settings, *store, clock(), so_far, [this](auto const& f) { return name_of(f); })) return;
                request again;
                again.id = request_id{shared_->new_uuid4()};
                again.run = id;
                again.kind = request_kind::resume;
                again.by = shared_->by;
                again.why = "the code at hand replays it";
                again.at = clock().now();
                std::lock_guard const lock(guard_);
                to_resume_.push_back(std::move(again));
            };
            if (!commits_apart()) {
                tried();
                continue;
            }
            threads->run([this, tried] {  // bodies run where bodies do
                tried();
                look_soon();
            });
        }
    }
}

void engine_core::resume_retried()
{
    std::vector<request> all;
    {
        std::lock_guard const lock(guard_);
        all.swap(to_resume_);
    }
    for (auto const& r : all) ignore(store->ask(r), "it stays held: somebody will resume it, or the next start");
}

}  // namespace flow::detail
