#include "flow/resource.hpp"

#include "src/names.hpp"
#include "src/payloads.hpp"
#include "src/resources.hpp"
#include "src/room.hpp"

namespace flow::detail {

void resource_slot::hold(run& r, position at, std::string name)
{
    run_ = &r;
    at_ = std::move(at);
    name_ = std::move(name);
    r.hold_resource(*this);
}

void resource_slot::sleep(std::string snapshot, std::string damaged)
{
    written_ = std::move(snapshot);
    damaged_ = std::move(damaged);
    asleep_ = true;
}

std::optional<error> resource_slot::wake()
{
    if (!asleep_) return std::nullopt;
    auto const fail = [&](errc code, std::string const& why) {
        return error(error_detail{code, "", "resource \"" + printable(name_, 256) + "\" " + why, at_.place, 0});
    };
    if (!is_resumable()) return fail(errc::resource_lost, "lived in a process that has ended: it has no snapshot");
    if (!damaged_.empty()) return fail(errc::snapshot_unavailable, "cannot be restored: " + damaged_);
    try {
        restore(written_);
    } catch (...) {
        return fail(errc::snapshot_unavailable, "cannot be restored: " + describe(std::current_exception()).message());
    }
    asleep_ = false;
    return std::nullopt;
}

void resource_slot::need()
{
    if (is_open()) return;
    if (!asleep_ || !run_) throw error(errc::usage, "resource \"" + printable(name_, 256) + "\" is closed");
    if (run_->is_replaying()) {
        auto const why = "resource \"" + printable(name_, 256) + "\" is used where its run is replayed: use it in functions of steps alone";
        run_->hold("nondeterminism", why);
        throw error(errc::usage, why);  // nobody sees it but the body that ends by it
    }
    if (auto const why = wake()) throw *why;
}

void resource_slot::let_go() noexcept
{
    if (run_) run_->drop_resource(*this);
    run_ = nullptr;
}

bool open_resource_base::start(scope& s, continuation& c) { return proceed(s, c, s.next(name_.view())); }

bool open_resource_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::resource, name_.view(), effect::none, {}, shape_}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    if (what == run::found::recorded) {
        wake_later(r, at, *entries.front());
        if (r.now_in() != run::phase::live) return false;
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    if (r.window_full()) {
        live = pending_ptr(new waits_for_room(*this, name_.view(), s, c, at, [this, &r, at] { open(r, at, true); }));
        return false;
    }
    open(r, at, false);
    return true;
}

void open_resource_base::wake_later(run& r, position const& at, journal_entry const& opened)
{
    auto const text = r.intact_payload(opened);
    auto const first = text ? read_payload<resource_payload>(*text) : std::nullopt;
    if (!first) {
        r.hold("corrupt", "the recorded opening of resource \"" + printable(name_.view(), 256) + "\" at " + at.place + " is damaged (payload)");
        return;
    }
    if (first->refused) return fail(error(from_payload(*first->refused)));
    auto snapshot = first->snapshot.value_or(std::string());
    std::string damaged;
    if (auto const* newest = r.newest_snapshot(at)) {
        auto const later = r.intact_payload(*newest);
        auto const p = later ? read_payload<resource_payload>(*later) : std::nullopt;
        if (!p) damaged = "its snapshot is damaged";
        else if (p->refused) damaged = "no snapshot could be taken: " + p->refused->message;
        else snapshot = p->snapshot.value_or(std::string());
    }
    slot().hold(r, at, std::string(name_.view()));
    slot().sleep(std::move(snapshot), std::move(damaged));
}

void open_resource_base::open(run& r, position const& at, bool late)
{
    resource_payload p;
    try {
        slot().open();
        if (slot().is_resumable()) p.snapshot = slot().snapshot();
        if (p.snapshot && p.snapshot->size() > r.settings().max_payload)
            throw error(errc::payload_too_large, "the snapshot has " + std::to_string(p.snapshot->size()) + " bytes; the limit is " +
                                                     std::to_string(r.settings().max_payload));
        slot().hold(r, at, std::string(name_.view()));
        slot().is_written(p.snapshot.value_or(std::string()));
    } catch (...) {
        slot().close();
        auto const thrown = describe(std::current_exception());
        error_detail const why{thrown.code() == errc::payload_too_large ? errc::payload_too_large : errc::step_failed, "",
                               "resource \"" + printable(name_.view(), 256) + "\" cannot be opened: " + thrown.message(), at.place, 0};
        p.snapshot.reset();
        p.refused = to_payload(why);
        fail(error(why));
    }
    auto e = r.make(entry_kind::resource, at);
    e.attempt = late ? 1 : 0;
    e.name = name_.view();
    e.shape_out = shape_;
    e.payload = write_payload(p);
    e.encoding = encoding::json;
    r.append(std::move(e));
    r.submit();
}

bool is_snapshot(journal_entry const& e) noexcept { return e.kind == entry_kind::resource && e.shape_in == snapshot_mark; }

}  // namespace flow::detail
