#include "runtime/engine/driver.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/engine/async.hpp"
#include "runtime/engine/core.hpp"
#include "runtime/engine/lines.hpp"
#include "runtime/engine/store_access.hpp"
#include "runtime/engine/workers.hpp"
#include "src/outside.hpp"

namespace flow::detail {

namespace {
std::string cannot_be_stored(error const& why) { return "what it went on with cannot be stored: " + std::string(why.what()); }
}  // namespace

driver::driver(engine_core& engine, loaded_run loaded, run_settings settings)
    : engine_(engine), workers_(engine.threads), id_(loaded.row.id),
      outside_(std::make_shared<store_access>(engine.shared(), loaded.row.id)),
      run_(std::make_unique<run>(std::move(loaded), settings, *this))
{
}

driver::~driver() = default;

void driver::post(std::function<void(run&)> event) { queue(std::move(event), false); }

void driver::stop_first(std::function<void()> then)
{
    queue(
        [then = std::move(then)](run& r) {
            r.stop();
            then();
        },
        true);
}

void driver::give_back(std::function<void()> then)
{
    post([this, then = std::move(then)](run&) mutable { given_back_ = std::move(then); });
}

void driver::queue(std::function<void(run&)> event, bool first)
{
    {
        std::lock_guard const lock(guard_);
        if (down_) return;
        events_.insert(first ? events_.begin() : events_.end(), std::move(event));
        if (std::exchange(scheduled_, true)) return;
    }
    try {
        schedule();
    } catch (...) {  // memory: the event stays, and goes with the next
        std::lock_guard const lock(guard_);
        scheduled_ = false;
        throw;
    }
}

void driver::schedule()
{
    workers_->run([self = shared_from_this()] { self->run_strand(); });
}

void driver::run_strand()
{
    std::lock_guard const strand(strand_);
    outside_here const access(outside_);
    for (;;) {
        std::function<void(run&)> event;
        {
            std::unique_lock lock(guard_);
            if (gave_ && (events_.empty() || down_)) {
                lock.unlock();
                commit_or_leave();
                continue;
            }
            if (events_.empty() || down_) {
                scheduled_ = false;
                return;
            }
            event = std::move(events_.front());
            events_.pop_front();
        }
        try {
            event(*run_);
            settle();
        } catch (std::bad_alloc const&) {
            give_up("there was no memory to go on with it. When there is, resume it: flow resume " + to_string(id_));
            settle();
        } catch (std::exception const& e) {  // a user's type: never the end of the process
            give_up(cannot_be_stored(error(errc::usage, e.what() ? e.what() : "")));
            settle();
        }
    }
}

void driver::commit_or_leave()
{
    // Groups were given in this burst. Where the run can do nothing before they are durable, this thread commits them.
    gave_ = false;
    if (run_ && run_->waits_for_durable()) {
        pool::blocking const elsewhere(workers_->of_strands());
        if (engine_.journal.commit_here(run_->row().num)) return;
    }
    engine_.commit_soon();
}

void driver::settle()
{
    bool const idle = run_->is_idle();
    if (idle != idle_.exchange(idle)) engine_.something_ended();
    if (!gone_ && run_->now_in() == run::phase::over) gone_ = true;
    if (given_back_ && (gone_ || !run_->awaits_answer())) {
        if (!gone_ && idle && run_->now_in() == run::phase::live && run_->status().execution == execution_status::executing) run_->release();
        std::exchange(given_back_, nullptr)();
    }
    bool const waits = !gone_ && run_->can_leave();
    if (waits != std::exchange(waits_, waits)) engine_.run_waits(id_, waits);
    if (gone_ && idle && !reported_) {
        reported_ = true;
        engine_.run_is_over(*this);
    } else if (engine_.is_suspect(id_) && (run_->made_progress() || run_->rests() || run_->status().execution != execution_status::executing)) {
        engine_.suspect_passed(id_);
    }
}

void driver::take_down()
{
    {
        std::lock_guard const lock(guard_);
        down_ = true;
        events_.clear();
    }
    std::lock_guard const strand(strand_);
    for (auto const& [_, t] : armed_) engine_.clocks.disarm(t);
    armed_.clear();
    if (run_ && run_->is_idle()) run_.reset();
}

bool driver::has_function_out()
{
    std::lock_guard const lock(guard_);
    return std::any_of(out_.begin(), out_.end(), [](auto const& f) { return !f.second.is_coroutine; });
}

void driver::ask_to_stop()
{
    std::vector<std::shared_ptr<attempt_data>> asked;
    {
        std::lock_guard const lock(guard_);
        for (auto const& [_, f] : out_) asked.push_back(f.attempt);
    }
    for (auto const& a : asked) a->stop.request_stop();  // not under the lock: it calls what the user registered
}

// ---- what comes back ------------------------------------------------------------------------------------------------------

void driver::written(seq_no last, answer const& a)
{
    if (a.others) engine_.look_soon();
    if (a.kind == answer_kind::applied && a.decided.empty()) {
        post([this, last](run& r) {
            if (!gone_) r.applied(last);
        });
        return;
    }
    post([this, last, a](run&) { answered(last, a); });
}

void driver::answered(seq_no last, answer const& a)
{
    if (gone_) return;
    switch (a.kind) {
    case answer_kind::applied:
        run_->applied(last);
        for (auto const& w : a.decided) run_->woken(w);
        return;
    case answer_kind::superseded:
        if (!run_->awaits_answer())
            return give_up(cannot_be_stored(error(errc::start_conflict, "another run has the id of a child that it started")));
        run_->superseded({a.superseded_by, a.taken});
        engine_.look_soon();
        return;
    case answer_kind::fenced:
    case answer_kind::gap:
    case answer_kind::not_applied:
        // Another holder took the run: what this one went on with was never applied (P6).
        warn("run " + to_string(id_) + " is held by another engine now; this one lets it go");
        let_go_of_run();
    }
}

void driver::given_up(error const& why)
{
    post([this, why](run&) { give_up(cannot_be_stored(why)); });
}

void driver::give_up(std::string const& why)
{
    if (gone_) return;
    let_go_of_run();
    engine_.quarantine(id_, why);
}

/// Its functions are asked to stop and waited for; the body is not resumed any more.
void driver::let_go_of_run()
{
    run_->stop();
    gone_ = let_go_ = true;
}

void driver::lose_lease()
{
    if (gone_) return;
    warn("the lease of this engine has ended: run " + to_string(id_) + " is let go before it acts");
    lost_lease_ = true;
    let_go_of_run();
}

// ---- commands ----------------------------------------------------------------------------------------------------------------

clock const& driver::clock() const { return engine_.clock(); }
void driver::fill_random(std::span<std::uint8_t> bytes) { engine_.random(bytes.data(), bytes.size()); }
bool driver::may_act()
{
    if (engine_.may_act()) return true;
    post([this](run&) { lose_lease(); });
    return false;
}
void driver::write(group g)
{
    if (let_go_) return;
    gave_ = true;
    engine_.journal.give(shared_from_this(), std::move(g));
}
outcome<std::string> driver::load_blob(digest const& hash) { return engine_.store->load_blob(hash); }
outcome<std::optional<waitpoint_row>> driver::find_waitpoint(waitpoint_id id) { return engine_.store->waitpoint(id); }
outcome<std::uint32_t> driver::version_for(std::string_view workflow, std::uint32_t version, encoding how, std::string_view arguments)
{
    try {
        auto const [found, functions] = engine_.find(workflow, version);
        auto const fits = functions->make(how, arguments);
        if (fits) return found.version;
        return error(errc::bad_argument, "version " + std::to_string(found.version) + " of workflow \"" + found.workflow + "\" takes " +
                                             std::string(functions->arguments_shape()) + ": " + fits.error().message());
    } catch (error const& e) {
        return e;
    }
}
outcome<workflow_version> driver::workflow_of(workflow_functions const& f) { return engine_.name_of(f); }
std::shared_ptr<stored_wait_policies const> driver::policies() { return engine_.shared()->policies(); }

signs_of_life* driver::life() { return &engine_.life; }
void driver::warn(std::string_view text) { engine_.log(log_level::warning, std::string(text)); }

namespace {

void bring_back(std::shared_ptr<driver> const& to, call_order const& order, call_result r)
{
    {
        std::lock_guard const lock(order.attempt->guard);
        r.commit_ref = order.attempt->commit_ref;
    }
    to->post([t = order.to, result = std::make_shared<call_result>(std::move(r))](run& x) {
        x.returned(t, std::move(*result));
    });
}

/// Asked to stop while it was queued: known not to have happened.
call_result never_called()
{
    call_result r;
    r.end = call_end::not_started;
    r.error.code = errc::step_failed;
    r.error.message = "asked to stop before it began";
    return r;
}

}  // namespace

void driver::call_out(call_order order)
{
    {
        std::lock_guard const lock(guard_);
        out_[order.to] = {order.place, order.attempt, clock().steady(), order.what->as_async() != nullptr};
    }
    auto const self = shared_from_this();
    auto back = [self, order](call_result r) {
        bring_back(self, order, std::move(r));
        std::lock_guard const lock(self->guard_);
        self->out_.erase(order.to);
    };
    if (order.what->as_async()) {
        engine_.coroutines().spawn(order, std::move(back));
        return;
    }
    workers_->call([self, order, back = std::move(back)] {
        call_result r;
        {
            pool::blocking const elsewhere(self->workers_->of_functions());
            outside_here const access(order.attempt->outside);
            attempt a(*order.attempt);
            // It may have stood in line for long.
            bool const may = !a.stop_requested() && (!order.acts_outside || self->may_act());
            if (may) order.what->invoke(a, r);
            else r = never_called();
        }
        back(std::move(r));
    });
}

std::shared_ptr<void> driver::join_line(ticket t, limit const& l)
{
    return lines::of_process().join(l, [self = weak_from_this(), t] {
        if (auto d = self.lock()) d->post([t](run& x) { x.due(t); });
    });
}

std::vector<std::string> driver::functions_out()
{
    auto const seconds_since = [now = clock().steady()](duration then) {
        return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - then).count()) + " s ago";
    };
    std::lock_guard const lock(guard_);
    std::vector<std::string> all;
    for (auto const& [_, f] : out_) {
        std::lock_guard const its(f.attempt->guard);
        all.push_back(to_string(id_) + " " + f.place + ", called " + seconds_since(f.since));
        if (f.attempt->last_heartbeat) all.back() += ", heartbeat " + seconds_since(*f.attempt->last_heartbeat);
    }
    return all;
}

void driver::arm_at(ticket t, time_point wall)
{
    armed_[t] = engine_.clocks.at_wall(wall, [self = weak_from_this(), t] {
        if (auto d = self.lock()) d->post([t](run& x) { x.due(t); });
    });
}

void driver::arm_in(ticket t, duration steady)
{
    armed_[t] = engine_.clocks.at_steady(engine_.clock().steady() + steady, [self = weak_from_this(), t] {
        if (auto d = self.lock()) d->post([t](run& x) { x.due(t); });
    });
}

void driver::disarm(ticket t)
{
    auto const at = armed_.find(t);
    if (at == armed_.end()) return;
    engine_.clocks.disarm(at->second);
    armed_.erase(at);
}

}  // namespace flow::detail
