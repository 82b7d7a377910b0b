#include "runtime/engine/client_core.hpp"

#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "flow/store_reader.hpp"
#include "runtime/engine/deadline.hpp"
#include "runtime/engine/delivery.hpp"
#include "src/names.hpp"

namespace flow {

void log_to_stderr(log_level level, std::string_view line)
{
    if (level == log_level::info) return;
    std::fprintf(stderr, "flow: %s: %.*s\n", level == log_level::error ? "error" : "warning", static_cast<int>(line.size()),
                 line.data());
}

namespace detail {

namespace {

void system_random(std::uint8_t* bytes, std::size_t count)
{
    while (count > 0) {
        auto const got = ::getrandom(bytes, count, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            throw error(errc::usage, "the operating system gives no random bytes");
        }
        bytes += got;
        count -= static_cast<std::size_t>(got);
    }
}

// Other processes on the same store end runs too.
constexpr std::chrono::milliseconds look_again{20};

}  // namespace

std::string system_user()
{
    if (auto const* entry = ::getpwuid(::geteuid())) return entry->pw_name;
    auto const* name = std::getenv("USER");
    return name ? name : "uid " + std::to_string(::geteuid());
}

client_core::client_core(store_ptr s, std::string who, clock const* c, random_source r, log_sink l)
    : data(std::move(s)), by(who.empty() ? system_user() : std::move(who)), clock_(c ? *c : system_clock()),
      random_(r ? std::move(r) : system_random), log_(std::move(l))
{
    if (!data) throw error(errc::usage, "an engine or client needs a store");
}

outcome<std::vector<run_row>> client_core::all_runs(run_filter which) const
{
    std::vector<run_row> all;
    for (;;) {
        auto page = data->reader().runs(which);
        if (!page) return page.error();
        std::move(page->begin(), page->end(), std::back_inserter(all));
        if (page->size() < which.limit) return all;
        which.before = all.back().id;
    }
}

uuid client_core::new_uuid4() const
{
    uuid id;
    random_(id.bytes.data(), id.bytes.size());
    return as_uuid4(id);
}

uuid client_core::new_uuid7() const
{
    auto id = new_uuid4();
    auto const ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch()).count();
    for (std::size_t i = 0; i < 6; ++i) id.bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x70);
    return id;
}

void client_core::log(log_level level, std::string const& text) const
{
    try {
        if (log_) log_(level, printable(text, 4096));
    } catch (...) {  // what a sink does is no business of the runs'
    }
}

any_run_handle client_core::start(workflow_version const& w, std::string arguments, std::string_view shape, start_options const& o)
{
    check_name(w.workflow);
    new_run n;
    n.id = run_id{new_uuid7()};
    n.workflow = w.workflow;
    n.version = w.version;
    n.tenant = o.tenant;
    n.key = o.idempotency_key;
    n.tags = o.tags;
    n.arguments = std::move(arguments);
    n.arguments_shape = shape;
    n.by = o.by.empty() ? by : std::string(o.by);
    n.why = o.why;
    n.at = clock_.now();
    n.priority = o.priority;
    n.version_given = o.version.number != 0;
    if (std::max(o.delay, o.deadline) > duration::max() - n.at.time_since_epoch())
        throw error(errc::bad_argument, "delay and deadline cannot lie beyond the calendar");
    if (o.delay < duration::zero() || o.deadline < duration::zero()) throw error(errc::bad_argument, "delay and deadline cannot be negative");
    if (o.delay > duration::zero()) n.due_at = n.at + o.delay;
    if (o.deadline > duration::zero()) n.deadline_at = n.at + o.deadline;
    if (!o.event.topic.empty()) {
        event_options told;
        told.by = n.by;
        n.first = make_event(o.event.topic, {}, o.event.json, told);
        n.first->expires_at = never;
        // For its id alone: the store puts the run's in place of it. Without a key each start makes a run of its own.
        n.first->correlation = n.key.empty() ? to_string(n.id) : std::to_string(n.tenant.size()) + ' ' + n.tenant + n.key;
        n.first->id = id_for(*n.first, o.event.id);
    }
    auto const s = insist([&] { return data->start(n); }).value();
    if (s.answer == start_answer::conflict)
        throw error(errc::start_conflict, "key \"" + printable(o.idempotency_key, 200) + "\" belongs to run " + to_string(s.id) +
                                              " of workflow \"" + s.row.workflow +
                                              "\", started with other arguments or as another workflow");
    look();
    if (s.first) check_delivered(*s.first, *n.first, s.id);
    return {shared_from_this(), s.id};
}

void client_core::attach(engine_hooks hooks)
{
    std::lock_guard const lock(guard_);
    hooks_ = std::move(hooks);
}

void client_core::detach()
{
    attach({});
    {
        std::lock_guard const lock(guard_);
        stopped_ = true;
    }
    run_ended();
}

bool client_core::is_stopped() const
{
    std::lock_guard const lock(guard_);
    return stopped_;
}

void client_core::look() const
{
    std::function<void()> f;
    {
        std::lock_guard const lock(guard_);
        f = hooks_.look;
    }
    if (f) f();
}

outcome<completion_answer> client_core::complete(flow::completion const& what) const
{
    std::function<outcome<completion_answer>(flow::completion const&)> f;
    {
        std::lock_guard const lock(guard_);
        f = hooks_.complete;
    }
    return insist([&] { return f ? f(what) : data->complete(what); });
}

void client_core::run_ended()
{
    {
        std::lock_guard const lock(guard_);
        ++ends_;
    }
    ended_.notify_all();
}

namespace {
bool may_pass(errc code) { return code == errc::store_busy || code == errc::store_unavailable || code == errc::store_full; }
}  // namespace

std::optional<client_core::ended> client_core::wait_for_end(std::span<run_id const> any_of, std::chrono::milliseconds limit)
{
    auto const end = ends_after(limit);
    for (;;) {
        std::function<void()> drive;
        std::uint64_t seen = 0;
        {
            std::lock_guard const lock(guard_);
            drive = hooks_.drive;
            seen = ends_;
        }
        outcome<void> trouble;
        for (std::size_t i = 0; i < any_of.size(); ++i) {
            auto found = data->run(any_of[i]);
            if (found && !*found) throw error(errc::unknown_run, "no run " + to_string(any_of[i]));
            if (found && is_terminal((*found)->status.run)) return ended{i, **std::move(found)};
            if (!found) trouble = found.error();
        }
        auto const left = end - std::chrono::steady_clock::now();
        // Trouble that may pass is waited out like the runs themselves.
        if (left <= left.zero() || is_stopped() || any_of.empty()) return trouble.value(), std::nullopt;
        if (!trouble && !may_pass(trouble.error().code())) trouble.value();
        if (drive) drive();
        auto const nap = std::min<std::chrono::steady_clock::duration>(left, drive ? std::chrono::milliseconds{1} : look_again);
        std::unique_lock lock(guard_);
        ended_.wait_for(lock, nap, [&] { return ends_ != seen; });
    }
}

}  // namespace detail
}  // namespace flow
