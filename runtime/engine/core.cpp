#include "runtime/engine/core.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/engine/async.hpp"
#include "src/names.hpp"
#include "src/plans.hpp"
#include "src/schedule.hpp"
#include "src/wait_policy.hpp"

namespace flow::detail {

namespace {

int width_of(engine_options const& o)
{
    if (o.threads >= 0) return o.threads;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string owner_name(std::string const& by)
{
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    return by + "@" + host;
}

}  // namespace

engine_core::driven engine_core::who_drives(engine_options const& o)
{
    if (o.executor) return driven::by_executor;
    return o.threads == 0 ? driven::by_poll : driven::by_threads;
}

bool engine_core::commits_apart() const noexcept
{
    if (drive_ == driven::by_threads) return false;  // there any thread may commit
    return options_.io_thread || options_.threads != 0;
}

engine_core::engine_core(std::shared_ptr<client_core> shared, engine_options options)
    : store(shared->data),
      threads(std::make_shared<workers>(width_of(options), options.most_threads, options.executor, options.threads != 0)),
      clocks(shared->time()), journal(*shared->data, who_drives(options) == driven::by_threads ? shared->data->writers() : 1,
                                     [s = shared](log_level l, std::string const& t) { s->log(l, t); }),
      shared_(std::move(shared)), options_(std::move(options)), drive_(who_drives(options_))
{
    shared_->read_policies();
    owner_ = store->add_owner({owner_name(shared_->by), ::getpid(), clock().now()}).value();
    clocks.on_nearer([this] {
        if (drive_ == driven::by_executor) return tick_soon();
        std::lock_guard const lock(sleep_guard_);
        // Each step arms a timer or two: mostly later than the service wakes up anyway.
        if (clocks.until_next() < std::chrono::floor<duration>(naps_until_ - std::chrono::steady_clock::now())) sleep_.notify_all();
    });
    if (drive_ != driven::by_poll) threads->start([this] { tick(); });
    if (commits_apart()) journal.start_apart([this] { look_when_asked(); });
    if (drive_ == driven::by_executor) tick_soon();
    if (drive_ == driven::by_threads) {
        journal.start();
        service_ = std::thread([this] { serve(); });
    }
    store->when_changed(owner_, [this] { look_soon(); });
    add(schedule_workflow, {}, functions_of<fires>::value);
    add(policies_workflow, {}, functions_of<wait_policies_version>::value);
}

engine_core::~engine_core() { end(); }

void engine_core::add(std::string_view name, workflow_options o, workflow_functions const& f)
{
    check_name(name);
    run_settings s;
    s.default_effect = o.default_effect != effect::none ? o.default_effect : options_.default_effect;
    s.suspend_threshold = options_.suspend_threshold;
    s.announce_after = options_.announce_after;
    s.step_timeout = options_.step_timeout;
    s.max_recoveries = options_.max_recoveries;
    s.max_payload = options_.max_payload;
    s.blob_threshold = options_.blob_threshold;
    s.order = o.order;
    workflow_version const key{std::string(name), o.version.number};
    {
        std::lock_guard const lock(guard_);
        if (!workflows_.emplace(key, known_workflow{&f, s}).second)
            throw error(errc::usage, "workflow \"" + key.workflow + "\" version " + std::to_string(key.version) +
                                         " is registered already");
        std::vector<workflow_version> all;
        for (auto const& [w, _] : workflows_) all.push_back(w);
        my_workflows_ = std::make_shared<std::vector<workflow_version> const>(std::move(all));
        by_function_.insert_or_assign(&f, key);
        held_to_retry_.insert(key);
        to_announce_ = true;
    }
    look_soon();
}

workflow_version engine_core::registered(workflow_functions const& f) const
{
    std::lock_guard const lock(guard_);
    auto const at = by_function_.find(&f);
    if (at == by_function_.end())
        throw error(errc::unknown_workflow, "this function was not added: call engine.add<fn>(\"name\") before engine.start<fn>, or flow::start_run<fn> in a body");
    return at->second;
}

outcome<workflow_version> engine_core::name_of(workflow_functions const& f) const
{
    try {
        return registered(f);
    } catch (error const& e) {
        return e;
    }
}

std::pair<workflow_version, workflow_functions const*> engine_core::find(std::string_view name, std::uint32_t version) const
{
    std::lock_guard const lock(guard_);
    std::string known;
    for (auto at = workflows_.rbegin(); at != workflows_.rend(); ++at) {
        if (at->first.workflow == name && (version == 0 || at->first.version == version)) return {at->first, at->second.functions};
        if (!is_internal(at->first.workflow)) known += (known.empty() ? "" : ", ") + at->first.workflow + (version == 0 ? "" : " " + std::to_string(at->first.version));
    }
    throw error(errc::unknown_workflow, "no workflow \"" + printable(name, 256) + "\"" +
                                            (version == 0 ? "" : " version " + std::to_string(version)) + " is registered with this engine; there " +
                                            (known.empty() ? std::string("are none yet") : "is: " + known));
}

any_run_handle engine_core::start(workflow_version const& w, std::string arguments, std::string_view shape, start_options const& o)
{
    if (stopping_) throw error(errc::engine_stopped, "the engine has been stopped");
    if (options_.require_idempotency_key && o.idempotency_key.empty())
        throw error(errc::usage, "this engine requires an idempotency_key for every start");
    if (arguments.size() > options_.max_payload)
        throw error(errc::payload_too_large, "the arguments have " + std::to_string(arguments.size()) + " bytes; the limit is " +
                                                 std::to_string(options_.max_payload));
    return shared_->start(w, std::move(arguments), shape, o);
}

async_executor& engine_core::coroutines()
{
    std::call_once(coroutines_once_, [this] {
        coroutines_ = options_.executor ? std::make_unique<async_executor>(*options_.executor.get())
                                        : std::make_unique<async_executor>(!is_polled());
    });
    return *coroutines_;
}

void engine_core::something_ended()
{
    if (!stopping_) return;
    {
        std::lock_guard const lock(sleep_guard_);
        sleep_.notify_all();
    }
    if (drive_ == driven::by_executor) tick_soon();
}

void engine_core::look_soon()
{
    {
        std::lock_guard const lock(sleep_guard_);
        look_ = true;
    }
    sleep_.notify_all();
    if (drive_ == driven::by_executor) tick_soon();
}

void engine_core::run_is_over(driver& d)
{
    bool const ended = is_terminal(d.body().status().run);
    bool much_room = false;
    {
        std::lock_guard const lock(guard_);
        auto const at = drivers_.find(d.id());
        if (at != drivers_.end() && at->second.get() == &d) {
            leaving_.push_back(std::move(at->second));
            drivers_.erase(at);
        }
        much_room = leaving_.size() == room_worth_a_look();
    }
    if (much_room) {
        std::lock_guard const lock(sleep_guard_);
        room_ = true;
        sleep_.notify_all();
    }
    if (d.lost_lease()) strays_ = true;  // if this engine still owns it once its lease stands again, it is entered anew
    suspect_passed(d.id());
    if (d.body().status().execution == execution_status::queued) look_soon();  // it goes on, perhaps here
    if (ended) shared_->run_ended();
    something_ended();
}

void engine_core::run_waits(run_id id, bool waits)
{
    std::lock_guard const lock(guard_);
    if (auto const at = waiting_since_.find(id); at != waiting_since_.end()) {
        waiting_longest_.erase({at->second, id});
        waiting_since_.erase(at);
    }
    if (!waits) return;
    auto const now = clock().steady();
    waiting_since_.emplace(id, now);
    waiting_longest_.emplace(now, id);
}

void engine_core::evict_waiting()
{
    std::vector<std::shared_ptr<driver>> out;
    {
        std::lock_guard const lock(guard_);
        auto const now = clock().steady();
        while (!waiting_longest_.empty()) {
            auto const [since, id] = *waiting_longest_.begin();
            if (now - since < options_.evict_after && waiting_longest_.size() <= options_.most_waiting) break;
            waiting_longest_.erase(waiting_longest_.begin());
            waiting_since_.erase(id);
            if (auto const at = drivers_.find(id); at != drivers_.end()) out.push_back(at->second);
        }
    }
    for (auto const& d : out) d->post([](run& r) { r.evict(); });
}

duration engine_core::until_next_eviction() const
{
    std::lock_guard const lock(guard_);
    if (waiting_longest_.empty()) return duration::max();
    if (waiting_longest_.size() > options_.most_waiting) return duration::zero();
    return std::max(duration::zero(), options_.evict_after - (clock().steady() - waiting_longest_.begin()->first));
}

void engine_core::quarantine(run_id id, std::string const& why)
{
    auto const loaded = store->load(id);
    auto p = loaded && *loaded ? plan_quarantine((*loaded)->row, why, clock().now()) : std::nullopt;
    bool const held = p && (*loaded)->row.owner == owner_ && write_for_run(**loaded, *std::move(p));
    log(log_level::error, "run " + to_string(id) + (held ? " is held: " : " is given up until the next start: ") + why);
}

std::vector<std::shared_ptr<driver>> engine_core::all_drivers() const
{
    std::lock_guard const lock(guard_);
    std::vector<std::shared_ptr<driver>> all;
    for (auto const& [_, d] : drivers_) all.push_back(d);
    return all;
}

std::vector<std::string> engine_core::still_running() const
{
    std::vector<std::string> all;
    for (auto const& d : all_drivers())
        for (auto& place : d->functions_out()) all.push_back(std::move(place));
    return all;
}

health_report engine_core::health()
{
    health_report report;
    auto const add = [&](error const& e) {
        using enum health_report::cause;
        auto what = store_unreachable;
        switch (e.code()) {
        case errc::store_busy: what = store_locked; break;
        case errc::store_read_only: what = store_read_only; break;
        case errc::store_full: what = store_full; break;
        case errc::store_corrupt: what = store_damaged; break;
        default: break;
        }
        for (auto const& f : report.findings)
            if (f.what == what) return;
        report.findings.push_back({what, store->name() + ": " + e.message()});
    };
    if (stopped_ || stopping_) report.findings.push_back({health_report::cause::stopped, "the engine has been stopped"});
    if (auto const ok = store->ping(owner_, time_limit{200}); !ok) add(ok.error());
    if (auto const e = journal.trouble()) add(*e);
    if (auto text = store->warning(); !text.empty()) report.findings.push_back({health_report::cause::store_warning, std::move(text)});
    return report;
}

}  // namespace flow::detail
