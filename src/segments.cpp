// checkpoint, continue_as_new, state: segments of a run (P20, P21).
#include <utility>

#include "flow/checkpoint.hpp"
#include "src/pending.hpp"
#include "src/version_policy.hpp"

namespace flow::detail {

// ---- the run ---------------------------------------------------------------------------------------------------------------

void run::begin_segment()
{
    auto const* first = history_.segment_start();
    segment_ = first ? first->segment : 0;
    segment_start_.reset();
    if (first) segment_start_ = *first;
    for (auto const& e : history_.all()) {
        if (e.kind == entry_kind::patch) patches_[e.name] = e.payload == "true";
        if (e.kind == entry_kind::void_ && e.name == by_version_policy) patches_.clear();  // other code began anew
    }
}

std::optional<std::string_view> run::segment_state(encoding& how)
{
    if (!segment_start_ || segment_start_->kind != entry_kind::checkpoint) {
        how = encoding::none;
        return std::string_view{};
    }
    how = segment_start_->encoding;
    return intact_payload(*segment_start_);
}

journal_entry run::segment_entry(entry_kind kind, std::string_view called, std::string payload, std::string_view shape)
{
    auto e = make(kind, {});
    e.name = called;
    e.encoding = encoding::json;
    e.payload = std::move(payload);
    (kind == entry_kind::checkpoint ? e.shape_out : e.shape_in) = shape;
    ++segment_;
    return e;
}

void run::close_segment(std::string state, std::string_view shape)
{
    auto e = segment_entry(entry_kind::checkpoint, "checkpoint", std::move(state), shape);
    segment_start_ = e;
    append(std::move(e));
    segment_start_->hash = open_.entries.back().hash;
    submit();
    // The frame that awaits this is taken down when nothing of it is on the stack any more.
    later([this] { start_over(); });
}

void run::start_over()
{
    if (phase_ != phase::live || stopping_) return;
    body_.reset();
    body_done_ = false;
    root_branch_ = {};
    root_ = std::make_unique<scope>(*this, root_branch_);
    history_ = {};
    known_waitpoints_.clear();
    std::erase_if(tokens_, [this](auto const& t) { return t.second.after < durable_; });  // the others are not in the store yet
    keyed_.clear();
    children_.clear();
    patches_.clear();
    make_body();
    if (body_) begin_body();
}

void run::continue_anew(std::string arguments, std::string_view shape, std::uint32_t version, answered then)
{
    append(segment_entry(entry_kind::continued, row_.workflow, std::move(arguments), shape));
    if (row_.status.execution == execution_status::executing_with_waitpoints) change(status_event::unblock, {}, "Run was continued.");
    change(status_event::requeue, {}, "Run begins anew with new arguments and version " + std::to_string(version) + ".");
    open_.change->release = true;
    open_.change->version = version;
    phase_ = phase::leaving;
    submit_and_hold([this, then = std::move(then)](struct superseded const* why) {
        if (why) --segment_;
        then(why);
    });
}

// ---- the operations ----------------------------------------------------------------------------------------------------------

namespace {

/// The end of a segment, while it waits for room in the journal, or its group for an answer.
class closing final : public pending {
public:
    using action = std::function<void(closing&)>;
    closing(journaled_operation& op, std::string_view called, scope& s, continuation& c, position at, action close)
        : pending(s, c, std::move(at)), op_(op), called_(called), close_(std::move(close))
    {
    }
    void begin()
    {
        if (run_.window_full()) run_.when_durable(*this);
        else close_(*this);
    }
    void durable() override
    {
        if (!over_) close_(*this);
    }
    void cancel() override
    {
        if (std::exchange(over_, true)) return;
        land();
        run_.deliver_cancel(branch_, at_, called_, op_);
        run_.submit();
        run_.resume(done_);
    }
    run& of() noexcept { return run_; }

private:
    journaled_operation& op_;
    std::string_view called_;
    action close_;
    bool over_ = false;
};

bool refuse(journaled_operation& op, std::string text)
{
    op.fail(error(errc::usage, std::move(text)));
    return true;
}

}  // namespace

/// True: the segment is to be closed now. False: `start` returns what `failed` says.
bool segment_end::look(scope& s, continuation& c, position const& at, entry_kind kind, std::string_view called)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {kind, called, effect::none, {}, shape_}, *this, entries);
    if (what != run::found::nothing || r.is_more_recorded() || !r.go_live()) return false;
    if (payload_.size() > r.settings().max_payload) {
        fail(error(errc::payload_too_large, std::string(called) + " was given " + std::to_string(payload_.size()) + " bytes; the limit is " +
                                                std::to_string(r.settings().max_payload)));
        return false;
    }
    return true;
}

bool checkpoint_operation::start(scope& s, continuation& c)
{
    if (!s.is_top()) return refuse(*this, "checkpoint starts the workflow's own body over: await it there, not in a branch or a sub-workflow");
    return proceed(s, c, s.next("checkpoint"));
}

bool checkpoint_operation::proceed(scope& s, continuation& c, position at)
{
    if (!look(s, c, at, entry_kind::checkpoint, "checkpoint")) return failed() != nullptr;
    auto* p = new closing(*this, "checkpoint", s, c, std::move(at), [this](closing& me) { me.of().close_segment(payload_, shape_); });
    live = pending_ptr(p);
    p->begin();
    return false;
}

bool continue_operation::start(scope& s, continuation& c)
{
    if (s.in_branch().parent) return refuse(*this, "continue_as_new ends the whole body: await it where no branch is open");
    return proceed(s, c, s.next("continue_as_new"));
}

namespace {

void continue_now(closing& me, std::string const& arguments, std::string_view shape, std::uint32_t version)
{
    auto& r = me.of();
    auto const found = r.hosted_by().version_for(r.row().workflow, version, encoding::json, arguments);
    if (!found) return r.hold("undecodable", "continue_as_new: " + found.error().message());
    r.continue_anew(arguments, shape, *found, [&r, arguments, shape, version, self = me.self()](struct superseded const* why) {
        // There is mail: it is taken first. Unless it takes this operation away, it is tried again.
        if (why) r.after_mail([&r, arguments, shape, version, self] {
            if (auto* again = r.find_flying(self)) continue_now(static_cast<closing&>(*again), arguments, shape, version);
        });
    });
}

}  // namespace

bool continue_operation::proceed(scope& s, continuation& c, position at)
{
    if (!look(s, c, at, entry_kind::continued, "continue_as_new")) return failed() != nullptr;
    auto* p = new closing(*this, "continue_as_new", s, c, std::move(at),
                          [this](closing& me) { continue_now(me, payload_, shape_, version_); });
    live = pending_ptr(p);
    p->begin();
    return false;
}

bool state_base::read(scope& s, std::string_view shape, outcome<void> (*into)(void*, encoding, std::string_view), void* value)
{
    auto& r = s.owner();
    auto how = encoding::none;
    auto const text = r.segment_state(how);
    if (!text) {
        r.hold("corrupt", "the state of the newest checkpoint is damaged (payload). Restore a back-up of the store, then: flow resume " +
                              to_string(r.row().id));
        return false;
    }
    if (how == encoding::none) return true;
    auto const ok = into(value, how, *text);
    if (!ok)
        r.hold("undecodable", "the state of the newest checkpoint no longer fits its type (shape now " + std::string(shape) + "): " +
                                  ok.error().message() + ". Make the type read it again, then: flow resume " + to_string(r.row().id));
    return ok.has_value();
}

}  // namespace flow::detail
