// What a run writes: entries gather in a group, status changes with them; and the registry of what is in flight.
#include "src/run.hpp"

#include <algorithm>

#include "src/pending.hpp"
#include "src/plans.hpp"

namespace flow::detail {

journal_entry run::make(entry_kind k, position const& at) const
{
    journal_entry e;
    e.kind = k;
    e.path = at.path;
    e.place = at.place;
    return e;
}

seq_no run::append(journal_entry e)
{
    last_ = next(last_);
    e.seq = last_;
    e.epoch = row_.epoch;
    e.segment = segment_;
    e.at = now();
    e.in_blob = e.payload.size() > settings_.blob_threshold;
    seal(e, row_.id);
    if (first_outcome_ == seq_no::none && is_progress(e)) first_outcome_ = last_;
    open_bytes_ += e.payload.size() + 200;  // a row's other columns, roughly
    open_.entries.push_back(std::move(e));
    return last_;
}

void run::change(status_event on, wait_reason const& reason, std::string why)
{
    auto const to = next(row_.status, on, status_actor::holder);
    if (!to) {
        host_.warn("status: " + std::string(to_string(row_.status.execution)) + "/" +
                   std::string(to_string(row_.status.run)) + " does not allow " + std::string(to_string(on)));
        return;
    }
    auto e = snapshot_entry(*to, on, row_.snapshot, to_json(reason), std::move(why), {}, now());
    row_.snapshot = append(std::move(e));
    row_.status = *to;
    row_.reason = to_json(reason);
    open_.change = run_change{*to, row_.terminal_reason, row_.reason, false};
}

void run::submit()
{
    if (open_.entries.empty()) return;
    if (!resources_.empty()) keep_up_resources();
    group g;
    std::swap(g, open_);
    open_.run = g.run;
    open_.num = g.num;
    g.epoch = row_.epoch;
    g.after = seq_no{static_cast<std::int64_t>(g.entries.front().seq) - 1};
    in_flight_.emplace_back(last_, open_bytes_);
    bytes_in_flight_ += std::exchange(open_bytes_, 0);
    if (!answering_) before_ = stands();
    host_.write(std::move(g));
}

void run::submit_and_hold(answered then)
{
    answering_ = std::move(then);
    submit();
}

bool run::window_full() const noexcept
{
    return static_cast<std::int64_t>(last_) - static_cast<std::int64_t>(durable_) >=
               static_cast<std::int64_t>(settings_.window_entries) ||
           bytes_in_flight_ >= settings_.window_bytes;
}

void run::when_durable(pending& p) { want_durable_.push_back(&p); }

void run::block(pending& p, wait_reason const& reason, parting leaves)
{
    standing_.push_back({&p, reason, leaves});
    settle_status();
}

bool run::is_busy() const noexcept { return pendings_ > standing_.size() || !parked_.empty() || starting_branches_ > 0; }

void run::settle_status()
{
    if (standing_.empty() || is_busy() || phase_ != phase::live || dry_) return;
    // A run taken over while it waited stands on what it waited for then; a snapshot only if that is another thing now.
    auto const& reason = standing_.front().reason;
    bool const waits_already = row_.status.execution == execution_status::executing_with_waitpoints;
    if (row_.status.execution == execution_status::executing || (waits_already && parse_wait_reason(row_.reason).id != reason.id))
        change(status_event::block, reason, "Run was blocked by a waitpoint.");
}

void run::unblock(pending& p, std::string why)
{
    std::erase_if(standing_, [&](auto const& s) { return s.on == &p; });
    if (row_.status.execution == execution_status::executing_with_waitpoints)
        change(status_event::unblock, {}, std::move(why));
}

void run::resume(continuation& c)
{
    if (!stopping_ && phase_ == phase::live) c.done();
}

ticket run::enter_flight(pending& p)
{
    ++pendings_;
    return second_ticket(p);
}

ticket run::second_ticket(pending& p)
{
    auto const t = ticket{next_ticket_++};
    flying_[t] = &p;
    return t;
}

void run::drop_ticket(ticket t) noexcept
{
    if (t == ticket::none) return;
    host_.disarm(t);
    flying_.erase(t);
}

void run::leave_flight(pending& p) noexcept
{
    for (auto i = flying_.begin(); i != flying_.end();) {
        if (i->second == &p) {
            host_.disarm(i->first);
            i = flying_.erase(i);
        } else {
            ++i;
        }
    }
    --pendings_;
    std::erase_if(standing_, [&](auto const& s) { return s.on == &p; });
    std::erase_if(waiting_, [&](auto const& w) { return w.second == &p; });
    std::replace(want_durable_.begin(), want_durable_.end(), &p, static_cast<pending*>(nullptr));
}

void run::wait_for(waitpoint_id w, pending& p)
{
    no_longer_waits(w, p);
    waiting_.emplace(w, &p);
}

void run::no_longer_waits(waitpoint_id w, pending& p) noexcept
{
    auto const [from, to] = waiting_.equal_range(w);
    for (auto i = from; i != to; ++i)
        if (i->second == &p) {
            waiting_.erase(i);
            return;
        }
}

// One edge serves all branches that wait for a waitpoint: the last of them takes it away (modelled in docs/decisions).
void run::take(waitpoint_id w)
{
    if (waiting_.count(w) <= 1) add(take_waitpoint{w, open_.entries.empty() ? 0 : open_.entries.size() - 1});
}
void run::leave_open(waitpoint_id w)
{
    if (waiting_.count(w) <= 1) add(leave_waitpoint{w});
}

waitpoint_row const* run::known(waitpoint_id w) const
{
    for (auto const& row : known_waitpoints_)
        if (row.id == w) return &row;
    return nullptr;
}

std::optional<run::made_token> run::token_of(waitpoint_id w) const
{
    auto const at = tokens_.find(w);
    return at == tokens_.end() ? std::nullopt : std::optional(at->second);
}

run::keyed_token const* run::find_keyed(std::string_view key) const
{
    auto const at = key.empty() ? keyed_.end() : keyed_.find(key);
    return at == keyed_.end() ? nullptr : &at->second;
}

uuid run::draw_uuid()
{
    uuid id;
    host_.fill_random(id.bytes);
    return as_uuid4(id);
}

bool run::go_live()
{
    if (dry_) would_go_on_ = true;
    return !dry_ && !stopping_ && phase_ == phase::live && wake_resources();
}

}  // namespace flow::detail
