#include "flow/child.hpp"

#include <algorithm>
#include <utility>

#include "src/children.hpp"
#include "src/names.hpp"
#include "src/payloads.hpp"
#include "src/pending.hpp"
#include "src/room.hpp"

namespace flow::detail {

/// The start of a child under a key that another run may have: nothing goes on before the store has answered (P37).
class starting final : public pending {
public:
    starting(start_run_base& op, scope& s, continuation& c, position at) : pending(s, c, std::move(at)), op_(op) {}

    void begin()
    {
        // Alone in its group, and the last of the run in flight.
        run_.later([&r = run_, self = self_] {
            if (auto* p = r.find_flying(self)) static_cast<starting*>(p)->write();
        });
    }
    void cancel() override
    {
        if (over_) return;
        run_.deliver_cancel(branch_, at_, op_.name_, op_);
        run_.submit();
        end();
    }

private:
    void write()
    {
        if (!shielded_ && run_.is_cancel_wanted(branch_)) return cancel();
        run_.submit();
        op_.write(run_, at_, shielded_, true);
        run_.submit_and_hold([this](superseded const* why) {
            if (why && why->taken) op_.refuse(run_, at_, *why->taken);
            else if (why) return begin();
            end();
        });
    }
    void end()
    {
        over_ = true;
        land();
        run_.resume(done_);
    }

    start_run_base& op_;
    bool over_ = false;
};

bool start_run_base::start(scope& s, continuation& c)
{
    // Before the position is taken: what is refused here leaves no trace in the run.
    auto& r = s.owner();
    if (functions_)
        if (auto const why = find_workflow(r)) return fail(*why), true;
    if (auto const why = objection(r)) return fail(*why), true;
    return proceed(s, c, s.next(name_));
}

std::optional<error> start_run_base::find_workflow(run& r)
{
    if (functions_) {
        auto const known = r.hosted_by().workflow_of(*functions_);
        if (!known) return known.error();
        name_ = known->workflow;
        version_ = known->version;
        arguments_shape_ = functions_->arguments_shape();
        return std::nullopt;
    }
    if (version_ != 0) return std::nullopt;
    auto const newest = r.hosted_by().version_for(name_, 0, encoding::json, arguments_);
    if (!newest && newest.error().code() != errc::unknown_workflow) return newest.error();
    version_ = newest ? *newest : 1;  // another process may have it
    return std::nullopt;
}

std::optional<error> start_run_base::objection(run const& r) const
{
    if (arguments_.size() > r.settings().max_payload)
        return error(errc::payload_too_large, "the arguments of child \"" + printable(name_, 256) + "\" have " + std::to_string(arguments_.size()) +
                                                  " bytes; the limit is " + std::to_string(r.settings().max_payload));
    if (delay_ < duration::zero() || deadline_ < duration::zero()) return error(errc::bad_argument, "delay and deadline cannot be negative");
    if (std::max(delay_, deadline_) > duration::max() - r.now().time_since_epoch())
        return error(errc::bad_argument, "delay and deadline cannot lie beyond the calendar");
    return std::nullopt;
}

bool start_run_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::child, name_, effect::none, arguments_shape_, shape()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    id_ = child_id(r.row().id, r.segment(), at.place);
    if (what == run::found::recorded) {
        auto const text = r.intact_payload(*entries.back());
        auto const p = text ? read_payload<child_payload>(*text) : std::nullopt;
        if (!p) {
            r.hold("corrupt", "the recorded start of a child at " + at.place + " is damaged (payload)");
            return false;
        }
        if (p->refused) fail(error(from_payload(*p->refused)));
        else r.remember_child(p->run, at.place);
        id_ = p->run;
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    // By name, what is registered today says only what happens today: replay goes by the entry.
    if (!functions_)
        if (auto const why = find_workflow(r)) {
            refuse(r, at, {why->code(), "", why->message(), at.place, 0}, false);
            return true;
        }
    if (!key_.empty()) {
        auto* p = new starting(*this, s, c, std::move(at));
        live = pending_ptr(p);
        p->begin();
        return false;
    }
    bool const shielded = s.shielded();
    if (r.window_full()) {
        live = pending_ptr(new waits_for_room(*this, name_, s, c, at, [this, &r, at, shielded] {
            write(r, at, shielded, true);
            r.submit();
        }));
        return false;
    }
    write(r, at, shielded, false);
    r.submit();
    return true;
}

void start_run_base::write(run& r, position const& at, bool shielded, bool late)
{
    // What clean-up starts is not cancelled by the cancel it cleans up after.
    auto const policy = shielded && on_close_ == close_policy::cancel ? close_policy::request_cancel : on_close_;
    auto e = r.make(entry_kind::child, at);
    e.attempt = late ? 1 : 0;  // replay must know that it was not there at once
    e.name = name_;
    e.shape_in = arguments_shape_;
    e.shape_out = shape();
    e.payload = write_payload(child_payload{id_, std::string(to_string(policy)), {}});
    e.encoding = encoding::json;
    r.append(std::move(e));

    start_child effect;
    auto& n = effect.run;
    n.id = id_;
    n.parent = r.row().id;
    n.tenant = r.row().tenant;
    n.key = key_;
    n.workflow = name_;
    n.version = version_;
    n.arguments = arguments_;
    n.arguments_shape = arguments_shape_;
    n.queue = r.row().queue;
    n.tags = tags_;
    n.priority = priority_;
    n.by = "run " + to_string(r.row().id);
    n.at = r.now();
    if (delay_ > duration::zero()) n.due_at = n.at + delay_;
    if (deadline_ > duration::zero()) n.deadline_at = n.at + deadline_;
    effect.on_close = policy;
    effect.place = at.place;
    r.add(std::move(effect));
    r.remember_child(id_, at.place);
    // So that a wait for it does not ask a store in which it may not be yet.
    if (policy != close_policy::detached) r.remember_token(end_of(id_), {never, at.place});
}

void start_run_base::refuse(run& r, position const& at, run_row const& other)
{
    refuse(r, at,
           {errc::start_conflict, "",
            "key \"" + printable(key_, 200) + "\" belongs to run " + to_string(other.id) + " of workflow \"" + printable(other.workflow, 256) + "\"",
            at.place, 0},
           true);
}

void start_run_base::refuse(run& r, position const& at, error_detail const& why, bool late)
{
    auto e = r.make(entry_kind::child, at);
    e.attempt = late ? 1 : 0;
    e.name = name_;
    e.shape_in = arguments_shape_;
    e.shape_out = shape();
    e.payload = write_payload(child_payload{id_, std::string(to_string(on_close_)), to_payload(why)});
    e.encoding = encoding::json;
    r.append(std::move(e));
    r.submit();
    fail(error(why));
}

}  // namespace flow::detail
